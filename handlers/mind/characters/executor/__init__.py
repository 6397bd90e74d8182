"""The executor: a model plans, and the queue works that off."""
