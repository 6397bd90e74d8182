"""The former place of what a strategy is given; goes with 0.3: import `echoic.api`."""

from schemas.ports.decision_context import (
    DecisionContext,
    DecisionResult,
    HeuristicCandidate,
    Odds,
    Question,
    Strategy,
)

__all__ = [
    "DecisionContext",
    "DecisionResult",
    "HeuristicCandidate",
    "Odds",
    "Question",
    "Strategy",
]
