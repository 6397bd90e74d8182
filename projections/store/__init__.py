"""The read models in PostgreSQL: tables, versions, positions, queries.

SQL is written in these modules alone.
"""
