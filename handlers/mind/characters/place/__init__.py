"""A place: it owns the conversations there."""
