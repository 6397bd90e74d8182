"""The read models in PostgreSQL: tables, versions, positions, queries.

Only these modules speak SQL.
"""
