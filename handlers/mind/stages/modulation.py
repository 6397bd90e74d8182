"""Modulation: what somebody asked for moves what an event is worth, or silences its topic.

An event is about a topic if its vector is as near to the topic's as a match must be, if it
mentions the topic's words, or if the topic is one of its entities.
"""

import re
from collections.abc import Callable, Iterable
from datetime import datetime

from msgspec import Struct
from msgspec.structs import replace

from schemas.messages.decisions import Gate
from schemas.messages.sensing import Sensed
from schemas.packs import word_patterns
from schemas.state.executive import EVERYBODY, Modulation
from schemas.values import vectors
from schemas.values.exact_math import clamp, round6
from schemas.values.unicode_text import folded
from schemas.values.vectors import Vector

_MOST = 0.5
"""How far the threshold is moved at most, by everything together."""


class Moved(Struct, frozen=True):
    """What is moved for an event."""

    raised: float = 0.0
    """What is added to what it must matter."""
    kept: float = 1.0
    """Which share of its salience is left."""
    suppressed: Modulation | None = None
    """What somebody does not want to hear of."""
    watched: Modulation | None = None
    """What somebody asked to be told of."""

    def and_raised(self, by: float) -> "Moved":
        """Return the same with the threshold moved by more, within the bounds."""
        if not by:
            return self
        raised = round6(clamp(self.raised + by, -_MOST, _MOST))
        return replace(self, raised=raised)


class Topical(Struct, frozen=True):
    """An event, as topics are compared with it."""

    event: Sensed
    vector: Vector | None
    alike: float
    """The cosine from which it is about a topic."""
    called: tuple[str, ...] = ()
    """What people call such events, as their pack says."""
    specific: Callable[[str], tuple[str, ...]] = lambda _: ()
    """Which words of a topic tell its events, if it is a sentence."""


def moved(modulations: tuple[Modulation, ...], now: datetime, here: Topical) -> Moved:
    """Return what the modulations that are in force move for an event."""
    raised, kept, suppressed, watched = 0.0, 1.0, None, None
    for each in modulations:
        if not _is_in_force(each, now) or not _concerns(each, here.event):
            continue
        # "The heating is off" reads like "the heating is on".
        names = here.specific(each.about) if each.change == "heighten" else ()
        is_told = _is_told(names, here) if names else _is_about(each, here)
        is_meant = is_told and _is_of(each, here.event)
        match each.change:
            case "focus":
                raised += -each.amount if is_meant else each.amount
            case "suppress" if is_meant:
                suppressed = suppressed or each
            case "heighten" if is_meant:
                raised -= each.amount
                watched = watched or (each if _is_watch(each, here.event) else None)
            case "threshold" if is_meant:
                raised += each.amount
            case "habituate" if is_meant:
                kept *= 1.0 - clamp(each.amount, 0.0, 1.0)
            case _:
                pass
    raised = round6(clamp(raised, -_MOST, _MOST))
    return Moved(raised, round6(kept), suppressed, watched)


def suppressed_gate(modulation: Modulation, excuse: str | None) -> Gate:
    """Return the gate of an event of which somebody does not want to hear."""
    # Its id instead of its words, which are that person's and may have to be forgotten.
    why = f"as {modulation.by} asked: {modulation.id}"
    return Gate(name="suppressed", passed=excuse is not None, note=excuse or why)


def left_out(
    modulations: tuple[Modulation, ...], now: datetime, person: str | None
) -> tuple[str, ...]:
    """Return the topics that a person does not want to hear of."""
    held = (
        each.about
        for each in modulations
        if each.change == "suppress" and each.about and _is_in_force(each, now)
        if each.person in (EVERYBODY, person)
    )
    return tuple(dict.fromkeys(held))


def _is_watch(modulation: Modulation, event: Sensed) -> bool:
    # Who asks for a topic hears of it; a type or a source alone only matters more. Nobody is
    # told of what people say themselves.
    return bool(modulation.about) and not event.is_persons


def _is_in_force(modulation: Modulation, now: datetime) -> bool:
    return modulation.until is None or now < modulation.until


def _concerns(modulation: Modulation, event: Sensed) -> bool:
    return event.person is None or modulation.person in (EVERYBODY, event.person)


def kinds_about(
    topic: str,
    vector: Vector | None,
    kinds: Iterable[tuple[str, tuple[str, ...], tuple[Vector, ...]]],
    alike: float,
) -> tuple[str, ...]:
    """Return the types of the events that a topic is about; none if it is the name of one.

    Each of the kinds is a type, what people call it, and vectors of some that came.
    """
    forms = {*map(folded, _forms(topic))}
    found: dict[str, bool] = {}
    for type_, called, vectors_ in kinds:
        words = type_.replace("_", " ").replace("-", " ")
        said = word_patterns.event_words("", type_, "", {})
        is_named = any(word_patterns.occurs(form, said) for form in forms)
        is_called = not forms.isdisjoint(map(folded, called))
        is_near = vector is not None and any(
            len(own) == len(vector) and round6(vectors.cosine(own, vector)) >= alike
            for own in vectors_
        )
        if is_named or is_called or is_near:
            found[words] = found.get(words, False) or is_named
    return () if [*found.values()] == [True] else tuple(found)


def _is_of(modulation: Modulation, event: Sensed) -> bool:
    is_source = modulation.source in (None, event.source)
    return is_source and modulation.type in (None, event.type)


def _is_about(modulation: Modulation, here: Topical) -> bool:
    event = here.event
    topic = modulation.about
    if not topic:
        return True
    forms = _forms(topic)
    if not {*map(folded, (*event.entities, *here.called))}.isdisjoint(
        map(folded, forms)
    ):
        return True
    said = word_patterns.words_of(event)
    return any(word_patterns.occurs(each, said) for each in forms) or _is_near(
        modulation.vector, here
    )


def _is_told(names: tuple[str, ...], here: Topical) -> bool:
    """Tell whether an event holds all words that tell what a sentence is about."""
    said = word_patterns.words_of(here.event)
    called = {*map(folded, here.called)}
    return all(
        any(
            word_patterns.occurs(each, said) or folded(each) in called for each in forms
        )
        for forms in map(_forms, names)
    )


def _forms(topic: str) -> tuple[str, ...]:
    """Return a topic as it is named, without an article, and of one as well as of many."""
    words = topic.split()
    if len(words) > 1 and words[0].lower() in _ARTICLES:
        words = words[1:]
    last = words[-1] if words else ""
    one = re.sub(r"(?i)((?<=s|x|z)|(?<=ch|sh))es$|(?<![s\Wu])s$", "", last)
    ends = (last, one, f"{last}s")
    return (topic, *(" ".join((*words[:-1], each)) for each in ends if each))


_ARTICLES = frozenset({"a", "an", "the", "any", "some", "der", "die", "das"})


def _is_near(topic: Vector, here: Topical) -> bool:
    # Another length is another embedder's: nothing can be compared.
    if not topic or here.vector is None or len(topic) != len(here.vector):
        return False
    return round6(vectors.cosine(topic, here.vector)) >= here.alike
