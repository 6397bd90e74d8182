"""Explanations: why a decision was made, and what would have changed it.

Everything is read from the decision's own record, or decided again at its logged state.
"""
