"""An estimate on one screen: values, gates, the verdict, and what to do next.

Pure, an estimate in and lines out; each number says what kind it is, and what a
gate holds back is not shown as a value.
"""

from collections.abc import Callable, Iterator

from echoic.terminal.grid import grid
from echoic.terminal.text import PLAIN, Style
from evaluation.ope.gates import Gate
from evaluation.ope.results import Estimate
from evaluation.ope.verdicts import CLAIMS, Verdict

_MARKS = {"ok": ("✓", "green"), "caution": ("!", "yellow")}
_REFUSED = ("✗", "red")
_VERDICTS = {
    Verdict.BETTER: "green",
    Verdict.EQUIVALENT: "green",
    Verdict.WORSE: "red",
    Verdict.INVALID: "red",
}


def lines(
    estimate: Estimate, file: str, style: Style = PLAIN, *, all_shown: bool = False
) -> Iterator[str]:
    """Yield the whole screen; `all_shown` gives what a gate holds back, in brackets."""
    difference = estimate.difference
    yield style.paint(f"{file}   {estimate.target.n:,} decisions", "bold")
    yield ""
    header = ("", ">baseline", ">target", "difference", "kind")
    yield from grid(header, _values(estimate, all_shown), style)
    yield ""
    yield from grid(("", "¶"), (_gate(each, style) for each in difference.gates), style)
    yield ""
    colour = _VERDICTS.get(difference.verdict, "yellow")
    is_capped = difference.short_term_only and difference.verdict in CLAIMS
    short = "  short-term only" if is_capped else ""
    yield style.paint(f"VERDICT  {difference.verdict}{short}", colour)
    for reason in difference.reasons:
        yield f"  · {reason.detail}  ({reason.code})"
    yield ""
    yield f"→ {_next(difference.verdict, file)}"


def _values(estimate: Estimate, all_shown: bool) -> Iterator[tuple[str, ...]]:
    target, baseline = estimate.target, estimate.baseline
    difference = estimate.difference
    of_baseline, of_target, of_both = (
        _guard(part.withheld, all_shown) for part in (baseline, target, difference)
    )
    for name in ("dr", "snips", "ips"):
        # Doubly robust first: the verdict rests on it; the others show whether they agree.
        delta = _signed(getattr(difference, name))
        if name == "dr" and difference.ci is not None:
            delta += f" {_range(difference.ci, _signed)}"
        yield (
            f"value, {name.upper()}",
            of_baseline(_plain(getattr(baseline, name))),
            of_target(_plain(getattr(target, name))),
            of_both(delta),
            "estimated",
        )
    dm = (target.dm, baseline.dm)
    yield (
        "value, DM",
        of_baseline(_plain(baseline.dm)),
        of_target(_plain(target.dm)),
        of_both("-" if dm[0] is None or dm[1] is None else _signed(dm[0] - dm[1])),
        "predicted, decides nothing",
    )
    yield (
        "bounds",
        _range(baseline.bounds, _plain),
        _range(target.bounds, _plain),
        _range(difference.bounds, _signed),
        "holds whatever was not seen",
    )
    yield "decides otherwise", "", "", f"{difference.flip_share:.1%}", "fact"


_Guard = Callable[[str], str]


def _guard(withheld: bool, all_shown: bool) -> _Guard:
    """Return how to show a number of one side, or of the difference."""
    # Bounds are never withheld: they hold for whatever was not seen.
    if not withheld:
        return _as_it_is
    return _in_brackets if all_shown else _held_back


def _as_it_is(text: str) -> str:
    return text


def _held_back(text: str) -> str:
    return text if text == "-" else "held back"


def _in_brackets(text: str) -> str:
    return text if text == "-" else f"({text})"


def _plain(value: float | None) -> str:
    return "-" if value is None else f"{value:.3f}"


def _signed(value: float | None) -> str:
    return "-" if value is None else f"{value:+.3f}"


def _range(ends: tuple[float, float], shown: Callable[[float | None], str]) -> str:
    return f"[{shown(ends[0])}, {shown(ends[1])}]"


def _gate(gate: Gate, style: Style) -> tuple[str, ...]:
    mark, colour = _MARKS.get(gate.status, _REFUSED)
    name = gate.name.replace("_", " ")
    return f"{style.paint(mark, colour)} {name}", gate.detail


def _next(verdict: Verdict, file: str) -> str:
    match verdict:
        case Verdict.INVALID:
            return (
                "find out how p came about: it must be the probability with which the"
                " arm that was taken was drawn"
            )
        case Verdict.NOT_ENOUGH_OVERLAP:
            return (
                "where the two differ, let the lot play the target's arm now and then,"
                f" and log p; how often: echoic replay plan {file}"
            )
        case Verdict.INCONCLUSIVE:
            return f"log more decisions; how many: echoic replay plan {file}"
        case _:
            return (
                "this holds of single decisions, in the situations of this log; what"
                " would follow from them only a live comparison shows"
            )
