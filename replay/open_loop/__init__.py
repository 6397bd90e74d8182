"""Open loop: other strategies are asked at the logged state of each decision.

Their answers do not change the state of the next decision.
"""
