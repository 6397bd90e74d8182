"""Cadence: when a layer's model is asked, by what the character is like, needs and did."""

from collections.abc import Mapping
from datetime import datetime, timedelta
from typing import Literal

from handlers.mind.characters import reflexes
from projections.folds.characters import plans
from schemas.packs import conditions
from schemas.packs.layers import Executor, Talker
from schemas.state.character import Character
from schemas.values.exact_math import round6

_EXTRAVERSION = 0.5
"""Of whoever the world does not tell how sociable they are."""


def talker_interval(talker: Talker, fields: Mapping[str, object]) -> tuple[float, str]:
    """Return after how many seconds the talker is asked again, and by which rule."""
    if fields.get(talker.conversation) is True:
        return talker.conversation_s, "in conversation"
    social = _number(fields, talker.social)
    if social is not None and social < talker.lonely_below:
        return talker.lonely_s, "lonely"
    return by_extraversion(talker, fields)


def by_extraversion(talker: Talker, fields: Mapping[str, object]) -> tuple[float, str]:
    """Return the same for whoever is in no conversation, and not lonely."""
    sociable = extraversion(talker, fields)
    if sociable > talker.high_extraversion:
        return talker.extrovert_s, "extrovert"
    if sociable < talker.low_extraversion:
        return talker.introvert_s, "introvert"
    return talker.moderate_s, "moderate"


def extraversion(talker: Talker, fields: Mapping[str, object]) -> float:
    """Return how sociable the character is."""
    told = _number(fields, talker.extraversion)
    return _EXTRAVERSION if told is None else told


def talker_priority(talker: Talker, rule: str) -> float:
    """Return how urgent a question is: in conversation, for company, else."""
    if rule == "in conversation":
        return talker.conversation_priority
    return 5.0 if rule in ("lonely", "extrovert") else 3.0


_Occasion = Literal["goals_changed", "task_complete", "idle", "periodic"]
"""Why an executor is asked."""


def executor_occasion(
    layer: Executor, character: Character, fields: Mapping[str, object], at: datetime
) -> tuple[_Occasion | None, str]:
    """Return why an executor is asked at a time, and that in words.

    The first rule that fits counts. None: it is not asked, and the words say why.
    """
    if not layer.enabled:
        return None, "it is disabled"
    name, tier = layer.tier_of(fields)
    if tier.only_spoken_to and fields.get(layer.spoken_to) is not True:
        return None, f"its tier is {name}: only when spoken to"
    busy = conditions.read(layer.busy)
    if busy is not None and conditions.holds(busy, "", "", fields):
        return None, f"it is busy: {layer.busy}"
    settled = plans.settled(character, at)
    for occasion, since in _occasions(layer, settled, fields, at):
        if settled.plan.waits and occasion != "goals_changed":
            return None, "it sleeps until its queue is done"
        if since is not None and since <= at:
            return occasion, f"{occasion}, tier {name}"
    return None, f"nothing new, tier {name}"


def executor_times(
    layer: Executor, character: Character, fields: Mapping[str, object], now: datetime
) -> list[datetime]:
    """Return the times at which an executor may become due."""
    doing = character.doing
    looked = (now,) if doing is None else (now, doing.until)
    found = [
        since
        for at in looked
        for _, since in _occasions(layer, plans.settled(character, at), fields, at)
        if since is not None
    ]
    return [max(since, now) for since in found]


def _occasions(
    layer: Executor, character: Character, fields: Mapping[str, object], at: datetime
) -> list[tuple[_Occasion, datetime | None]]:
    """Return each rule, in order, with the time from which on it fits."""
    _, tier = layer.tier_of(fields)
    called, plan = character.called.get("executor"), character.plan
    aimed, done = character.aimed_at, plan.completed_at
    is_aimed = aimed is not None and (called is None or aimed >= called)
    is_done = done is not None and (called is None or done > called)
    idle = reflexes.idle_since(character, at)
    since_idle = max(filter(None, (idle, called))) if idle is not None else None
    has_plan = bool(plan.tasks or plan.builds)
    since = called or character.since
    return [
        # Not in the same tick: what changes it is another layer's doing.
        ("goals_changed", _after(aimed, 1e-6) if is_aimed else None),
        (
            "task_complete",
            _after(done, layer.complete_s) if is_done and tier.on_complete else None,
        ),
        ("idle", None if has_plan else _after(since_idle, tier.idle_s)),
        ("periodic", _after(since, tier.periodic_s)),
    ]


def _after(at: datetime | None, seconds: float | None) -> datetime | None:
    if at is None or seconds is None:
        return None
    return at + timedelta(seconds=seconds)


def executor_priority(
    layer: Executor, fields: Mapping[str, object], reason: str | None
) -> float:
    """Return how urgent a question is: in danger, after something is done, else."""
    urgent = conditions.read(layer.urgent)
    if urgent is not None and conditions.holds(urgent, "", "", fields):
        return 10.0
    return {"task_complete": 5.0, "goals_changed": 3.0}.get(reason or "", 1.0)


def is_due(called: datetime | None, interval_s: float, now: datetime) -> bool:
    """Tell whether so many seconds have passed; who was never asked is due."""
    return called is None or now >= called + timedelta(seconds=interval_s)


def _number(fields: Mapping[str, object], name: str) -> float | None:
    value = fields.get(name)
    # A bool is an int in Python.
    if isinstance(value, bool) or not isinstance(value, int | float):
        return None
    return round6(float(value))
