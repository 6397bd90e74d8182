"""Closed loop: a strategy is run over a recorded session with its own consequences.

Inputs come from the recording, models answer by the hash of their request, and what the
strategy does changes the state of its later decisions.
"""
