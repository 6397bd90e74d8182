"""Checking a model: how well it answers the prompts of characters, without an instance."""
