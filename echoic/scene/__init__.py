"""Scenes: where characters are and what they do, as their logs tell it."""
