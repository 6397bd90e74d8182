"""The driver of the read models: follow the log, fold it, write the tables.

The tables can be rebuilt from the first message and verified against the log.
"""
