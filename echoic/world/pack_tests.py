"""Test a pack: events in, expected decisions out, each in a fresh mind in memory.

The cases are the YAML files in the pack's folder `tests`; the settings are the program's
defaults, without a model.
"""

from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Annotated

import orjson
from pydantic import Field, TypeAdapter, ValidationError

from echoic.errors import EchoicError
from echoic.packs.yaml_positions import SourceError, read
from echoic.world.memory import likeness, match_limits
from echoic.world.world import Mind, Reaction
from schemas.codec import device_texts, payload
from schemas.codec.catalogue import ControlMessage
from schemas.messages.executive import (
    ContextSwitched,
    PersonalitySelected,
    SkillLoaded,
    SkillUnloaded,
)
from schemas.messages.sensing import Dimension, Fields, Sensed
from schemas.packs import conditions
from schemas.packs.manifest import Pack
from schemas.values.base import Name, Part, Token, Unit, first_fault
from schemas.values.ids import heuristic_id
from schemas.values.reasons import ResponseType

FOLDER = "tests"
"""The folder of a pack that holds its cases."""

_NEAREST = 3
"""How many heuristics are named that did not answer."""

_APART_S = 60.0
"""How many seconds lie between two events if nothing is said."""


class Event(Part):
    """An event as a sensor would publish it."""

    text: str = ""
    """Without one it is what a device sends: its fields alone."""
    source: Token = "sensor"
    type: Token = "event"
    fields: Fields = Field(default_factory=dict)
    salience: dict[Dimension, Unit] = Field(default_factory=dict)
    person: Token | None = None
    after_s: Annotated[float, Field(ge=0.0)] = _APART_S
    """How many seconds after the event before."""


class _Circumstances(Part):
    """What is set before the first event."""

    context: Token | None = None
    personality: Name | None = None
    load: tuple[Name, ...] = ()
    unload: tuple[Name, ...] = ()
    """Skills, as `<pack>/<skill>` or a shipped one's name."""


class _Expected(Part):
    """What must be so of the decision; what is absent may be anything."""

    heuristic: Name | None = None
    """The name of the one that answers."""
    heard: str | None = None
    """What the event says, by the pack's template if a device sent its fields alone."""
    text: str | None = None
    contains: str | None = None
    """Words that are part of the text."""
    type: ResponseType | None = None
    skills: tuple[Name, ...] | None = None
    """Those that the words are by, as `<name>@<version>`."""
    silence: str | bool | None = None
    """The reason why nothing is said; true: any; false: something is said."""


class Case(Part):
    """One test: circumstances, events before, an event, and what is to come of it."""

    name: Annotated[str, Field(min_length=1)]
    given: _Circumstances = _Circumstances()
    before: tuple[Event, ...] = ()
    event: Event
    expect: _Expected


@dataclass(frozen=True, slots=True)
class Result:
    """What became of a case."""

    file: str
    name: str
    faults: tuple[str, ...]
    """How the decision differs; empty if it is as expected."""


_CASES = TypeAdapter(tuple[Case, ...])


def _cases_of(folder: Path) -> Iterator[tuple[Path, Case]]:
    """Yield the cases of a pack's folder, file by file.

    Raises:
        EchoicError: a file is no list of cases.
    """
    for file in sorted((folder / FOLDER).glob("*.yaml")):
        try:
            value = read(file).value
        except SourceError as error:
            place = f"{file}:{error.place.line}"
            raise EchoicError(f"{place}: {error.message}") from error
        try:
            # Through JSON and strict, as manifests are read.
            read_cases = _CASES.validate_json(orjson.dumps(value or []), strict=True)
        except ValidationError as error:
            raise EchoicError(f"{file}: {first_fault(error, 'the file')}") from error
        yield from ((file, case) for case in read_cases)


def run(pack: Pack, folder: Path) -> list[Result]:
    """Run the cases of a pack's folder, and return what became of each."""
    return [
        Result(file.name, case.name, tuple(_faults(pack, case)))
        for file, case in _cases_of(folder)
    ]


def _faults(pack: Pack, case: Case) -> Iterator[str]:
    try:
        reaction = _reaction(pack, case)
    except ValueError as error:
        yield str(error)
        return
    differing = tuple(_differing(pack, case, reaction))
    yield from differing
    if differing and reaction.said is None:
        yield from _why_quiet(pack, case, reaction)


