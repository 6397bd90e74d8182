"""Pure: which rows of the read models one group changes.

Rows derive from the group and the states before and after it alone. So the tables are a
fold of the log, as the state is, and can be rebuilt at any time.
"""
