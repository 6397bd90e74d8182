"""The evidence of recordings: facts that confidence follows from, gathered and checked.

They can be folded again under other settings.
"""
