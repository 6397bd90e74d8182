"""The running instance: servers, their supervision, worker and projector processes.

This is the composition root, the only place where adapters and drivers meet.
"""
