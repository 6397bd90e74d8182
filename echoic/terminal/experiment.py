"""A live experiment on one screen: both variants, the difference, and what follows.

Pure; what is left out is said.
"""

from collections.abc import Iterator
from dataclasses import asdict
from datetime import datetime, timedelta
from typing import Any

from rich.console import RenderableType

from echoic.terminal.called import as_typed
from echoic.terminal.screen import counted, cut, figure, number, pairs, table, text
from echoic.terminal.verdicts import verdict
from evaluation.experiments.session_trials import SessionJudgement, judge
from evaluation.experiments.switchback import (
    Difference,
    Side,
    Switchback,
    analyse,
    with_silence,
)
from evaluation.experiments.trials import Course
from handlers.mind.strategies import spec
from replay.recording.outcomes import SILENCE_VALUES
from schemas.messages.experiments import Variant, VariantName

_MEANINGS = {
    "BETTER": "b is better than a",
    "WORSE": "b is worse than a",
    "EQUIVALENT": "it makes no difference that matters",
    "INCONCLUSIVE": "not clear yet",
    "INVALID": "the experiment itself is at fault",
}
_PERSONALITY_CHARACTERS = 40


def screen(
    course: Course, found: Switchback, now: datetime
) -> Iterator[RenderableType]:
    """Yield the whole screen."""
    message = course.begun.message
    name = message.title or message.experiment_id
    yield text((name, "bold"), f"   {_life(course, now)}")
    yield ""
    sides = (
        _side("a", message.a, found.a, message.by),
        _side("b", message.b, found.b, message.by),
    )
    yield table(("", cut(), number(), number(), number()), sides)
    yield ""
    yield f"b over a  {_difference(found.difference, message.by)}"
    details = "; ".join(each.detail for each in found.reasons)
    yield text(verdict(found.verdict), f"   {_MEANINGS[found.verdict]}: {details}")
    # One that was stopped has nothing left to stop.
    if found.may_stop and course.stopped_at is None:
        yield f"→ {as_typed('echoic ab stop')}"
    for each in judge(course.sessions):
        yield session_judgement(each, message.by)
    yield ""
    rows = {
        "silence": _silence(course, found),
        "left out": _left_out(found, message.by),
        "split": _split(found),
    }
    yield pairs(rows, 0)


def label(variant: Variant) -> str:
    """Return what a variant is, in a few words."""
    parts = []
    if variant.strategy is not None:
        parts.append(spec.text_of(variant.strategy))
    if variant.template is not None:
        parts.append(f"as {variant.template}")
    if variant.personality is not None:
        flat = " ".join(variant.personality.split())
        is_long = len(flat) > _PERSONALITY_CHARACTERS
        shown = flat[: _PERSONALITY_CHARACTERS - 1] + "…" if is_long else flat
        parts.append(f"“{shown}”")
    return ", ".join(parts) or "as set"


def as_fields(course: Course, found: Switchback) -> dict[str, Any]:
    """Return the same for programs."""
    message = course.begun.message
    fields = asdict(found)
    for name, variant in (("a", message.a), ("b", message.b)):
        of_variant = {"label": label(variant), **variant.as_fields()}
        fields[name] = {**of_variant, **fields[name]}
    return {
        "v": 1,
        "experiment_id": message.experiment_id,
        "title": message.title,
        "by": message.by,
        "washout_s": message.washout_s,
        "silence": message.silence,
        "with_silence": {f"{v:g}": each for v, each in silences(course, found).items()},
        "started_at": course.begun.at,
        "stopped_at": course.stopped_at,
        **fields,
        "may_stop": found.may_stop,
        "session_outcomes": [asdict(each) for each in judge(course.sessions)],
    }


def session_judgement(found: SessionJudgement, by: str) -> RenderableType:
    """Return what whole sessions came to; its direction is that of the numbers."""
    units = counted(found.units, by)
    if found.estimate is None or found.low is None or found.high is None:
        return f"{found.name}  no interval yet ({units})"
    low, high = f"{found.low:+,.4g}", f"{found.high:+,.4g}"
    return text(
        f"{found.name}  {found.estimate:+,.4g}   {low} to {high}   ",
        verdict(found.verdict),
        f" ({found.better} is better; {units})",
    )


def _life(course: Course, now: datetime) -> str:
    begun = f"{course.begun.at:%Y-%m-%d %H:%M}"
    if course.stopped_at is not None:
        return f"from {begun} to {course.stopped_at:%Y-%m-%d %H:%M}, stopped"
    return f"runs since {begun}, {_duration(now - course.begun.at)}"


def _duration(span: timedelta) -> str:
    minutes = max(0, round(span.total_seconds() / 60))
    for size, unit in ((1440, "day"), (60, "hour")):
        # From two units on: "1 day" would hide up to 47 hours.
        if minutes >= 2 * size:
            return counted(minutes // size, unit)
    return counted(minutes, "minute")


def _side(name: VariantName, variant: Variant, side: Side, by: str) -> tuple[str, ...]:
    mean = "-" if side.mean is None else figure(side.mean)
    units, decisions = counted(side.units, by), counted(side.decisions, "decision")
    return name, label(variant), mean, units, decisions


def _difference(difference: Difference | None, by: str) -> str:
    if difference is None:
        return f"no {by} has a value yet"
    if difference.low is None or difference.high is None:
        return f"{_signed(difference.estimate)}   no interval yet"
    low, high = _signed(difference.low), _signed(difference.high)
    # A confidence sequence: its coverage holds at all looks together.
    sure = f"{1 - difference.alpha:.0%}"
    return (
        f"{_signed(difference.estimate)}   {low} to {high}"
        f"   ({sure} at all looks together: look as often as you like)"
    )


def _left_out(found: Switchback, by: str) -> str:
    return (
        f"{found.washout_share:.0%} of decisions in washout,"
        f" {found.unknown_share:.0%} of the others with no known outcome,"
        f" {counted(found.unfinished, by)} not over"
    )


def _silence(course: Course, found: Switchback) -> str:
    """Return what silence counts, how much of each side that is, and what hangs on it."""
    counts = f"counts {course.begun.message.silence:g}"
    shares = [
        f"{side.silent / side.decisions:.0%} of {name}'s outcomes"
        for name, side in (("a", found.a), ("b", found.b))
        if side.silent
    ]
    if not shares:
        return f"{counts}; no outcome is that"
    said = f"{counts}: {' and '.join(shares)}"
    others = [
        f"at {value:g} it would be {verdict}"
        for value, verdict in silences(course, found).items()
        if verdict != found.verdict
    ]
    return "; ".join((said, *(others or ["no other value tried changes the verdict"])))


def silences(course: Course, found: Switchback) -> dict[float, str]:
    """Return the verdict under other values of silence; empty where none counts."""
    if not found.a.silent and not found.b.silent:
        return {}
    return {
        value: analyse(with_silence(course.trials, value), course.open_unit).verdict
        for value in SILENCE_VALUES
        if value != course.begun.message.silence
    }


def _split(found: Switchback) -> str:
    return (
        f"{found.a.units} to {found.b.units};"
        f" a fair draw is as uneven in {found.chance_of_split:.0%} of cases"
    )


def _signed(value: float) -> str:
    return f"{value:+.2f}"
