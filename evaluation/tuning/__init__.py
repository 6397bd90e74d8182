"""Retuning: what would be believed, on the same evidence, under other settings.

The recorded facts are never changed, and nothing is written anywhere.
"""
