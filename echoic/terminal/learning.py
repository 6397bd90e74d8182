"""What learning did, on one screen: shares over time, trust against truth, and credit.

Pure; it reads the same without colour.
"""

from collections.abc import Callable, Iterator, Mapping, Sequence

from rich.console import RenderableType

from echoic.client.names import named
from echoic.terminal.screen import (
    PLAIN,
    Terminal,
    bar,
    counted,
    cut,
    indented,
    number,
    pairs,
    table,
    text,
    words,
)
from evaluation.learning.credit_audit import RULES, Fault
from evaluation.learning.differences import Difference
from evaluation.learning.heuristics_at import Known
from evaluation.learning.history import LearningHistory
from evaluation.learning.near_misses import THRESHOLDS, NearMisses
from evaluation.learning.periods import Mean, Period
from evaluation.learning.summary import Report
from evaluation.learning.time_to_trust import Rise
from evaluation.ope.calibration import LEAST_PAIRS, Calibration

_PERIODS, _RISES, _FAULTS, _COUNTS, _MISSES = 24, 10, 8, 12, 20
"""How much of each list is shown; all of it is in `--json`."""

_MARGIN = 14
"""Columns of the names at the left."""

_LEGEND = {
    "S1, S2": "what was learnt, and the model",
    "like": "how alike event and condition were",
    "trust": "what was believed then",
    "came true": "by what credited it, of so many",
    "worth": "as `echoic replay compare` values it",
}


def report(found: Report, terminal: Terminal = PLAIN) -> Iterator[RenderableType]:
    """Yield the learning report."""
    total = found.total
    yield text(
        (f"what {', '.join(found.agents)} learnt", "bold"),
        f"   {counted(found.sessions, 'session')},"
        f" {counted(total.decisions, 'decision')},"
        f" {total.began_at:%Y-%m-%d %H:%M} to {total.ended_at:%Y-%m-%d %H:%M}",
    )
    yield ""
    # The latest ones: what learning does now is what is asked for.
    shown = found.periods[-_PERIODS:]
    if len(shown) < len(found.periods):
        yield f"{len(found.periods) - len(shown)} earlier: --json shows all"
    names = _NARROW_SUMS if terminal.is_narrow else _SUMS
    yield _sums("", (*shown, total), names)
    if found.voices:
        yield ""
        yield _sums("by personality", found.voices, names[1:])
    yield ""
    yield pairs(_LEGEND, 0)
    yield ""
    yield from _calibration(found.calibration, found.fires)
    yield ""
    yield from _rises(found.rises)
    yield from _formed(found)
    yield ""
    yield from _credit(found)


def near_misses(
    found: NearMisses, names: Mapping[str, str]
) -> Iterator[RenderableType]:
    """Yield what would have answered at each threshold, and what nearly did."""
    stands_in = "" if found.is_own else ", in place of one without a threshold"
    bias = f" {found.bias:+.2f} by its personality" if found.bias else ""
    yield text(
        (f"{found.strategy} at other thresholds", "bold"),
        f"   in force: {found.threshold:.2f}{bias}{stands_in}",
    )
    yield (
        f"{counted(found.decisions, 'decision')}: {found.gated:,} ended before any"
        f" candidate was weighed, {found.without_candidate:,} had none"
    )
    yield ""
    yield from _thresholds(found, names)
    yield ""
    yield from _missed(found, names)
    yield ""
    yield (
        f"only what was like its condition by {found.match_limit:.2f} or more was weighed,"
        " ten at most: what was less alike would not have answered at any threshold"
    )


def difference(
    one: LearningHistory, other: LearningHistory, found: Sequence[Difference]
) -> Iterator[RenderableType]:
    """Yield what changed between the ends of two sessions."""
    yield text((f"{_named(one)}  →  {_named(other)}", "bold"))
    counts = ", ".join(
        f"{sum(each.sort == sort for each in found)} {sort}"
        for sort in ("new", "gone", "edited", "moved", "same")
    )
    yield f"{counted(len(found), 'heuristic')}: {counts}"
    changed = [each for each in found if each.sort != "same"]
    if not changed:
        yield "nothing changed"
        return
    yield ""
    header = (cut("heuristic"), "change", "trust", "fires", "right", "life")
    yield table(header, map(_changed, changed))


