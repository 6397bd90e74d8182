"""A mind in memory for a world of one's own: no broker, no clock, no process.

The world moves the time; what was lived comes back as a session's file.
"""
