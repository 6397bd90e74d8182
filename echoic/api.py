"""What authors of strategies and of worlds import, and nothing else of Echoic.

These names stay: one that goes is announced a version before, and what it means changes
only in the way that `docs/strategies.md` and `docs/worlds.md` say.
"""

from echoic.observing import observations
from echoic.packs import BrokenPackError
from echoic.packs import load as load_pack
from echoic.world import Mind, Reaction
from handlers.strategies.awaiting import LLMRequest, awaiting
from replay.estimation.estimate import estimate
from replay.estimation.results import Estimate
from replay.estimation.rows import Observation
from replay.outcomes import OutcomeSettings
from schemas.asks import ModelAsked
from schemas.context import (
    DecisionContext,
    DecisionResult,
    HeuristicCandidate,
    Odds,
    Question,
    Strategy,
)
from schemas.decisions import SILENT, Gate
from schemas.sensing import Sensed

__all__ = [
    "SILENT",
    "BrokenPackError",
    "DecisionContext",
    "DecisionResult",
    "Estimate",
    "Gate",
    "HeuristicCandidate",
    "LLMRequest",
    "Mind",
    "ModelAsked",
    "Observation",
    "Odds",
    "OutcomeSettings",
    "Question",
    "Reaction",
    "Sensed",
    "Strategy",
    "awaiting",
    "estimate",
    "load_pack",
    "observations",
]
