"""How often an interval holds the truth, and how often a verdict is wrong.

`python -m bench.estimates` says it of many worlds of known truth.
"""
