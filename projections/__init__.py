"""What is known: pure folds of the log, and the read models they fill in PostgreSQL."""
