"""Aims: what a character is after, until it is given up."""

from collections.abc import Mapping
from datetime import datetime, timedelta

from msgspec.structs import replace

from handlers.mind.context import TurnContext
from handlers.mind.flows.infer import infer
from schemas.messages.characters import Aim, AimsSet, Horizon
from schemas.messages.notes import ControlRefused
from schemas.values.unicode_text import quoted


def further(
    before: tuple[Aim, ...],
    wanted: tuple[Aim, ...],
    horizons: Mapping[Horizon, float],
    now: datetime,
) -> tuple[Aim, ...]:
    """Return what a character is after once it wants more; `horizons` are in days."""
    found = list(before)
    for each in wanted:
        if any(each.is_like(known) for known in found):
            continue
        days = horizons.get(each.kind)
        until = now + timedelta(days=days) if days is not None else each.until
        found.append(replace(each, until=until))
    return tuple(found)


def give_up(turn: TurnContext) -> None:
    """Give up what the character is after for too long, and say so."""
    before = turn.state.character.aims
    over = [each for each in before if each.until and each.until <= turn.now]
    if not over:
        return
    kept = tuple(each for each in before if each not in over)
    names = ", ".join(f"{each.kind} {quoted(each.text)}" for each in over)
    after = f"given up, its time is over: {names}"[:500]
    refused = infer(turn, AimsSet(aims=kept), "rule", after=after)
    if isinstance(refused, ControlRefused):
        turn.emit(refused)
