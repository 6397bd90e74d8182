"""Arms: what a decision can choose, and the action of a heuristic that answers."""

from typing import Annotated

from msgspec import Meta

from schemas.messages.sensing import Fields
from schemas.values.base import (
    AS_A_WHOLE,
    MessagePart,
    Name,
    Personal,
    PersonalCode,
    PersonalName,
    Unit,
    written,
)
from schemas.values.reasons import ResponseType

Arm = Annotated[str, Meta(min_length=1, max_length=600)]
"""What an outcome is credited to; it holds names of up to 200 characters and hashes."""

SILENT = "silent"
"""The arm of saying nothing."""

ACKNOWLEDGE = "acknowledge"
"""The arm of telling a person what became of what they asked for."""

REMIND = "remind"
"""The arm of saying what somebody asked to be reminded of."""

EMIT = "emit"
"""The arm of saying what somebody wants said."""

WATCH = "watch"
"""The arm of telling somebody what came that they asked to be told of."""

CHECK_IN = "check_in"
"""The arm of asking how things are."""

OBSERVE = "observation"
"""The arm of remarking that a kind of event comes often lately."""

MOOD_COMMENT = "mood_comment"
"""The arm of remarking that somebody seems to feel bad."""

MILESTONE = "milestone"
"""The arm of saying that so many events of a kind came."""

RACE = "race:"
"""What the arms of races begin with."""


HEURISTIC = "heuristic:"
"""What the arms of heuristics begin with."""

REFLEX = "reflex:"
"""What the arms of a character's reflexes begin with."""

QUEUE = "queue:"
"""What the arms of a character's planned work begin with."""

RANDOM = "random:"
"""What the arms of actions drawn at random begin with."""

ROUTINE = "routine:"
"""What the arms of a character's routines begin with."""

_VOICED = "~"


class Chained(MessagePart, frozen=True, kw_only=True):
    """Which model of a chain answered."""

    link: Name
    """As the settings name it."""
    attempts: int
    """How many models were asked, it included."""
    cost_usd: float | None = None
    """What all of them cost."""


def reflex_of(arm: str) -> str | None:
    """Return the reflex of an arm; None if it is none."""
    return arm.removeprefix(REFLEX) if arm.startswith(REFLEX) else None


def heuristic_arm(
    heuristic_id: str, content_hash: str, voice: str | None = None
) -> str:
    """Return the arm of answering by a heuristic: another content is another arm.

    So are other words of it, by the digest of a `voice`.
    """
    plain = f"{HEURISTIC}{heuristic_id}@{content_hash}"
    return plain if voice is None else f"{plain}{_VOICED}{voice}"


def heuristic_of(arm: str) -> tuple[str, str]:
    """Return id and content hash of the heuristic of an arm, whatever its voice."""
    # From the right: ids may hold an @ themselves, hashes may not.
    id_, _, rest = arm.removeprefix(HEURISTIC).rpartition("@")
    return id_, rest.partition(_VOICED)[0]


def voice_of(arm: str) -> str | None:
    """Return the digest of the voice in the arm of a heuristic; None if it has none."""
    return arm.rpartition("@")[2].partition(_VOICED)[2] or None


def llm_arm(model: str, template_hash: str, sampling_hash: str) -> str:
    """Return the arm of asking a model in one way.

    Neither event nor candidates are part of it, so that evidence adds up over events.
    """
    return f"llm:{model}@{template_hash}@{sampling_hash}"


def template_of(llm: str) -> str:
    """Return the template hash that an arm of asking a model was made with."""
    # From the right: the name of a model may hold an @ itself.
    return llm.rsplit("@", 2)[1]


def race_arm(llm: str, heuristic: str, deadline_ms: int) -> str:
    """Return the arm of a race: the model is asked, and a heuristic answers if it has not
    by the deadline.
    """
    return f"{RACE}{llm}+{heuristic}@{deadline_ms}"


def race_deadline_ms(arm: str, llm: str, heuristic: str) -> int | None:
    """Return the deadline in the arm of a race between these two; None if it is none."""
    # The arms hold `@` and `+` themselves, so the text is compared and not split.
    deadline = arm.removeprefix(race_arm(llm, heuristic, 0)[:-1])
    return int(deadline) if deadline.isdecimal() else None


class Action(MessagePart, frozen=True, kw_only=True):
    """Something to do, for whoever can do it."""

    type: Name
    target: Personal | None = None
    params: Annotated[Fields, AS_A_WHOLE] = written({})


class HeuristicContent(MessagePart, frozen=True, kw_only=True):
    """A situation, and what a heuristic does in it: whoever made it, and wherever it stands."""

    heuristic_id: Name
    name: PersonalName
    domain: Name
    """The pack, or the undeclared source, whose events it may answer."""
    condition: Annotated[Personal, Meta(min_length=1, max_length=1_000)]
    when: PersonalCode | None = None
    """What must hold of the event's type and fields besides."""
    response_type: ResponseType
    text: Annotated[Personal, Meta(min_length=1, max_length=2_000)]
    action: Action | None = None
    confidence: Unit
    """What its maker trusts it with, before any evidence."""
