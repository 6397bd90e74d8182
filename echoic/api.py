"""What authors of strategies and of worlds import, and nothing else of Echoic.

These names stay: one that goes is announced a version before, and what it means changes
only in the way that `docs/strategies.md` and `docs/worlds.md` say. Every other module may
be moved or renamed by any version.
"""

from echoic.client.observations import observations
from echoic.packs.load import BrokenPackError
from echoic.packs.load import load as load_pack
from echoic.world.world import Mind, Reaction
from evaluation.ope.estimate import estimate
from evaluation.ope.results import Estimate
from evaluation.ope.rows import Observation
from handlers.mind.strategies.awaiting import (
    AwaitingError,
    AwaitingStrategy,
    LLMRequest,
    awaiting,
)
from replay.recording.outcomes import OutcomeSettings
from schemas.messages.asks import ModelAsked
from schemas.messages.controls import Action
from schemas.messages.decisions import (
    SILENT,
    Excluded,
    Exploration,
    Factors,
    Gate,
    heuristic_arm,
)
from schemas.messages.sensing import Sensed
from schemas.ports.decision_context import (
    DecisionContext,
    DecisionResult,
    HeuristicCandidate,
    Odds,
    Question,
    Scored,
    Strategy,
)
from schemas.state.recency import NEVER, Recent
from schemas.values.reasons import Origin, Path, ResponseType, Silence

__all__ = [
    "NEVER",
    "SILENT",
    "Action",
    "AwaitingError",
    "AwaitingStrategy",
    "BrokenPackError",
    "DecisionContext",
    "DecisionResult",
    "Estimate",
    "Excluded",
    "Exploration",
    "Factors",
    "Gate",
    "HeuristicCandidate",
    "LLMRequest",
    "Mind",
    "ModelAsked",
    "Observation",
    "Odds",
    "Origin",
    "OutcomeSettings",
    "Path",
    "Question",
    "Reaction",
    "Recent",
    "ResponseType",
    "Scored",
    "Sensed",
    "Silence",
    "Strategy",
    "awaiting",
    "estimate",
    "heuristic_arm",
    "load_pack",
    "observations",
]
