"""Replay of a recording: by the recorded strategy, byte for byte, or by another.

It reads, decides and reports, and holds no object that could act on the world.
"""
