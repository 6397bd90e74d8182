"""The public API: all that authors of strategies and worlds import of Echoic.

A name is removed only after a version that announces it, and changes its meaning only as
`docs/strategies.md` and `docs/worlds.md` say. Any version may move or rename every other
module.
"""

from echoic.client.autonomous import (
    ActionContext,
    AIDecisionConnector,
    MemoryStore,
    NoChoiceError,
    SkillLibrary,
)
from echoic.client.observations import estimate, observations
from echoic.packs.load import BrokenPackError
from echoic.packs.load import load as load_pack
from echoic.world.world import Mind, Reaction
from evaluation.ope.results import Estimate
from evaluation.ope.rows import Observation
from handlers.mind.strategies.awaiting import (
    AwaitingError,
    AwaitingStrategy,
    LLMRequest,
    awaiting,
)
from replay.recording.outcomes import OutcomeSettings
from schemas.messages.arms import SILENT, Action, heuristic_arm
from schemas.messages.asks import ModelAsked
from schemas.messages.decisions import (
    Draw,
    Excluded,
    Exploration,
    Factors,
    Gate,
    Wording,
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
    Voiced,
)
from schemas.state.evidence import NEVER, Recent
from schemas.values.reasons import Origin, Path, ResponseType, Silence

__all__ = [
    "NEVER",
    "SILENT",
    "AIDecisionConnector",
    "Action",
    "ActionContext",
    "AwaitingError",
    "AwaitingStrategy",
    "BrokenPackError",
    "DecisionContext",
    "DecisionResult",
    "Draw",
    "Estimate",
    "Excluded",
    "Exploration",
    "Factors",
    "Gate",
    "HeuristicCandidate",
    "LLMRequest",
    "MemoryStore",
    "Mind",
    "ModelAsked",
    "NoChoiceError",
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
    "SkillLibrary",
    "Strategy",
    "Voiced",
    "Wording",
    "awaiting",
    "estimate",
    "heuristic_arm",
    "load_pack",
    "observations",
]