_SUMS = (
    "from", "decisions", "answers", "S1 share", "calls each", "like", "trust",
    "came true", "worth S1", "S2",
)  # fmt: skip
_NARROW_SUMS = ("from", "decisions", "S1 share", "came true", "worth S1")
"""The columns that fit a narrow terminal."""
_NUMBERS = ("decisions", "answers", "calls each", "like", "trust")


def _sums(what: str, periods: Sequence[Period], names: Sequence[str]) -> RenderableType:
    """Return the periods with the columns that have these names."""
    columns = (number(name) if name in _NUMBERS else name for name in names)
    rows = [(each.label, *map(_cells(each).__getitem__, names)) for each in periods]
    return table((cut(what), *columns), rows)


def _cells(each: Period) -> dict[str, str]:
    share = each.system_1_share
    return {
        "from": f"{each.began_at:%Y-%m-%d %H:%M}",
        "decisions": f"{each.decisions:,}",
        "answers": f"{each.answers:,}",
        "S1 share": "-" if share is None else f"{bar(share)} {share:4.0%}",
        "calls each": f"{each.calls_per_event:.3f}",
        "like": _figure(each.context_match),
        "trust": _figure(each.confidence),
        "came true": _of(each.success),
        "worth S1": _of(each.worth),
        "S2": _of(each.model_worth),
    }


def _figure(mean: Mean) -> str:
    return "-" if mean.value is None else f"{mean.value:.2f}"


def _of(mean: Mean) -> str:
    return "-" if mean.value is None else f"{mean.value:.2f} of {mean.n:,}"


def _calibration(found: Calibration | None, fires: int) -> Iterator[RenderableType]:
    if found is None:
        yield (
            f"calibration   {counted(fires, 'fire')} with a known end:"
            f" of fewer than {LEAST_PAIRS} nothing is said"
        )
        return
    fits = found.is_calibrated
    # The error is held against its null band: few pairs give an error even if calibrated.
    verdict = "no more than chance" if fits else "more than chance explains"
    skill = "-" if found.skill is None else f"{found.skill:+.3f}"
    yield text(
        f"calibration   error {found.error:.3f}, by chance alone"
        f" {found.null_band.mean:.3f}, up to {found.null_band.p95:.3f}: ",
        (verdict, "green" if fits else "yellow"),
    )
    yield indented(
        _MARGIN,
        f"Brier {found.brier:.3f}, skill {skill} over the base rate"
        f" {found.base_rate:.2f}, {counted(found.n, 'fire')} with a known end",
    )


def _rises(rises: Sequence[Rise]) -> Iterator[RenderableType]:
    if not rises:
        yield "threshold     no heuristic started below it"
        return
    reached = sum(each.reached_at is not None for each in rises)
    yield (
        f"threshold     {reached} of {counted(len(rises), 'heuristic')} got over"
        f" {rises[0].threshold:.2f}"
    )
    rows = ((each.name, _rise(each)) for each in rises[:_RISES])
    yield table((cut(), words()), rows, _MARGIN)
    if len(rises) > _RISES:
        yield indented(_MARGIN, f"and {len(rises) - _RISES} more: --json shows all")


def _formed(found: Report) -> Iterator[RenderableType]:
    refused = sum(found.refused.values())
    if found.formed or refused:
        reasons = ", ".join(f"{found.refused[each]} {each}" for each in found.refused)
        why = f" ({reasons})" if refused else ""
        yield (
            f"formed        {found.formed} of {counted(found.formed + refused, 'answer')}"
            f" that people liked, {refused} refused{why}"
        )
    if found.silences or found.kept:
        yield (
            f"silence       {counted(found.silences, 'heuristic')} that"
            f" {'says' if found.silences == 1 else 'say'} nothing formed, kept"
            f" {counted(found.kept, 'time')}"
        )
    # The latest alone: what is so now.
    for cause in found.trust[-1:]:
        yield f"trust         {named(cause.heuristic_id, found.names)}: {cause.what}"


