"""Modes and tiers: which models a character asks, and how, as pack or strategy says."""

from handlers.mind.context import TurnContext
from handlers.mind.flows.consult import strategy_in_force
from handlers.mind.strategies.layers import Layers
from projections.folds.characters import body
from schemas.packs.autonomous import UNREMEMBERING, Autonomous, Tier
from schemas.packs.characters import CharacterMind, Mode
from schemas.values.by_identity import by_identity


def in_force(turn: TurnContext) -> CharacterMind | None:
    """Return what makes the agent a character, in its mode or tier; None if it is none."""
    mind = body.mind_of(turn.packs)
    return under(turn, mind) if mind is not None else None


def under(turn: TurnContext, mind: CharacterMind) -> CharacterMind:
    """Return a character's mind in the mode or tier of its strategy, else as its pack says."""
    if mind.autonomous is not None:
        return _on_tier(turn, mind, mind.autonomous)
    if mind.talker is None and mind.executor is None:
        return mind
    strategy = strategy_in_force(turn)
    wanted = strategy.mode if isinstance(strategy, Layers) else None
    if turn.settings.characters.falls_back and turn.settings.model is None:
        wanted = "scripted"
    if wanted == "single" and not mind.has_both:
        # One model it is in any case.
        wanted = "split"
    return mind if wanted in (None, mind.mode) else _changed(mind, wanted)


def _on_tier(turn: TurnContext, mind: CharacterMind, how: Autonomous) -> CharacterMind:
    strategy = strategy_in_force(turn)
    wanted = strategy.tier if isinstance(strategy, Layers) else None
    if wanted is None or wanted == how.tier:
        return mind
    # What its pack does not let it remember is in no state.
    return _moved(mind, wanted if how.remembers else min(wanted, UNREMEMBERING))


@by_identity(256)
def _changed(mind: CharacterMind, mode: Mode) -> CharacterMind:
    return mind.model_copy(update={"mode": mode})


@by_identity(256)
def _moved(mind: CharacterMind, tier: Tier) -> CharacterMind:
    assert mind.autonomous is not None, "only an autonomous one has a tier"
    how = mind.autonomous.model_copy(update={"tier": tier})
    return mind.model_copy(update={"autonomous": how})
