"""Projections of the log: pure folds, and the read models they fill in PostgreSQL.

The mind's own state is a fold too; the tables can be dropped and rebuilt.
"""