def _rise(each: Rise) -> str:
    began = "before" if each.began_at is None else f"{each.began_at:%Y-%m-%d %H:%M}"
    start = f"{each.origin}, {began} at {each.began:.2f}"
    if each.reached_at is None:
        return f"{start}, now {each.confidence:.2f}"
    took = f"{counted(each.decisions or 0, 'decision')}"
    hours = "" if each.hours is None else f", {each.hours:.1f} hours"
    return f"{start}, over it after {took}{hours}, now {each.confidence:.2f}"


def _credit(found: Report) -> Iterator[RenderableType]:
    wrong = len(found.faults)
    yield text(
        "wrong credit  ",
        (f"{wrong} of {found.credits:,}", "red" if wrong else "green"),
        " signals, by the log alone",
    )
    for each in found.faults[:_FAULTS]:
        yield indented(_MARGIN, _fault(each, found.names))
    if wrong > _FAULTS:
        yield indented(_MARGIN, f"and {wrong - _FAULTS} more: --json shows all")


def _fault(each: Fault, names: Mapping[str, str]) -> str:
    name = named(each.heuristic_id, names)
    return f"input {each.sequence}, {name}: {RULES[each.rule]}; {each.detail}"


def _thresholds(
    found: NearMisses, names: Mapping[str, str]
) -> Iterator[RenderableType]:
    at = (number(f"at .{round(each * 10)}") for each in THRESHOLDS)
    all_ = ("all", *found.by_threshold, found.answered, "")
    rows = (
        (
            names.get(each.heuristic_id, each.heuristic_id),
            *each.by_threshold,
            each.answered,
            " to ".join(dict.fromkeys(f"{end:.2f}" for end in each.confidence)),
        )
        for each in found.counts[:_COUNTS]
    )
    yield table((cut(), *at, number("did"), "trust"), (all_, *rows))
    if len(found.counts) > _COUNTS:
        yield f"and {len(found.counts) - _COUNTS} more: --json shows all"


def _missed(found: NearMisses, names: Mapping[str, str]) -> Iterator[RenderableType]:
    if not found.misses:
        yield "no event came near"
        return
    header = ("when", cut("event"), cut("heuristic"), number("like"), number("trust"),
        "instead")  # fmt: skip
    rows = (
        (
            f"{each.at:%Y-%m-%d %H:%M:%S}",
            each.text,
            names.get(each.heuristic_id, each.heuristic_id),
            f"{each.similarity:.2f}",
            f"{each.confidence:.2f}",
            each.happened,
        )
        for each in found.misses[:_MISSES]
    )
    yield table(header, rows)
    if len(found.misses) > _MISSES:
        yield f"and {len(found.misses) - _MISSES} more: --json shows all"


def _named(history: LearningHistory) -> str:
    name = ", ".join(each or "no session" for each in history.sessions)
    return name if history.origin == "log" else f"{name} ({history.origin})"


def _changed(each: Difference) -> tuple[str, ...]:
    before, after = each.before, each.after
    trust = _pair(before, after, lambda known: f"{known.confidence:.2f}")
    moved = f" ({each.by:+.2f})" if each.by else ""
    fires = _pair(before, after, lambda known: str(known.fires))
    right = _pair(before, after, lambda known: str(known.successes))
    life = _pair(before, after, lambda known: str(known.life))
    return each.known.name, each.sort, trust + moved, fires, right, life


def _pair(
    before: Known | None, after: Known | None, shown: Callable[[Known], str]
) -> str:
    """Return what it was and what it is; once, if that is the same."""
    ends = [shown(each) if each else "-" for each in (before, after)]
    return ends[0] if ends[0] == ends[1] else " → ".join(ends)
