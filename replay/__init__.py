"""Running a recording again: by the recorded strategy, byte for byte, or by another.

It reads, decides and reports, and holds nothing that could act.
"""