def _differing(pack: Pack, case: Case, reaction: Reaction) -> Iterator[str]:
    expected, decided = case.expect, reaction.decided
    heard = _heard(pack, case.event)
    if expected.heard not in (None, heard):
        yield f"heard: {expected.heard!r} expected, {heard!r} read"
    if expected.heuristic is not None:
        wanted = heuristic_id(pack.name, expected.heuristic)
        answered = reaction.heuristic_id if reaction.said is not None else None
        if answered != wanted:
            names = {heuristic_id(pack.name, e.name): e.name for e in pack.heuristics}
            by = names.get(answered or "", "none")
            yield f"heuristic: {expected.heuristic} expected, {by} answered"
    if expected.text is not None and reaction.said != expected.text:
        yield f"text: {expected.text!r} expected, {reaction.said!r} said"
    if expected.contains is not None and expected.contains not in (reaction.said or ""):
        yield f"contains: {expected.contains!r} expected, {reaction.said!r} said"
    if expected.type not in (None, decided.response_type):
        yield f"type: {expected.type} expected, {decided.response_type} found"
    if expected.skills is not None and expected.skills != (decided.skills or ()):
        found = ", ".join(decided.skills or ()) or "none"
        yield f"skills: {', '.join(expected.skills) or 'none'} expected, {found} used"
    yield from _of_silence(expected.silence, reaction)


def _why_quiet(pack: Pack, case: Case, reaction: Reaction) -> Iterator[str]:
    """Say what kept it quiet: gates that closed, and how near the heuristics came.

    All that were expected or are nearest; of each what fell short, in the order of the page
    on packs.
    """
    for gate in reaction.decided.gates:
        if not gate.passed:
            at = (
                ""
                if gate.value is None
                else f" {gate.value:.2f} < {gate.threshold:.2f}"
            )
            yield f"gate: {gate.name}{at}"
    event, limit = case.event, match_limits().match
    heard = _heard(pack, event)
    if not event.text:
        yield f"heard: {heard!r}"
    rows = sorted(
        ((likeness(heard, each.condition), each) for each in pack.heuristics),
        key=lambda row: (row[1].name != case.expect.heuristic, -row[0]),
    )
    for like, each in rows[:_NEAREST]:
        sign = ">=" if like >= limit else "<"
        when = conditions.read(each.when)
        holds = when is None or conditions.holds(
            when, event.type, event.source, event.fields
        )
        why = ""
        if when is not None and not holds:
            failed = conditions.explain_failure(
                when, event.type, event.source, event.fields
            )
            why = f"; when: {failed}"
        yield f"near: {each.name}: like {like:.2f} {sign} {limit:.2f}{why}"


def _of_silence(expected: str | bool | None, reaction: Reaction) -> Iterator[str]:
    if expected is None:
        return
    found = reaction.silence
    if isinstance(expected, bool):
        if expected == (found is None):
            yield f"silence: {'some' if expected else 'none'} expected, {found or 'none'} found"
    elif expected != found:
        yield f"silence: {expected} expected, {found or reaction.said!r} found"


def _reaction(pack: Pack, case: Case) -> Reaction:
    mind, at = Mind(pack, name=case.name), 0.0
    for control in _controls(case.given):
        mind.tell(control)
    for event in case.before:
        at += event.after_s
        _sense(mind, event, at)
    return _sense(mind, case.event, at + case.event.after_s)


def _plain(event: Event) -> Sensed:
    """Return an event as it is read from what a sensor or a device publishes."""
    source, type_, fields = event.source, event.type, event.fields
    text = event.text or payload.of_object(source, type_, fields)["text"]
    return Sensed(source=source, type=type_, text=text, fields=fields).checked()


def _heard(pack: Pack, event: Event) -> str:
    """Return what an event says to the mind."""
    plain = _plain(event)
    declared_for = (
        (each.source, each) for each in pack.events if each.type == event.type
    )
    by_source = dict(declared_for)
    declaring = by_source.get(event.source) or by_source.get(None)
    return device_texts.text(plain, [declaring] if declaring else ()) or plain.text


def _sense(mind: Mind, event: Event, at: float) -> Reaction:
    given = event.model_dump(exclude_defaults=True, exclude={"after_s"})
    given |= {"text": _plain(event).text, "source": event.source, "type": event.type}
    return mind.sense(**given, at=at)


def _controls(given: _Circumstances) -> Iterator[ControlMessage]:
    if given.context is not None:
        yield ContextSwitched(context=given.context).checked()
    if given.personality is not None:
        yield PersonalitySelected(template=given.personality).checked()
    yield from (SkillLoaded(skill=each).checked() for each in given.load)
    yield from (SkillUnloaded(skill=each).checked() for each in given.unload)
