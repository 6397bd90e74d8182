"""The live driver of the mind: takes inputs from the log and appends their answers.

It owns some partitions. Their state is a fold of the log; a write that was not acknowledged
counts as not made until the log shows otherwise.
"""
