"""A recording and what can be read from it: sessions, decisions, outcomes, settings."""
