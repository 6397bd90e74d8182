"""The demo: a recorded game is played through a throw-away instance.

What came of it is told, and the small world `greenhouse` makes sessions to learn from.
"""
