"""Delivery: by which medium is a response given, and is a quip in place at all?

Speech is the usual medium where there is a speech channel, with the text channel to fall
back to. Text takes its place for types, people and contexts of which the settings say so,
where the event's own type names another channel, and for whoever is away, or asleep while
nothing threatens. What carries an action goes to the program that takes actions. Quips are
only for people who are not busy, and never one soon after another (ADR-0014 §11).
"""

from collections.abc import Sequence
from datetime import datetime

from msgspec import Struct

from projections.folds.executive import people
from schemas.messages.asks import DeliveryAsked, ModelAsked
from schemas.messages.decisions import Gate
from schemas.state.executive import Executive
from schemas.values.exact_math import clamp, round6
from schemas.values.executive_settings import CONTEXT_PREFIX, PERSON_PREFIX
from schemas.values.reasons import Output, ResponseType, Silence

_SPEECH = "speech"
"""The channel of what is spoken."""

_HURRIED, _RELAXED = 1.2, 0.9
"""What the voice's own speed is multiplied with under threat, and in small talk."""
_SLOWEST, _FASTEST = 0.5, 2.0

_SMALL_TALK: frozenset[ResponseType] = frozenset({"quip", "check_in"})


class Listener(Struct, frozen=True):
    """Who is to hear a response, and what is known of the moment."""

    person: str | None
    """None: everybody who is there."""
    is_threat: bool
    """Whether something threatens, be it this or another event."""
    voice: str | None
    """The voice of the personality; None: the speech channel's own."""
    speed: float
    """How fast that voice speaks."""


class _Route(Struct, frozen=True):
    """How a response is given."""

    output: Output
    channel: str
    fallback_channel: str | None = None
    voice: str | None = None
    speed: float | None = None


def route(
    executive: Executive,
    asked: DeliveryAsked,
    listener: Listener,
    as_text: Sequence[str],
    usual_channel: str,
) -> _Route:
    """Return how a response is given where there is a speech channel."""
    if asked.action is not None:
        return _Route("action", asked.channel)
    if is_written(executive, asked, listener, as_text, usual_channel):
        # A channel of speech that nobody may hear is no place for text either.
        is_speech = asked.channel == _SPEECH
        return _Route("text", usual_channel if is_speech else asked.channel)
    return _Route(
        "speech",
        _SPEECH,
        fallback_channel=usual_channel,
        voice=listener.voice,
        speed=_speed(asked.response_type, listener),
    )


def is_written(
    executive: Executive,
    asked: DeliveryAsked | ModelAsked,
    listener: Listener,
    as_text: Sequence[str],
    usual_channel: str,
) -> bool:
    """Tell whether a response is given as text though there is a speech channel."""
    is_own = asked.channel not in (usual_channel, _SPEECH)
    return is_own or _prefers_text(executive, asked.response_type, listener, as_text)


def closed_to_quips(
    executive: Executive, interval_s: float, person: str | None, now: datetime
) -> tuple[Gate, Silence] | None:
    """Return the gate that is closed to quips now, with its reason; None if none is."""
    if not interval_s:
        return None
    if people.is_busy(executive, person, now):
        return Gate(name="busy", passed=False, note="quips wait for nobody"), "busy"
    waited_s = since_quip_s(executive, now)
    if waited_s is None or waited_s >= interval_s:
        return None
    gate = Gate(
        name="quip",
        passed=False,
        value=waited_s,
        threshold=interval_s,
        margin=round6(waited_s - interval_s),
    )
    return gate, "recently_quipped"


def since_quip_s(executive: Executive, now: datetime) -> float | None:
    """Return the seconds since the last quip; None if none is known."""
    said = (
        each.at
        for each in reversed(executive.sayings.said)
        if each.response_type == "quip" and each.at <= now
    )
    last = next(said, None)
    return None if last is None else round6((now - last).total_seconds())


def _prefers_text(
    executive: Executive,
    response_type: ResponseType,
    listener: Listener,
    as_text: Sequence[str],
) -> bool:
    active = executive.context
    names = (
        response_type,
        f"{PERSON_PREFIX}{listener.person}",
        f"{CONTEXT_PREFIX}{active.name if active is not None else ''}",
    )
    if any(each in as_text for each in names):
        return True
    known = people.state_of(executive, listener.person)
    if known is None:
        return False
    return known.away or (known.asleep and not listener.is_threat)


def _speed(response_type: ResponseType, listener: Listener) -> float:
    if listener.is_threat:
        factor = _HURRIED
    else:
        factor = _RELAXED if response_type in _SMALL_TALK else 1.0
    return round6(clamp(listener.speed * factor, _SLOWEST, _FASTEST))
