"""Folds of characters: their bodies and what they do."""
