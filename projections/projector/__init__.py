"""From the log to the tables: follow, fold, write.

The tables can be rebuilt from the first message and verified against the log.
"""
