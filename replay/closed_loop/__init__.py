"""A strategy run with its own consequences over a recorded session.

Inputs come from the recording, models answer by the hash of their request, and what the
strategy does changes what it meets later.
"""
