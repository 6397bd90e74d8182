"""Pure: which rows of the read models one group changes, going by the folds alone.

Whatever a row says, the state before and after the group says, or the group itself. So
the tables are a fold of the log as the state is, and can be made again at any time.
"""
