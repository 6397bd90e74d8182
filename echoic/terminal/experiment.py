"""A live experiment on one screen: both variants, the difference, and what follows.

Pure, what was found in and lines out; what is left out is told.
"""

from collections.abc import Iterator
from dataclasses import asdict
from datetime import datetime, timedelta
from typing import Any

from echoic.terminal.grid import grid
from echoic.terminal.text import PLAIN, Style, counted, figure, visible
from evaluation.experiments.session_trials import SessionJudgement, judge
from evaluation.experiments.switchback import Difference, Side, Switchback
from evaluation.experiments.trials import Course
from handlers.mind.strategies import spec
from schemas.messages.experiments import Variant, VariantName

_COLOURS = {"BETTER": "green", "EQUIVALENT": "green", "WORSE": "red", "INVALID": "red"}
_MEANINGS = {
    "BETTER": "b is better than a",
    "WORSE": "b is worse than a",
    "EQUIVALENT": "it makes no difference that matters",
    "INCONCLUSIVE": "not to be told yet",
    "INVALID": "the experiment itself is at fault",
}
_PERSONALITY_CHARACTERS = 40


def lines(
    course: Course, found: Switchback, now: datetime, style: Style = PLAIN
) -> Iterator[str]:
    """Yield the whole screen, line by line."""
    message = course.begun.message
    name = style.paint(message.title or message.experiment_id, "bold")
    yield f"{name}   {_life(course, now)}"
    yield ""
    sides = (
        _side("a", message.a, found.a, message.by),
        _side("b", message.b, found.b, message.by),
    )
    yield from grid(("", "~", ">", ">", ">"), sides, style)
    yield ""
    yield f"b over a  {_difference(found.difference, message.by)}"
    yield from _verdict(found, style)
    for each in judge(course.sessions):
        yield session_judgement(each, message.by, style)
    yield ""
    yield style.paint(_left_out(found, message.by), "dim")
    yield style.paint(_split(found), "dim")


def label(variant: Variant) -> str:
    """Return what a variant is, in a few words."""
    parts = []
    if variant.strategy is not None:
        parts.append(spec.text_of(variant.strategy))
    if variant.personality is not None:
        flat = " ".join(variant.personality.split())
        cut = flat[: _PERSONALITY_CHARACTERS - 1] + "…"
        parts.append(f"“{flat if len(flat) <= _PERSONALITY_CHARACTERS else cut}”")
    return ", ".join(parts) or "as set"


def as_fields(course: Course, found: Switchback) -> dict[str, Any]:
    """Return the same for programs."""
    message = course.begun.message
    difference = found.difference
    return {
        "v": 1,
        "experiment_id": message.experiment_id,
        "title": message.title,
        "by": message.by,
        "washout_s": message.washout_s,
        "started_at": course.begun.at,
        "stopped_at": course.stopped_at,
        "a": _side_fields(message.a, found.a),
        "b": _side_fields(message.b, found.b),
        "difference": None if difference is None else _difference_fields(difference),
        "chance_of_split": found.chance_of_split,
        "washout_share": found.washout_share,
        "unknown_share": found.unknown_share,
        "unfinished": found.unfinished,
        "verdict": found.verdict,
        "may_stop": found.may_stop,
        "reasons": [
            {"code": each.code, "detail": each.detail} for each in found.reasons
        ],
        "session_outcomes": [asdict(each) for each in judge(course.sessions)],
    }


def session_judgement(found: SessionJudgement, by: str, style: Style = PLAIN) -> str:
    """Return what whole sessions came to; its direction is that of the numbers."""
    verdict = style.paint(found.verdict, _COLOURS.get(found.verdict, "yellow"))
    units = counted(found.units, by)
    if found.estimate is None or found.low is None or found.high is None:
        return f"{found.name}  no interval yet ({units})"
    low, high = f"{found.low:+,.4g}", f"{found.high:+,.4g}"
    return (
        f"{found.name}  {found.estimate:+,.4g}   {low} to {high}   {verdict}"
        f" ({found.better} is better; {units})"
    )


def _life(course: Course, now: datetime) -> str:
    begun = f"{course.begun.at:%Y-%m-%d %H:%M}"
    if course.stopped_at is not None:
        return f"from {begun} to {course.stopped_at:%Y-%m-%d %H:%M}, stopped"
    return f"runs since {begun}, {_lasting(now - course.begun.at)}"


def _lasting(span: timedelta) -> str:
    minutes = max(0, round(span.total_seconds() / 60))
    for size, unit in ((1440, "day"), (60, "hour")):
        # From two units on: "1 day" would hide up to 47 hours.
        if minutes >= 2 * size:
            return counted(minutes // size, unit)
    return counted(minutes, "minute")


def _side(name: VariantName, variant: Variant, side: Side, by: str) -> tuple[str, ...]:
    mean = "-" if side.mean is None else figure(side.mean)
    units, decisions = counted(side.units, by), counted(side.decisions, "decision")
    return name, visible(label(variant)), mean, units, decisions


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


def _verdict(found: Switchback, style: Style) -> Iterator[str]:
    colour = _COLOURS.get(found.verdict, "yellow")
    painted = style.paint(found.verdict, colour)
    details = "; ".join(each.detail for each in found.reasons)
    yield f"{painted}   {_MEANINGS[found.verdict]}: {details}"
    if found.may_stop:
        yield "→ echoic ab stop"


def _left_out(found: Switchback, by: str) -> str:
    return (
        f"left out  {found.washout_share:.0%} of decisions in washout,"
        f" {found.unknown_share:.0%} of the others with no known outcome,"
        f" {counted(found.unfinished, by)} not over"
    )


def _split(found: Switchback) -> str:
    return (
        f"split     {found.a.units} to {found.b.units};"
        f" a fair draw is as uneven in {found.chance_of_split:.0%} of cases"
    )


def _signed(value: float) -> str:
    return f"{value:+.2f}"


def _side_fields(variant: Variant, side: Side) -> dict[str, Any]:
    return {
        "label": label(variant),
        **variant.model_dump(exclude_none=True),
        "units": side.units,
        "counted": side.counted,
        "decisions": side.decisions,
        "mean": side.mean,
    }


def _difference_fields(difference: Difference) -> dict[str, Any]:
    return {
        "estimate": difference.estimate,
        "low": difference.low,
        "high": difference.high,
        "alpha": difference.alpha,
    }
