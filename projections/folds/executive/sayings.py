"""Remember what was said lately, for cooldowns and for what was said already.

A matter is what events of one source and type tell of that are about the same, or whose fields
that are words do not differ: the lamp of one room. It is over once it stands otherwise, or once
an event comes of which a pack says that it ends the like.
"""

from bisect import bisect_left, bisect_right
from collections.abc import Callable, Mapping, Sequence
from datetime import datetime
from operator import attrgetter

import orjson
from msgspec.structs import replace

from projections.folds.events import Appearance, Domain
from schemas.messages.arms import SILENT
from schemas.messages.decisions import Completed, Decided
from schemas.messages.sensing import Sensed
from schemas.packs.event_types import EventType
from schemas.state import limits
from schemas.state.agent import AgentState, Pending, within
from schemas.state.executive import Aloud, Executive, Matter, Saying
from schemas.values import ids
from schemas.values.by_identity import by_identity
from schemas.values.executive_settings import ExecutiveSettings
from schemas.values.vectors import Vector

OWN_ECHO = "own_echo"
"""The gate that closes to its own voice."""
DOUBTFUL = 0.6
"""From here on words may be its own voice, garbled; a clear turn of a person's is below."""
_AT = attrgetter("at")
_WORDS = 8
"""How many fields that are words tell matters apart, the first by name."""
_AT_HOME_TAU_S = 300.0
"""The time constant of habituation at home, for which a setting says how long is enough."""
_OFTEN, _RARELY = 4, 8
"""So often one matter is said at the usual pace, then up to so many times more slowly."""
_EVER_SINCE = 3.0
"""What is silent for so many of the spans that a word is enough for did not go on."""
_DIGITS = str.maketrans("", "", "0123456789")


def of_decided(
    decision_id: str, message: Decided, at: datetime, vector: Vector
) -> Saying | None:
    """Return what a decision said at once; None if it did not."""
    if not message.final or message.text is None or message.response_type is None:
        return None
    return Saying(
        decision_id=decision_id,
        at=at,
        response_type=message.response_type,
        domain=message.domain,
        heuristic_id=message.matched_heuristic_id,
        person=message.person,
        vector=vector,
        sort=f"{message.source}.{message.type}",
        cools=message.path != "acknowledged" and message.response_type != "check_in",
    )


def of_completed(message: Completed, pending: Pending | None, at: datetime) -> Saying:
    """Return what was said once it was known."""
    by_heuristic = message.path == "heuristic"
    lesson = pending.lesson if pending is not None else None
    return Saying(
        decision_id=message.decision_id,
        at=at,
        response_type=message.response_type,
        domain=(lesson.domain if lesson else None) or "",
        heuristic_id=message.matched_heuristic_id if by_heuristic else None,
        vector=lesson.vector if lesson else b"",
        sort=f"{lesson.source}.{lesson.type}" if lesson else "",
        cools=message.response_type != "check_in",
    )


def remembered(state: AgentState, saying: Saying) -> AgentState:
    """Return the state with one more response in memory."""
    said = (*state.executive.sayings.said, saying)[-limits.SAYINGS :]
    return within(state, "executive", "sayings", said=said)


def between(
    said: tuple[Saying, ...], since: datetime, until: datetime
) -> Sequence[Saying]:
    """Return the responses of a span of time, both ends included, in order of time."""
    ordered = _in_order(said)
    begin = bisect_left(ordered, since, key=_AT)
    return ordered[begin : bisect_right(ordered, until, begin, key=_AT)]


# They are looked through at each event, and another comes at few of them.
@by_identity(64)
def _in_order(said: tuple[Saying, ...]) -> list[Saying]:
    # Nearly always in order already, but a clock may be set back.
    return sorted(said, key=_AT)


def aloud(state: AgentState, text: str, at: datetime) -> AgentState:
    """Return the state that knows the words again which are said now."""
    if not text:
        return state
    said = Aloud(at=at, text=text[: limits.ALOUD_TEXT])
    kept = (*state.executive.speech.aloud, said)[-limits.ALOUD :]
    return within(state, "executive", "speech", aloud=kept)


def listened(state: AgentState, message: Decided) -> AgentState:
    """Return the state that counts words which may have been its own voice."""
    gate = next((each for each in message.gates if each.name == OWN_ECHO), None)
    if gate is None or gate.value is None:
        return state
    is_doubtful = gate.value >= DOUBTFUL
    doubts = state.executive.speech.doubtful + 1 if is_doubtful else 0
    return within(state, "executive", "speech", doubtful=doubts)


def heard(state: AgentState, event: Sensed, at: datetime) -> AgentState:
    """Return the state that knows when a person last said something."""
    if not event.is_persons:
        return state
    return within(state, "executive", "presence", heard_at=at)


def known_matter(
    matters: tuple[Matter, ...],
    appearance: Appearance,
    event: Sensed,
    settings: ExecutiveSettings,
    *,
    is_unweighed: bool,
) -> tuple[Matter, float] | None:
    """Return what was said of what an event tells of, and for how many seconds that is enough.

    None if nothing was, or if it stands or is told otherwise now, or if it is an event of a
    moment, which matters by itself unless it `is_unweighed`.
    """
    domain = appearance.domain
    if not is_unweighed and not _goes_on_by_itself(event, domain):
        return None
    name = _name(event, domain.event_type) if matters else ()
    found = _same(matters, appearance.sort, name)
    if found is None or found.status != _status(event, domain.event_type):
        return None
    if found.words != _words(event, domain.event_type):
        return None
    return found, _enough_s(found.times, domain, settings)


