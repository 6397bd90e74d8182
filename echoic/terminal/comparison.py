"""A comparison on one screen: facts, flips, gates, the verdict, and what to do next.

Pure, a document in and lines out; each number says what kind it is.
"""

from collections.abc import Iterator
from textwrap import wrap

from echoic.terminal.grid import grid
from echoic.terminal.text import PLAIN, Style, counted, fitted, visible
from evaluation.compare.document import (
    Choice,
    Comparison,
    Document,
    Fact,
    Flip,
    Headline,
)
from evaluation.ope.verdicts import CLAIMS
from replay.recording.session_outcomes import SessionSummary

WORST = 6
"""How many flips are shown."""

_STATUSES = {
    "ok": ("✓", "passed", ""),
    "caution": ("!", "passed with caution", "yellow"),
    "refused": ("✗", "not passed", "red"),
    "invalid": ("✗", "that find the log wrong", "red"),
}
"""How the gates of each status are shown: mark, words, colour."""
_COLOURS = {
    "BETTER": "green",
    "EQUIVALENT": "green",
    "WORSE": "red",
    "INVALID": "red",
}


def lines(document: Document, style: Style = PLAIN) -> Iterator[str]:
    """Yield the whole screen, line by line."""
    yield from _head(document, style)
    for comparison in document.comparisons:
        yield ""
        yield from _comparison(document, comparison, style)


def _head(document: Document, style: Style) -> Iterator[str]:
    challengers = ", ".join(each.challenger.label for each in document.comparisons)
    yield style.paint(f"{document.baseline.label}  →  {challengers}", "bold")
    decisions = sum(each.decisions for each in document.sessions)
    asked = sum(each.asked for each in document.sessions)
    yield (
        f"{counted(len(document.sessions), 'session')}, {counted(decisions, 'decision')},"
        f" a strategy was asked in {asked:,}   set {document.frozen}"
    )
    if document.watermark:
        yield style.paint(f"WATERMARK  {document.watermark}", "red")
    replayed = document.self_replay
    mark = "✓" if replayed.is_identical else "✗"
    yield (
        f"{mark} self-replay: {replayed.identical:,}/{replayed.total:,} outputs identical"
    )
    if replayed.divergence is not None:
        first = replayed.divergence
        place = "" if first.index is None else f", output {first.index}"
        field = "" if first.path is None else f" {first.path}"
        yield (
            f"  first divergence: session {first.session}, input"
            f" {first.sequence}{place}: {first.what}{field}"
        )
    yield from wrap(_outcome_line(document), style.width, subsequent_indent="  ")
    if document.session_outcomes:
        told = "; ".join(map(_session_outcome, document.session_outcomes))
        line = f"whole sessions, which no verdict below judges: {told}"
        yield from wrap(line, style.width, subsequent_indent="  ")


def _outcome_line(document: Document) -> str:
    outcome = document.outcome
    total = outcome.known + outcome.unknown + outcome.censored
    sources = ", ".join(f"{name} {n}" for name, n in outcome.by_source.items() if n)
    return (
        f"outcomes: {outcome.known:,} of {total:,} known ({sources or 'none'}),"
        f" {outcome.censored:,} cut off; silence counts {outcome.silence:g};"
        f" {outcome.feedback_rate:.0%} of answers were voted on"
    )


def _session_outcome(found: SessionSummary) -> str:
    if found.mean is None:
        return f"{found.name} unknown"
    unit = " s" if found.measure == "duration" else ""
    error = "" if found.se is None else f" ± {found.se:,.3g}"
    cut_off = f", {found.censored:,} cut off" if found.censored else ""
    sessions = counted(found.sessions, "session")
    return f"{found.name} {found.mean:,.4g}{error}{unit} ({sessions}{cut_off})"


def _comparison(
    document: Document, comparison: Comparison, style: Style
) -> Iterator[str]:
    # With one challenger its name stands in the first line already.
    if len(document.comparisons) > 1:
        yield style.paint(comparison.challenger.label, "bold")
    rows = (*map(fact_row, comparison.facts), *map(_headline, comparison.headline))
    yield from grid(("¶", ">baseline", ">challenger", ">¶Δ", "¶kind"), rows, style)
    yield ""
    yield from _gates(comparison, style)
    yield from _verdict(comparison, style)
    yield ""
    yield from _flips(comparison, style)
    for each in comparison.next:
        yield from wrap(
            f"→ {each}", style.width, subsequent_indent="  ", break_on_hyphens=False
        )


def fact_row(fact: Fact) -> tuple[str, ...]:
    """Return one fact as it stands in the table; a range is that of the difference."""
    delta = "" if fact.delta is None else _amount(fact.delta, fact.unit, signed=True)
    # The range is that of the challenger's value; less the baseline it is one of the
    # difference.
    if fact.low is not None and fact.high is not None and fact.baseline is not None:
        low, high = (
            _amount(end - fact.baseline, fact.unit, signed=True)
            for end in (fact.low, fact.high)
        )
        delta = f"{delta} ({low} to {high})"
    kind = fact.kind if fact.note is None else f"{fact.kind}: {fact.note}"
    sides = (_amount(each, fact.unit) for each in (fact.baseline, fact.challenger))
    return fact.label, *sides, delta, kind


