"""Compare strategies on recorded sessions: behaviour, flips, values and a verdict.

Facts come from the recording and from closed-loop runs of the other strategy; values come
from the estimator alone, and only where the recording supports them.
"""
