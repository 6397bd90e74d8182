"""The demo: a recorded game is played through a throw-away instance.

It shows what came of it, and the small world `greenhouse` makes sessions to learn from.
"""
