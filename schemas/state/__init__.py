"""The state of an agent and of a partition, as plain immutable values.

Their field names are the format of checkpoints and session files.
"""
