"""A strategy run with its own consequences over a recorded session."""
