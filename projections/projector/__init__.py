"""From the log to the tables: follow, fold, write; rebuild and verify."""
