"""Decisions in which the two strategies differ: the matrix, and each flip as data."""

from collections import Counter
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

from echoic.web.environment import brief, readable
from echoic.web.report.format import (
    CLASSES,
    arm_name,
    class_name,
    label,
    moment,
    number,
    signed,
)
from evaluation.compare.document import Choice, Comparison, Flip, GatePart

_ARM_SHOWN = 600
_TEXT_SHOWN = 4000
"""Longer texts are cut in the page; the document has them whole."""

STATUSES = {
    "regressed": ("▼", "regressed", "Away from what went well, or to what went badly."),
    "improved": ("▲", "improved", "Away from what went badly, or to what went well."),
    "unobserved": ("◌", "unobserved", "What would have come of it was not seen."),
    "unsupported": ("∅", "unsupported", "The recording could not have done it at all."),
}
"""How the page shows each status of a flip: symbol, word, meaning."""


@dataclass(frozen=True, slots=True)
class _Cell:
    """How many decisions one side's class of arm and the other's meet in."""

    ours: str
    theirs: str
    count: float
    heat: int
    """How strongly it is coloured, in per cent."""
    flips: int


@dataclass(frozen=True, slots=True)
class _Matrix:
    """Who did what against who would have: each cell a filter of the list."""

    classes: tuple[str, ...]
    asked: float
    rows: tuple[tuple[_Cell, ...], ...]


def matrix(comparison: Comparison) -> _Matrix:
    """Return the matrix of a comparison, over the classes that occur in it."""
    counts = {
        (each.baseline, each.challenger): each.count for each in comparison.matrix
    }
    flips = Counter(
        (each.baseline.arm_class, each.challenger.arm_class)
        for each in comparison.flips
    )
    seen = tuple(name for name in CLASSES if any(name in pair for pair in counts))
    most = max(counts.values(), default=1) or 1

    def cell(ours: Any, theirs: Any) -> _Cell:
        count = counts.get((ours, theirs), 0)
        # The root: one full cell must not leave all others as pale as empty ones.
        heat = round(100 * (count / most) ** 0.5)
        return _Cell(ours, theirs, count, heat, flips[ours, theirs])

    rows = tuple(tuple(cell(ours, theirs) for theirs in seen) for ours in seen)
    return _Matrix(seen, sum(counts.values()), rows)


def row(flip: Flip) -> dict[str, Any]:
    """Return one flip as the page's script reads it, texts escaped, numbers formatted."""
    baseline, challenger = flip.baseline, flip.challenger
    whose = {"baseline": " of A's arm", "challenger": " of B's arm"}
    seen = number(flip.outcome) + whose.get(flip.outcome_of or "", "")
    seen += f" (from {flip.outcome_from})" if flip.outcome_from else ""
    odds = flip.logged.probability, flip.logged.challenger_probability
    return {
        "id": flip.decision,
        "status": flip.status,
        "classes": f"{baseline.arm_class} {challenger.arm_class}",
        "where": readable(f"{brief(flip.session)} #{flip.sequence}"),
        "at": moment(flip.at),
        "kind": readable(f"{brief(flip.source)} · {brief(flip.type)}"),
        "text": _shortened(flip.text),
        "a": _side(baseline),
        "b": _side(challenger) | {"unknown": challenger.content_unknown},
        "taken": _taken(flip),
        "logged": [number(each) for each in odds],
        "outcome": None if flip.outcome is None else seen,
        "why": [_gate(gate) for gate in flip.explanation],
        "traces": flip.compare_url,
    }


def _taken(flip: Flip) -> str:
    """Say whose arm was really taken: exploration may take either, or a third."""
    taken = flip.logged.arm
    match flip.baseline.arm == taken, flip.challenger.arm == taken:
        case True, True:
            return "the arm of both"
        case True, False:
            return "A's arm"
        case False, True:
            return "B's arm"
        case _:
            return f"another arm ({readable(arm_name(taken))})"


def _side(choice: Choice) -> dict[str, Any]:
    return {
        "class": class_name(choice.arm_class),
        "arm": readable(brief(choice.arm, _ARM_SHOWN)),
        "name": readable(choice.name or arm_name(choice.arm)),
        "text": _shortened(choice.text),
    }


def _gate(gate: GatePart) -> list[Any]:
    """Return whose gate it is, whether it passed, its name, the comparison, the margin."""
    value, threshold, test = gate.value, gate.threshold, ""
    if value is not None:
        sign = "" if threshold is None else " ≥ " if value >= threshold else " < "
        test = number(value) + sign + (number(threshold) if sign else "")
    margin = "" if gate.margin is None else signed(gate.margin)
    return [gate.whose, gate.passed, label(readable(gate.gate)), test, margin]


def _shortened(text: str | None) -> str | None:
    if text is None:
        return None
    cut = len(text) - _TEXT_SHOWN
    if cut <= 0:
        return readable(text)
    return f"{readable(text[:_TEXT_SHOWN])}… (and {cut:,} more characters)"


FILTERS: dict[str, Callable[..., Any]] = {"matrix": matrix, "flip_row": row}
