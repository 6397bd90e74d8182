"""Views: recorded messages decoded to the fields that the open loop uses, and no others.

Decoding a decision in full takes longer than deciding it again. What a view cannot decode is
left to `schemas.codec.decode`, so that there is one meaning of every message.
"""

from collections.abc import Mapping
from typing import Any, TypeVar

import msgspec
import orjson
from msgspec import Struct

from schemas.codec.catalogue import message_type
from schemas.codec.decode import UnreadableOutputError, read_input, read_output
from schemas.messages.asks import DeliveryAsked
from schemas.messages.decisions import Completed, Decided, Dropped, HeuristicFired
from schemas.messages.experiments import VariantName
from schemas.messages.feedback import Aspect
from schemas.messages.learning import FeedbackApplied, OutcomeObserved
from schemas.messages.results import ModelAnswered, ModelFailed
from schemas.messages.sensing import Sensed
from schemas.values.base import MessageType
from schemas.values.reasons import Drop, Path, Silence
from schemas.values.record import Record
from schemas.values.subjects import parse

V = TypeVar("V", bound=Struct)

_FIRST_VERSION = "1"


class EventView(Struct, frozen=True):
    """What a decision's context takes from its event."""

    text: str
    urgency: float | None = None
    immediate: bool = True


class CandidateView(Struct, frozen=True):
    """An arm as it was weighed."""

    arm: str
    probability: float
    eligible: bool = True
    reason: str | None = None
    similarity: float | None = None
    confidence: float | None = None
    alpha: float | None = None
    beta: float | None = None
    silence: bool | None = None


class GateView(Struct, frozen=True):
    """A test on the way to an answer."""

    name: str
    passed: bool
    value: float | None = None
    threshold: float | None = None
    margin: float | None = None
    note: str | None = None


class SalienceView(Struct, frozen=True):
    """Why the event mattered."""

    dimensions: dict[str, float]
    effective: float


class ExcludedView(Struct, frozen=True):
    """Probability that exploration may not spread here, and why."""

    reason: str
    mass: float


class AssignmentView(Struct, frozen=True):
    """Under which variant of an experiment a decision was made."""

    id: str
    variant: VariantName
    probability: float
    unit: str
    washout: bool


class GoalView(Struct, frozen=True):
    """A goal that the event was about."""

    text: str


class DecidedView(Struct, frozen=True):
    """A recorded decision."""

    event_id: str
    source: str
    type: str
    domain: str
    path: Path
    arm: str
    probability: float
    greedy_arm: str
    final: bool
    strategy: str
    config_hash: str
    salience: SalienceView
    silence: Silence | None = None
    text: str | None = None
    exploration: str = "none"
    exploration_excluded: ExcludedView | None = None
    candidates: tuple[CandidateView, ...] = ()
    gates: tuple[GateView, ...] = ()
    session_id: str | None = None
    experiment: AssignmentView | None = None
    prompt_digest: str | None = None
    goals: tuple[GoalView, ...] | None = None


class CompletedView(Struct, frozen=True):
    """What a decision came to."""

    decision_id: str
    path: str
    text: str
    winner: str | None = None


class DroppedView(Struct, frozen=True):
    """A decision of which nothing came."""

    decision_id: str
    reason: Drop


class DeliveryView(Struct, frozen=True):
    """Something to be said."""

    decision_id: str


class FiredView(Struct, frozen=True):
    """A heuristic's part in a decision."""

    heuristic_id: str
    content_hash: str
    mode: str


class ObservedView(Struct, frozen=True):
    """How a fire turned out."""

    fire_id: str
    heuristic_id: str
    content_hash: str
    outcome: str


class VoteView(Struct, frozen=True):
    """A vote that counted."""

    value: float
    aspect: Aspect = "overall"
    fire_id: str | None = None
    heuristic_id: str | None = None
    content_hash: str | None = None
    through: str | None = None


