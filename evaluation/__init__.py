"""Judging strategies by what was recorded: off-policy evaluation, comparison, tuning.

Nothing here acts or writes to a log; `ope` knows nothing of Echoic's messages.
"""
