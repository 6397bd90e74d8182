"""A mind in memory for simulated worlds: no broker, no clock, no process.

The world moves the time; the session can be saved as a file.
"""
