"""Folds of the executive's part of an agent's state."""
