"""What callers are told: one type for each reply, checked before it is sent."""

from typing import Any, Literal

from msgspec import Struct

Fields = dict[str, Any]


class ReplyStruct(
    Struct, frozen=True, kw_only=True, omit_defaults=True, forbid_unknown_fields=True
):
    """A reply; what is not set is left out."""


class _WrongField(ReplyStruct, frozen=True):
    """A field of a request, and what is wrong about it."""

    field: str
    """Its path, such as `fields.0`; empty: the body as a whole."""
    problem: str


class CallError(ReplyStruct, frozen=True):
    """Why a call is refused."""

    reason: str
    """For programs."""
    detail: str
    fields: list[_WrongField] = []
    """All that are wrong, where that is the reason."""
    wait_s: int | None = None
    """Until it may be sent again, where it is known."""


class Refused(ReplyStruct, frozen=True):
    """The reply to a call that is refused, by whichever part."""

    accepted: Literal[False]
    error: CallError
    sequence: int | None = None
    """Of the input in the log, if the mind is who refused it."""
    answer: Fields | None = None
    """What the mind answered: a message of the log, with its `type`."""
    event_id: str | None = None


class SaidOrNot(ReplyStruct, frozen=True):
    """What became of words that somebody asked to be said."""

    response_id: str
    path: str
    final: bool
    """False: they wait for their time."""
    silence: str | None = None
    """Why they are not said."""


class Recorded(ReplyStruct, frozen=True):
    """The reply to what the log holds now and the mind accepted."""

    accepted: Literal[True]
    sequence: int
    answer: Fields | None = None
    """None: it is in the log and not answered yet; `note` says so."""
    note: str | None = None
    decision: SaidOrNot | None = None


class Acknowledged(ReplyStruct, frozen=True):
    """The acknowledgement of an event: the log holds it, and it will be answered."""

    accepted: Literal[True]
    event_id: str
    stream: str
    sequence: int
    """In the stream that takes events in."""


class Response(ReplyStruct, frozen=True):
    """A decision, by the names of the source design."""

    accepted: bool
    """False: the decision is not to answer, and `silence` says why."""
    event_id: str
    response_id: str
    response_text: str
    predicted_success: float
    prediction_confidence: float
    prompt_text: str
    decision_path: str
    matched_heuristic_id: str
    metadata: Fields
    silence: str | None = None


class StateReply(ReplyStruct, frozen=True):
    """What is known of an agent."""

    accepted: Literal[True]
    state: Fields


class PersonalityReply(ReplyStruct, frozen=True):
    """The personality in force."""

    accepted: Literal[True]
    personality: Fields


class OutputReply(ReplyStruct, frozen=True):
    """What is being spoken, what is to be, and what was cut off."""

    accepted: Literal[True]
    speaking: bool
    waiting: list[Fields]
    unsaid: list[Fields]
    said: Fields | None = None
    """What is being spoken."""


class RemindersReply(ReplyStruct, frozen=True):
    """What is to be said at its time, the soonest first."""

    accepted: Literal[True]
    reminders: list[Fields]


class FactsReply(ReplyStruct, frozen=True):
    """What was stated, the latest last."""

    accepted: Literal[True]
    facts: list[Fields]


class HeuristicsReply(ReplyStruct, frozen=True):
    """The heuristics that were asked for."""

    accepted: Literal[True]
    heuristics: list[Fields]


class HeuristicReply(ReplyStruct, frozen=True):
    """One heuristic."""

    accepted: Literal[True]
    heuristic: Fields
