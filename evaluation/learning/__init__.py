"""Seeing what was learnt: each move of confidence with its cause, and what it was worth.

Everything here reads recordings, and nothing that it finds goes back into the log.
"""
