"""What is known: pure folds of the log, and the read models they fill in PostgreSQL.

The mind's own state is one of the folds; the tables can be dropped and made again.
"""
