"""Autonomous characters: they decide by themselves what to do next."""
