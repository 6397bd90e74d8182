"""The former place of a strategy's arms; goes with 0.3: import `echoic.api`."""

from schemas.messages.decisions import SILENT, Gate, heuristic_arm

__all__ = ["SILENT", "Gate", "heuristic_arm"]