class ResultView(Struct, frozen=True):
    """The result of a model call."""

    ask_id: str
    request_hash: str
    model: str | None = None
    text: str | None = None
    reason: str | None = None
    """Why it said nothing."""
    detail: str = ""
    input_tokens: int | None = None
    output_tokens: int | None = None
    cost_usd: float | None = None
    latency_ms: float | None = None


# Built once: making a decoder costs far more than using it.
_DECODERS: Mapping[type[Any], Any] = {
    view: msgspec.json.Decoder(view)
    for view in (
        DecidedView,
        CompletedView,
        DroppedView,
        DeliveryView,
        EventView,
        FiredView,
        ObservedView,
        VoteView,
    )
}


def token_of(record: Record) -> str:
    """Return the last token of a record's subject: what sort of output it is."""
    return record.subject.rpartition(".")[2]


def check_version(record: Record) -> None:
    """Check that an output is not of a newer program.

    Raises:
        UnreadableOutputError: it is; the error names its sequence.
    """
    version = record.headers.get("ce-schemaversion", _FIRST_VERSION)
    place = parse(record.subject)
    model = message_type(place.kind, place.detail)
    if model is None or version != str(model.version):
        read_output(record)


def decided(record: Record) -> DecidedView:
    """Read a `Decided`.

    Raises:
        UnreadableOutputError: it is none.
    """
    return _output(record, Decided, DecidedView)


def completed(record: Record) -> CompletedView:
    """Read a `Completed`.

    Raises:
        UnreadableOutputError: it is none.
    """
    return _output(record, Completed, CompletedView)


def dropped(record: Record) -> DroppedView:
    """Read a `Dropped`.

    Raises:
        UnreadableOutputError: it is none.
    """
    return _output(record, Dropped, DroppedView)


def delivery(record: Record) -> DeliveryView:
    """Read a `DeliveryAsked`.

    Raises:
        UnreadableOutputError: it is none.
    """
    return _output(record, DeliveryAsked, DeliveryView)


def fired(record: Record) -> FiredView:
    """Read a `HeuristicFired`.

    Raises:
        UnreadableOutputError: it is none.
    """
    return _output(record, HeuristicFired, FiredView)


def observed(record: Record) -> ObservedView:
    """Read an `OutcomeObserved`.

    Raises:
        UnreadableOutputError: it is none.
    """
    return _output(record, OutcomeObserved, ObservedView)


def feedback(record: Record) -> VoteView:
    """Read a `FeedbackApplied`.

    Raises:
        UnreadableOutputError: it is none.
    """
    return _output(record, FeedbackApplied, VoteView)


def event(record: Record) -> EventView:
    """Read the event that a decision was made on.

    Raises:
        UnreadableOutputError: it is no event, though something was decided on it.
    """
    try:
        view: EventView = _DECODERS[EventView].decode(record.body)
        return view
    except msgspec.MsgspecError:
        # A sensor may write the event in another form, which the codec understands.
        message = read_input(record).message
    if not isinstance(message, Sensed):
        raise UnreadableOutputError(
            f"input {record.sequence} on {record.subject!r} is no event, and yet it was"
            " decided on"
        )
    return EventView(message.text, message.urgency, message.immediate)


def result(record: Record) -> ResultView | None:
    """Read a model's result; None if it could not be read then, either."""
    message = read_input(record).message
    if isinstance(message, ModelAnswered | ModelFailed):
        return msgspec.convert(message.model_dump(exclude_none=True), ResultView)
    return None


def _output(record: Record, model: MessageType, view: type[V]) -> V:
    version = record.headers.get("ce-schemaversion", _FIRST_VERSION)
    try:
        if version == str(model.version):
            read: V = _DECODERS[view].decode(record.body)
            return read
        # Another version: the codec upcasts it to today's fields first.
        fields = orjson.loads(read_output(record).message.to_bytes())
        return msgspec.convert(fields, view)
    except msgspec.MsgspecError as error:
        raise UnreadableOutputError(
            f"output {record.sequence} on {record.subject!r} cannot be read: {error!r}"
        ) from error
