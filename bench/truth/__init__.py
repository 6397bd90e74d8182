"""Ground truth: what the estimator says of a strategy, beside what the strategy does.

`python -m bench.truth` plays a real game under one strategy that explores, estimates
another from those recordings alone, then plays that one for real.
"""
