"""A recording and what can be read from it: sessions, decisions, outcomes, settings.

It is a session's file, or a stretch of the log.
"""
