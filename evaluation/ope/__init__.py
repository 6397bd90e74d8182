"""How good a strategy would have been, told from decisions that another one made.

Whatever the log does not say is not made up; it is bounded, or refused.
"""