def _headline(row: Headline) -> tuple[str, ...]:
    delta = "" if row.delta is None else f"{row.delta:+.3f}"
    if row.ci is not None:
        delta += f" [{row.ci[0]:+.3f}, {row.ci[1]:+.3f}]"
    more = [f"{key.upper()} {v:+.3f}" for key, v in row.extra.items() if v is not None]
    notes = [*more, *([row.note] if row.note else [])]
    kind = f"{row.kind}: {', '.join(notes)}" if notes else row.kind
    return row.label, _value(row.baseline), _value(row.challenger), delta.strip(), kind


def _gates(comparison: Comparison, style: Style) -> Iterator[str]:
    """Yield the gates' names alone: details of those not passed stand at the verdict."""
    gates = comparison.estimate["difference"]["gates"]
    for status, (mark, words, colour) in _STATUSES.items():
        names = ", ".join(
            gate["name"].replace("_", " ") for gate in gates if gate["status"] == status
        )
        if names:
            text = f"{mark} gates {words}: {names}"
            for line in wrap(text, style.width, subsequent_indent="  "):
                yield style.paint(line, colour) if colour else line


def _verdict(comparison: Comparison, style: Style) -> Iterator[str]:
    colour = _COLOURS.get(comparison.verdict, "yellow")
    # Only a claim can claim too much; the other verdicts need no restriction.
    is_capped = comparison.short_term_only and comparison.verdict in CLAIMS
    short = "  short-term only" if is_capped else ""
    yield style.paint(f"VERDICT  {comparison.verdict}{short}", colour)
    yield from wrap(comparison.estimand, style.width, initial_indent="  ",
                    subsequent_indent="  ")  # fmt: skip
    for reason in comparison.reasons:
        yield from wrap(
            f"  · {reason['detail']}", style.width, subsequent_indent="    "
        )
    if comparison.holm is not None:
        p, adjusted = comparison.holm["p"], comparison.holm["adjusted"]
        yield f"  p = {p:.3g}, adjusted for several challengers {adjusted:.3g}"


def _flips(comparison: Comparison, style: Style) -> Iterator[str]:
    total, listed = comparison.flips_total, comparison.flip_decisions
    if not listed:
        yield "no decision flips"
        return
    counts = ", ".join(
        f"{_count(comparison.flip_counts[status])} {status}"
        for status in ("regressed", "improved", "unobserved", "unsupported")
        if status in comparison.flip_counts
    )
    # Flips of a stochastic strategy count for their probability, so the sum is a fraction.
    drawn = "" if total == listed else f" expected, in {counted(listed, 'decision')}"
    noun = "flip" if total == 1 else "flips"
    yield f"{_count(total)} {noun}{drawn}: {counts}"
    for flip in comparison.flips[:WORST]:
        yield from _flip(flip, style)
    if listed > WORST:
        yield style.paint(f"  … {listed - WORST:,} more: --report or --json", "dim")


def _count(flips: float) -> str:
    return f"{flips:,}" if isinstance(flips, int) else f"{flips:,.1f}"


def _flip(flip: Flip, style: Style) -> Iterator[str]:
    seen = "never observed"
    if flip.outcome is not None:
        whose = f"{flip.outcome_of}'s" if flip.outcome_of else "another arm's"
        seen = f"{whose} outcome {flip.outcome:g} ({flip.outcome_from})"
    tail = f"p {flip.logged.challenger_probability:g}, {seen}"
    what = f"{flip.session}#{flip.sequence} {flip.text}"
    # 17 columns: two of indent, twelve of the status, and the spaces between.
    room = style.width - len(tail) - 17
    yield f"  {flip.status:<12} {fitted(what, room)}  {tail}"
    half = (style.width - 9) // 2
    ours, theirs = fitted(_side(flip.baseline), half), _side(flip.challenger)
    yield style.paint(f"    {ours.rstrip()}  →  {fitted(theirs, half).rstrip()}", "dim")


def _side(choice: Choice) -> str:
    if choice.text is not None:
        return f"{visible(choice.name or choice.arm_class)} “{visible(choice.text)}”"
    return f"{choice.arm_class} (text unknown)" if choice.content_unknown else "silent"


def _value(value: float | None) -> str:
    return "-" if value is None else f"{value:.3f}"


def _amount(value: float | None, unit: str, *, signed: bool = False) -> str:
    if value is None:
        return "-"
    sign = "+" if signed else ""
    if unit == "ms":
        # What rounds to nothing has no sign of its own.
        value = round(value) + 0.0
    match unit:
        case "share":
            return f"{100 * value:{sign}.1f} %"
        case "ms":
            return f"{value:{sign},.0f} ms"
        case "USD":
            return f"{'+' if signed and value >= 0 else ''}${value:,.4f}"
        case _:
            # Counts may be floats after averaging; only true fractions show decimals.
            whole = float(value).is_integer()
            return f"{value:{sign},.0f}" if whole else f"{value:{sign},.2f}"
