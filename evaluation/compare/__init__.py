"""Comparing: what other strategies would have done with recorded sessions.

Facts come from the recording and from lives under the other strategy; values come from
the estimator alone, and only where the recording supports them.
"""
