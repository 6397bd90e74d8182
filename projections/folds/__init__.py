"""Pure folds: each makes the next state of one part of an agent from a message.

The same folds serve the mind that decides, the replayer that decides again and the
projector that fills the tables.
"""
