"""The former place of a strategy's arms; goes with 0.3: import `echoic.api`."""

from schemas.messages.arms import SILENT, heuristic_arm
from schemas.messages.decisions import Gate

__all__ = ["SILENT", "Gate", "heuristic_arm"]
