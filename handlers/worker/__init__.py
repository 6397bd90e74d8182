"""The live driver of the mind: takes inputs from the log and appends their answers.

It owns some partitions. Their state is a fold of the log; what the worker has not seen
acknowledged did not happen.
"""
