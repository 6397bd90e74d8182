"""Strategies: each maps a decision's context to a probability over arms.

To write one: a frozen class with a name, a version, its settings and `decide`, a pure
function of the context. Give it a line in `registry.STRATEGIES`.
"""
