"""Why a decision came out as it did, and what would have changed it.

Everything is read from the decision's own record, or decided again at its logged state.
"""
