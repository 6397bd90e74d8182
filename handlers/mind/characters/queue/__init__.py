"""The queue: a plan is worked off without a model."""