def _goes_on_by_itself(event: Sensed, domain: Domain) -> bool:
    """Tell whether an event is of something that has a state, and so an end."""
    declared = domain.event_type
    if declared is not None and (declared.state in event.fields or domain.is_ended):
        return True
    return any(isinstance(each, bool) for each in event.fields.values())


def _enough_s(times: int, domain: Domain, settings: ExecutiveSettings) -> float:
    """Return for how long a word is enough that was said so often: from the fifth on longer."""
    span_s = settings.again_s
    if domain.pack is not None:
        span_s *= domain.tau_s / _AT_HOME_TAU_S
    return span_s * min(_RARELY, 2.0 ** max(0, times - _OFTEN))


def of_others(
    matters: tuple[Matter, ...], appearance: Appearance, event: Sensed
) -> frozenset[str]:
    """Return the decisions on events of the same sort that are of something else."""
    alike = [each for each in matters if each.sort == appearance.sort]
    words = dict(_name(event, appearance.domain.event_type)) if alike else {}
    return frozenset(each.decision_id for each in alike if not _is_named(each, words))


def comparable(
    executive: Executive, appearance: Appearance, event: Sensed
) -> Callable[[Saying], bool]:
    """Return whether what was said may have said already what an event tells.

    Of its own sort what is of the same matter, and that stands; of others only where no pack
    declares what they are.
    """
    declared = appearance.domain.event_type

    def may(saying: Saying) -> bool:
        if saying.sort != appearance.sort:
            return declared is None
        words = dict(_name(event, declared))
        return any(
            each.decision_id == saying.decision_id and _is_named(each, words)
            for each in executive.sayings.matters
        )

    return may


def told(
    state: AgentState,
    appearance: Appearance,
    event: Sensed,
    decision_id: str,
    message: Decided,
    settings: ExecutiveSettings,
    at: datetime,
) -> AgentState:
    """Return the state that knows which matter an event was of, and which it ends."""
    matters, is_answered = state.executive.sayings.matters, message.arm != SILENT
    if event.is_persons or not (matters or is_answered):
        return state
    sort, declared = appearance.sort, appearance.domain.event_type
    name, status = _name(event, declared), _status(event, declared)
    last = _same(matters, sort, name)
    ended = declared.ended_by(event) if declared else frozenset()
    is_over = last is not None and last.status != status
    kept = tuple(
        each
        for each in matters
        if each.sort not in ended and not (each is last and (is_over or is_answered))
    )
    if is_answered:
        goes_on = (
            last is not None
            and not is_over
            and _goes_on(last, at, appearance, settings)
        )
        made = Matter(
            sort=sort,
            name=name,
            status=status,
            words=_words(event, declared),
            decision_id=decision_id,
            at=at,
            times=last.times + 1 if last is not None and goes_on else 1,
        )
        kept = (*kept, made)[-limits.SAYINGS :]
    if kept == matters:
        return state
    return within(state, "executive", "sayings", matters=kept)


def _goes_on(
    last: Matter, at: datetime, appearance: Appearance, settings: ExecutiveSettings
) -> bool:
    """Tell whether it was told of ever since: else it is another time that it comes."""
    enough_s = _enough_s(last.times, appearance.domain, settings)
    return (at - last.at).total_seconds() <= _EVER_SINCE * enough_s


def ended(state: AgentState, decision_id: str, said_at: datetime | None) -> AgentState:
    """Return the state that knows when what a decision was on was said; None: it was not."""
    matters = state.executive.sayings.matters
    index = next(
        (n for n, each in enumerate(matters) if each.decision_id == decision_id), None
    )
    if index is None:
        return state
    at = () if said_at is None else (replace(matters[index], at=said_at),)
    kept = (*matters[:index], *at, *matters[index + 1 :])
    return within(state, "executive", "sayings", matters=kept)


def _same(
    matters: tuple[Matter, ...], sort: str, name: tuple[tuple[str, str], ...]
) -> Matter | None:
    """Return the latest matter of a sort, none of whose words is another in `name`."""
    words = dict(name)
    return next(
        (
            each
            for each in reversed(matters)
            if each.sort == sort and _is_named(each, words)
        ),
        None,
    )


def _is_named(matter: Matter, words: Mapping[str, str]) -> bool:
    """Tell whether no word of an event names another than the matter."""
    return all(words.get(key, word) == word for key, word in matter.name)


def _name(event: Sensed, declared: EventType | None) -> tuple[tuple[str, str], ...]:
    """Return which thing an event is of: what its pack or sensor says, else its words."""
    if declared is not None and declared.about is not None:
        told = (name for name in declared.about if name in event.fields)
        return tuple((name, _digest(event.fields[name])) for name in told)
    if event.entities:
        return (("", _digest(sorted(event.entities))),)
    words = sorted(
        (key, value) for key, value in event.fields.items() if isinstance(value, str)
    )
    return tuple((key, _digest(value)) for key, value in words[:_WORDS])


def _status(event: Sensed, declared: EventType | None) -> str:
    fields = event.fields
    if declared is not None and declared.state in fields:
        return _digest(fields[declared.state])
    either = sorted(key for key in fields if isinstance(fields[key], bool))
    return _digest([(key, fields[key]) for key in either])


def _words(event: Sensed, declared: EventType | None) -> str:
    is_told = declared is not None and declared.state in event.fields
    return "" if is_told else _digest(event.text.translate(_DIGITS))


def _digest(told: object) -> str:
    return ids.digest(orjson.dumps(told))
