"""Modes: which models a character asks, as its pack or its strategy says."""

from handlers.mind.context import TurnContext
from handlers.mind.flows.consult import strategy_in_force
from handlers.mind.strategies.layers import Layers
from projections.folds.characters import body
from schemas.packs.characters import CharacterMind, Mode
from schemas.values.by_identity import by_identity


def in_force(turn: TurnContext) -> CharacterMind | None:
    """Return what makes the agent a character, in its mode; None if it is none."""
    mind = body.mind_of(turn.packs)
    return under(turn, mind) if mind is not None else None


def under(turn: TurnContext, mind: CharacterMind) -> CharacterMind:
    """Return a character's mind in the mode that its strategy names, else as its pack says."""
    if mind.talker is None and mind.executor is None:
        return mind
    strategy = strategy_in_force(turn)
    wanted = strategy.mode if isinstance(strategy, Layers) else None
    if wanted == "single" and not mind.has_both:
        # One model it is in any case.
        wanted = "split"
    return mind if wanted in (None, mind.mode) else _changed(mind, wanted)


@by_identity(256)
def _changed(mind: CharacterMind, mode: Mode) -> CharacterMind:
    return mind.model_copy(update={"mode": mode})
