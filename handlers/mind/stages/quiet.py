"""Learnt silence: the heuristics that say nothing, and the occasions at which they hold.

Such a heuristic is made of an occasion at which somebody should not have spoken: its
condition is the event's own words, its `when` what the tests of the domain tell of the
event. Like occasions are those that these tests cannot tell apart.
"""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import lru_cache

import orjson

from projections.folds.learning import beliefs
from schemas.packs import conditions
from schemas.packs.compiled import CompiledPack
from schemas.packs.conditions import ParsedWhen
from schemas.ports.decision_context import HeuristicCandidate
from schemas.state.agent import AgentState
from schemas.state.evidence import Belief
from schemas.state.lessons import Lesson
from schemas.state.taught import Shelf, Taught
from schemas.values import vectors
from schemas.values.learning_settings import LearningSettings
from schemas.values.settings import MatchLimits

CONFIDENCE = 0.3
"""The confidence of a new one; as with any formed heuristic it must earn trust."""

SAYS = "(says nothing)"
"""The text shown to people in place of a response."""

LIMIT = 256
"""How many are kept of one domain; each is tested at every event of it."""

_PARTS = 16
"""How many tests a `when` has at most, besides that of the type."""
_LONGEST = 40
"""A text of more characters tells no sort of event."""


def like(state: AgentState, occasion: Lesson, limits: MatchLimits) -> list[Taught]:
    """Return the heuristics that say nothing which hold of an occasion, by id."""
    # Fields are JSON text in a lesson: decoded only where there is something to test.
    known = _of(state.shelves.get(occasion.domain))
    fields = orjson.loads(occasion.fields) if known else {}
    return [each for each in known if _holds(each, occasion, fields, limits)]


def candidates(
    state: AgentState,
    occasion: Lesson,
    limits: MatchLimits,
    held: Mapping[str, Belief],
    learning: LearningSettings,
) -> tuple[HeuristicCandidate, ...]:
    """Return those that hold of an occasion as candidates, the most confident first.

    `held` maps each id to the belief about it.
    """
    weighed = [
        _candidate(
            each,
            held[each.heuristic_id],
            occasion,
            each.heuristic_id in state.frozen,
            learning,
        )
        for each in like(state, occasion, limits)
    ]
    weighed.sort(
        key=lambda each: (
            not each.eligible,
            -each.confidence,
            -each.similarity,
            each.heuristic_id,
        )
    )
    return tuple(weighed)


def is_full(state: AgentState, domain: str) -> bool:
    """Tell whether a domain has as many of them as are kept."""
    return len(_of(state.shelves.get(domain))) >= LIMIT


def situation(
    state: AgentState, packs: Sequence[CompiledPack], occasion: Lesson
) -> str | None:
    """Return the `when` of an occasion; None if it cannot be written as one.

    It names the type, and what each field that a test of the domain names is: a text or
    a truth by its value, a number by the nearest of the values that tests ask for. Of an
    event none of whose texts is tested, all short texts and truths are.
    """
    fields = orjson.loads(occasion.fields)
    tests = list(_tests(state, packs, occasion.domain))
    named = sorted({each.field for each in tests} - set(conditions.EVENT_NAMES))
    parts = [part for name in named if (part := _exact(name, fields))]
    if not parts:
        parts = [part for name in sorted(fields) if (part := _exact(name, fields))]
    for name in named:
        parts += _bounds(name, fields, tests)
    written = " and ".join([f"type = {_quoted(occasion.type)}", *parts[:_PARTS]])
    try:
        when = conditions.parse(written)
    except conditions.ConditionError:
        return None
    # A `when` that is false of its own event would never hold where it was learnt.
    is_true = conditions.holds(when, occasion.type, occasion.source, fields)
    return written if is_true else None


@dataclass(frozen=True, slots=True)
class _Cut:
    """A boundary that a numeric test draws."""

    at: float
    is_below: bool
    """Whether the value itself belongs to the lower side."""


def _of(shelf: Shelf | None) -> tuple[Taught, ...]:
    return () if shelf is None else _silences(shelf)


# Keyed by the shelf, a persistent value: a changed shelf is another key.
@lru_cache(maxsize=256)
def _silences(shelf: Shelf) -> tuple[Taught, ...]:
    known = (shelf.heuristics[id_] for id_ in sorted(shelf.heuristics))
    return tuple(each for each in known if each.is_silence)


