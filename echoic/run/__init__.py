"""What runs an instance: servers, their supervision, worker and projector processes.

It is the composition root: here alone do adapters and drivers meet.
"""
