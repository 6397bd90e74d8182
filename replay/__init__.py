"""Saying it again: the same mind over a recorded session, compared word for word.

Nothing in here can act: it reads, decides and reports.
"""
