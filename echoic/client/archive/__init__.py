"""The archive of a log: finished sessions, and what else may leave it, kept elsewhere."""
