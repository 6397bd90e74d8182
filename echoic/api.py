"""What authors of strategies and of worlds import, and nothing else of Echoic.

These names stay: one that goes is announced a version before, and what it means changes
only in the way that `docs/strategies.md` and `docs/worlds.md` say.
"""

from echoic.client.observations import observations
from echoic.packs.load import BrokenPackError
from echoic.packs.load import load as load_pack
from echoic.world.world import Mind, Reaction
from evaluation.ope.estimate import estimate
from evaluation.ope.results import Estimate
from evaluation.ope.rows import Observation
from handlers.mind.strategies.awaiting import LLMRequest, awaiting
from replay.recording.outcomes import OutcomeSettings
from schemas.messages.asks import ModelAsked
from schemas.messages.decisions import SILENT, Gate
from schemas.messages.sensing import Sensed
from schemas.ports.decision_context import (
    DecisionContext,
    DecisionResult,
    HeuristicCandidate,
    Odds,
    Question,
    Strategy,
)

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
