"""What reacts: the pure mind and its stages, the worker that runs it, effects, services."""
