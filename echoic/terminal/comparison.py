"""A comparison on one screen: facts, flips, gates, the verdict, and what to do next.

Pure; each number says what kind it is.
"""

from collections.abc import Iterator, Sequence

from rich.console import RenderableType
from rich.padding import Padding
from rich.table import Column, Table

from echoic.terminal.screen import counted, indented, marked, number, table, text, words
from echoic.terminal.verdicts import GATES, reason_line, verdict_line
from evaluation.compare.document import (
    Choice,
    Comparison,
    Document,
    Fact,
    Flip,
    Headline,
)
from evaluation.compare.sayings import Utterance

_WORST = 6
"""How many flips are shown."""

_PASSED = {
    "ok": "passed",
    "caution": "passed with caution",
    "refused": "not passed",
    "invalid": "that find the log wrong",
}
"""What is said of the gates of each status."""


def screen(document: Document) -> Iterator[RenderableType]:
    """Yield the whole screen."""
    yield from _head(document)
    for comparison in document.comparisons:
        yield ""
        # With one challenger its name stands in the first line already.
        if len(document.comparisons) > 1:
            yield text((comparison.challenger.label, "bold"))
        yield from _comparison(comparison, document.whole_sessions)


def _head(document: Document) -> Iterator[RenderableType]:
    challengers = ", ".join(each.challenger.label for each in document.comparisons)
    yield text((f"{document.baseline.label}  →  {challengers}", "bold"))
    decisions = sum(each.decisions for each in document.sessions)
    asked = sum(each.asked for each in document.sessions)
    yield (
        f"{counted(len(document.sessions), 'session')}, {counted(decisions, 'decision')},"
        f" a strategy was asked in {asked:,}   set {document.frozen}"
    )
    if document.watermark:
        yield text((f"WATERMARK  {document.watermark}", "red"))
    replayed = document.self_replay
    mark = GATES["ok" if replayed.is_identical else "invalid"]
    identical = f"{replayed.identical:,}/{replayed.total:,}"
    yield marked(mark, f"self-replay: {identical} outputs identical")
    if replayed.divergence is not None:
        first = replayed.divergence
        place = "" if first.index is None else f", output {first.index}"
        field = "" if first.path is None else f" {first.path}"
        yield indented(
            2,
            f"first divergence: session {first.session}, input"
            f" {first.sequence}{place}: {first.what}{field}",
        )
    yield marked("outcomes:", _outcomes(document))


def _outcomes(document: Document) -> str:
    outcome = document.outcome
    total = outcome.known + outcome.unknown + outcome.censored
    sources = ", ".join(f"{name} {n}" for name, n in outcome.by_source.items() if n)
    return (
        f"{outcome.known:,} of {total:,} known ({sources or 'none'}),"
        f" {outcome.censored:,} cut off; silence counts {outcome.silence:g};"
        f" {outcome.feedback_rate:.0%} of answers were voted on"
    )


def _comparison(
    comparison: Comparison, whole_sessions: Sequence[str]
) -> Iterator[RenderableType]:
    delta = Column("Δ", justify="right", overflow="fold")
    header = (words(), number("baseline"), number("challenger"), delta, words("kind"))
    rows = (*map(fact_row, comparison.facts), *map(_headline, comparison.headline))
    yield table(header, rows)
    yield ""
    for status, passed in _PASSED.items():
        # The names alone: details of those not passed stand at the verdict.
        names = ", ".join(
            gate.name.replace("_", " ")
            for gate in comparison.estimate.difference.gates
            if gate.status == status
        )
        if names:
            yield marked(GATES[status], f"gates {passed}: {names}")
    yield verdict_line(comparison.verdict, comparison.reasons, comparison.whom)
    yield indented(2, comparison.estimand)
    gates = comparison.estimate.difference.gates
    for reason in comparison.reasons:
        yield reason_line(reason, gates, has_code=False)
    if comparison.holm is not None:
        p, adjusted = comparison.holm.p, comparison.holm.adjusted
        yield f"  p = {p:.3g}, adjusted for several challengers {adjusted:.3g}"
    for each in whole_sessions[:1]:
        yield indented(2, each)
    for each in whole_sessions[1:]:
        yield marked("·", each, indent=4)
    yield ""
    yield from _flips(comparison)
    yield from _sayings(comparison)
    for each in comparison.next:
        yield marked("→", each)


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
    sides = ("-" if v is None else f"{v:.3f}" for v in (row.baseline, row.challenger))
    return row.label, *sides, delta.strip(), kind


def _flips(comparison: Comparison) -> Iterator[RenderableType]:
    total, listed = comparison.flips_total, comparison.flip_decisions
    if not listed:
        if not any(each.code == "nothing_asked" for each in comparison.reasons):
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
    for flip in comparison.flips[:_WORST]:
        yield from _flip(flip)
    if listed > _WORST:
        yield text((f"  … {listed - _WORST:,} more: --report or --json", "dim"))


def _sayings(comparison: Comparison) -> Iterator[RenderableType]:
    """Yield what another voice says otherwise; nothing if there is none."""
    if not comparison.sayings:
        return
    yield f"{comparison.sayings_total:,} said otherwise, or by one alone:"
    for each in comparison.sayings[:_WORST]:
        yield indented(
            2, f"{each.kind:<10} {each.session}#{each.sequence} {each.event}"
        )
        yield text((f"    {_uttered(each.baseline)}", "dim"))
        yield text((f"    → {_uttered(each.challenger)}", "dim"))
    if comparison.sayings_total > _WORST:
        more = comparison.sayings_total - _WORST
        yield text((f"  … {more:,} more: --json", "dim"))


def _uttered(found: Utterance | None) -> str:
    if found is None:
        return "no such occasion"
    if found.silence is not None:
        return f"silent: {found.silence.replace('_', ' ')}"
    return "text unknown" if found.text is None else f"“{found.text}”"


def _count(flips: float) -> str:
    return f"{flips:,}" if isinstance(flips, int) else f"{flips:,.1f}"


def _flip(flip: Flip) -> Iterator[RenderableType]:
    seen = "never observed"
    if flip.outcome is not None:
        whose = f"{flip.outcome_of}'s" if flip.outcome_of else "another arm's"
        seen = f"{whose} outcome {flip.outcome:g} ({flip.outcome_from})"
    line = _line(Column(width=11), Column(ratio=1), Column(justify="right"))
    line.add_row(
        flip.status,
        text(f"{flip.session}#{flip.sequence} {flip.text}"),
        text(f"p {flip.logged.challenger_probability:g}, {seen}"),
    )
    yield Padding(line, (0, 0, 0, 2))
    sides = _line(Column(ratio=1), Column(), Column(ratio=1))
    sides.style = "dim"
    sides.add_row(text(_side(flip.baseline)), "→", text(_side(flip.challenger)))
    yield Padding(sides, (0, 0, 0, 4))
    if flip.compare_url is not None:
        yield indented(4, flip.compare_url)


def _line(*columns: Column) -> Table:
    """Return a table for one line of the terminal's width, in which texts are cut."""
    for column in columns:
        column.no_wrap = True
    return Table.grid(*columns, padding=(0, 2, 0, 0), expand=True)


def _side(choice: Choice) -> str:
    if choice.text is not None:
        return f"{choice.name or choice.arm_class} “{choice.text}”"
    return f"{choice.arm_class} (text unknown)" if choice.content_unknown else "silent"


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
