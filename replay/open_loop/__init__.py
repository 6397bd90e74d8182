"""Other strategies asked at the logged state: what they would have done at each decision.

Nothing they say changes the next decision's state.
"""
