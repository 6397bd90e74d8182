"""Retune settings: fold the same evidence under others, score them, and search for better.
The recorded facts are never changed, and nothing is written anywhere.
"""