def _holds(
    taught: Taught, occasion: Lesson, fields: Mapping[str, object], limits: MatchLimits
) -> bool:
    when = _parsed(taught.when)
    if when is not None and not conditions.holds(
        when, occasion.type, occasion.source, fields
    ):
        return False
    # Without fields to tell events apart the texts must: then as near as a duplicate.
    is_told = when is not None and bool(conditions.fields_named(when))
    at_least = limits.match if is_told else limits.duplicate
    return _similarity(taught, occasion) >= at_least


def _similarity(taught: Taught, occasion: Lesson) -> float:
    # Another length is another embedder's: nothing can be compared, so nothing is alike.
    if not taught.vector or len(taught.vector) != len(occasion.vector):
        return 0.0
    return vectors.cosine(taught.vector, occasion.vector)


def _candidate(
    taught: Taught,
    held: Belief,
    occasion: Lesson,
    by_hand: bool,
    learning: LearningSettings,
) -> HeuristicCandidate:
    is_frozen = beliefs.lifecycle(held, by_hand, learning) == "frozen"
    return HeuristicCandidate(
        heuristic_id=taught.heuristic_id,
        content_hash=taught.content_hash,
        condition_text=taught.condition,
        suggested_action="",
        confidence=held.confidence,
        alpha=held.alpha,
        beta=held.beta,
        similarity=_similarity(taught, occasion),
        eligible=not is_frozen,
        reason="frozen" if is_frozen else None,
        response_type=taught.response_type,
        origin=taught.origin,
        recent=held.recent,
    )


def _tests(
    state: AgentState, packs: Sequence[CompiledPack], domain: str
) -> Iterator[conditions.Comparison]:
    """Yield every comparison that a heuristic of the domain makes which says something."""
    for pack in packs:
        if pack.pack.name == domain:
            for when in pack.whens:
                yield from conditions.comparisons(when) if when is not None else ()
    shelf = state.shelves.get(domain, Shelf())
    for id_ in sorted(shelf.heuristics):
        taught = shelf.heuristics[id_]
        when = None if taught.is_silence else _parsed(taught.when)
        yield from conditions.comparisons(when) if when is not None else ()


def _exact(name: str, fields: Mapping[str, object]) -> str | None:
    """Return the test of a short text or a boolean; None for any other value."""
    _, value = conditions.field_value(name, fields)
    if isinstance(value, bool):
        return f"{name} = {'true' if value else 'false'}"
    if isinstance(value, str) and len(value) <= _LONGEST:
        return f"{name} = {_quoted(value)}"
    return None


def _bounds(
    name: str, fields: Mapping[str, object], tests: Sequence[conditions.Comparison]
) -> Iterator[str]:
    """Yield the tests that keep a number between the nearest cuts below and above it."""
    _, value = conditions.field_value(name, fields)
    if isinstance(value, bool) or not isinstance(value, int | float):
        return
    cuts = [cut for each in tests if each.field == name for cut in _cuts(each)]
    lower = [each for each in cuts if _is_over(value, each)]
    upper = [each for each in cuts if not _is_over(value, each)]
    if lower:
        cut = max(lower, key=lambda each: (each.at, each.is_below))
        yield f"{name} {'>' if cut.is_below else '>='} {_written(cut.at)}"
    if upper:
        cut = min(upper, key=lambda each: (each.at, each.is_below))
        yield f"{name} {'<=' if cut.is_below else '<'} {_written(cut.at)}"


def _is_over(value: float, cut: _Cut) -> bool:
    return value > cut.at or (value == cut.at and not cut.is_below)


def _cuts(test: conditions.Comparison) -> Iterator[_Cut]:
    for value in test.values:
        if isinstance(value, bool) or not isinstance(value, int | float):
            continue
        # An equality draws a boundary on both sides of its value.
        if test.operator in ("<=", ">", "=", "!=", "in"):
            yield _Cut(value, is_below=True)
        if test.operator in ("<", ">=", "=", "!=", "in"):
            yield _Cut(value, is_below=False)


def _written(number: float) -> str:
    return orjson.dumps(number).decode()


def _quoted(text: str) -> str:
    return orjson.dumps(text).decode()


@lru_cache(maxsize=4096)
def _parsed(when: str | None) -> ParsedWhen | None:
    return conditions.parse(when) if when else None
