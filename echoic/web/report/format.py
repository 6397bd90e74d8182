"""How the report writes numbers, and what it calls things.

What is not known is never written as a number, and no sign is left to guess.
"""

import re
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import asdict, dataclass, replace
from math import isfinite
from os.path import commonprefix
from typing import Any, Literal

from echoic.web.environment import brief
from evaluation.compare.document import DivergencePart, Fact, Headline
from evaluation.ope.verdicts import Reason, is_opposed, of_what, standing

_UNKNOWN = "\N{EN DASH}"

Tone = Literal["good", "bad", "even", "open", "broken"]


@dataclass(frozen=True, slots=True)
class _Sign:
    """How a verdict or a gate shows: a symbol and words, besides the colour."""

    symbol: str
    words: str
    tone: Tone


_VERDICTS: Mapping[str, _Sign] = {
    "BETTER": _Sign("▲", "Better", "good"),
    "WORSE": _Sign("▼", "Worse", "bad"),
    "EQUIVALENT": _Sign("≈", "Equivalent", "even"),
    "INCONCLUSIVE": _Sign("◇", "Inconclusive", "open"),
    "NOT_ENOUGH_OVERLAP": _Sign("◌", "Not enough overlap", "open"),
    "INVALID": _Sign("✕", "Invalid", "broken"),
}

_STATUSES: Mapping[str, _Sign] = {
    "ok": _Sign("✓", "ok", "good"),
    "caution": _Sign("!", "caution", "open"),
    "refused": _Sign("✕", "refused", "bad"),
    "invalid": _Sign("⊘", "invalid", "broken"),
}

KINDS: Mapping[str, str] = {
    "fact": "It happens, whatever anything is worth.",
    "imputed": "Partly filled in where the recording has no answer.",
    "observed": "Seen where both do the same. Not a value of either.",
    "estimated": "From logged probabilities, with an interval.",
    "predicted": "What the confidences promise. Bears no verdict.",
}

CLASSES: Mapping[str, str] = {
    "silent": "silent",
    "heuristic": "heuristic",
    "llm": "model",
    "race": "race",
    "gated": "gated",
}
"""What a class of arms is called."""

_GATES: Mapping[str, str] = {
    "propensity_target": "Odds fit: challenger",
    "propensity_baseline": "Odds fit: baseline",
    "propensity_uniform": "Odds fit: everything",
    "unsupported_mass": "Never tried",
    "flip_observations": "Tried where they differ",
    "flip_sessions": "Tried in sessions",
    "rare_outcomes": "Rarer outcomes",
    "ess": "Effective sample size",
    "max_weight_share": "Heaviest decision",
    "pareto_k": "Heavy tail (Pareto k)",
    "outcome_coverage": "Outcomes known",
    "censored": "Cut off",
    "cassette": "Recorded answers",
}
"""Plain names for gates whose own mean little outside the estimator."""

_ID = re.compile("[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}")
_MINUS = "\N{MINUS SIGN}"
_FINE = 1000
_SHOWN = 300
"""How many characters of a difference between two outputs are shown on either side."""
_DECIMALS = ((1.0, 3), (10.0, 2), (1000.0, 1), (float("inf"), 0))
"""How many decimals are written of what is less than that."""


def verdict_sign(verdict: str, reasons: Iterable[Reason] = ()) -> _Sign:
    """Return how a verdict shows; one that is not known shows by its own name."""
    sign = _VERDICTS.get(verdict, _Sign("◇", label(verdict), "open"))
    # What may be the other way round, once played out, is painted as no claim.
    return replace(sign, tone="open") if is_opposed(reasons) else sign


def gate_sign(status: str) -> _Sign:
    """Return how a gate's status shows."""
    return _STATUSES.get(status, _Sign("?", status, "open"))


def label(name: str) -> str:
    """Return a machine's name in words: `flip_observations` is "Flip observations"."""
    return capitalised(name.replace("_", " ").strip().lower())


def capitalised(words: str) -> str:
    """Capitalise the first letter alone."""
    return words[:1].upper() + words[1:]


def gate_name(name: str) -> str:
    """Return what a gate is called."""
    return _GATES.get(name) or label(name)


def class_name(arm_class: str) -> str:
    """Return what a class of arms is called."""
    return CLASSES.get(arm_class, arm_class)


def arm_name(arm: str) -> str:
    """Return an arm without its class and with short hashes: `drink-soon@3f2a1b`."""
    _, colon, rest = arm.partition(":")
    name, *hashes = (rest if colon else arm).split("@")
    return brief("@".join([short_id(name), *(each[:6] for each in hashes[:1])]))


def short_id(name: str) -> str:
    """Return an id by its first eight digits; any other name as it is."""
    return name[:8] if _ID.fullmatch(name) else name


def number(value: Any, unit: str = "") -> str:
    """Return a value with its unit; whatever is no number stands as it is."""
    if value is None:
        return _UNKNOWN
    # Before the numbers: a bool is an int.
    if isinstance(value, bool):
        return "yes" if value else "no"
    if isinstance(value, int | float):
        if not isfinite(value):
            return _UNKNOWN
        return _with_unit(abs(value), unit, _MINUS if value < 0 else "")
    if isinstance(value, Sequence) and not isinstance(value, str):
        return " to ".join(number(each, unit) for each in value)
    return str(value)


def signed(value: float | None, unit: str = "") -> str:
    """Return a difference, always with its sign; none at all is a plain 0."""
    if value is None:
        return _UNKNOWN
    if value == 0:
        return "0"
    return _with_unit(abs(value), unit, "+" if value > 0 else _MINUS)


def interval(ends: Sequence[float] | None, unit: str = "") -> str:
    """Return both ends of an interval, signed."""
    if ends is None:
        return _UNKNOWN
    return f"{signed(ends[0], unit)} to {signed(ends[1], unit)}"


def percent(share: float | None) -> str:
    """Return a share in per cent, finer where it is small."""
    if share is None:
        return _UNKNOWN
    decimals = 1 if 0.0 < share < 0.1 else 0
    return f"{share:.{decimals}%}".replace("%", "\N{NO-BREAK SPACE}%")


def counted(count: float, one: str, more: str | None = None) -> str:
    """Return a count with its noun: 1 flip, 2 flips."""
    return f"{number(count)} {one if count == 1 else more or one + 's'}"


def moment(iso: str | None) -> str:
    """Return a time to the second, as it was recorded."""
    if not iso:
        return _UNKNOWN
    return iso.replace("T", " ")[:19]


def notes(row: Fact | Headline) -> list[str]:
    """Return the notes on a number: its own, then the other estimators."""
    extra = row.extra if isinstance(row, Headline) else {}
    others = (
        f"{name.upper()} {signed(extra[name])}"
        for name in ("snips", "ips", "dm")
        if extra.get(name) is not None
    )
    return [*([row.note] if row.note else []), *others]


def around_difference(found: DivergencePart) -> list[tuple[str, dict[str, object]]]:
    """Return excerpts of both outputs around the first character that differs."""
    texts = [each or "nothing" for each in (found.recorded, found.replayed)]
    shared = len(commonprefix(texts))  # noqa: RUF071 of texts, not of paths
    start, end = max(shared - _SHOWN, 0), shared + _SHOWN
    return [
        (
            name,
            {
                "is_cut": start > 0,
                "shared": text[start:shared],
                "own": text[shared:end],
                "goes_on": end < len(text),
            },
        )
        for name, text in zip(("recorded", "replayed"), texts, strict=True)
    ]


def _with_unit(size: float, unit: str, sign: str) -> str:
    match unit:
        case "USD":
            return f"{sign}${size:,.2f}" if size >= 1 else f"{sign}${_plain(size)}"
        case "share":
            return f"{sign}{size:.3f}"
        case "percent":
            return f"{sign}{100 * size:.1f}\N{NO-BREAK SPACE}%"
        case "ms" if size >= _FINE:
            return f"{sign}{size / _FINE:.2f} s"
        case "":
            return f"{sign}{_plain(size)}"
        case _:
            return f"{sign}{_plain(size)} {unit}"


def _plain(size: float) -> str:
    if size == int(size):
        return f"{int(size):,}"
    if size < 0.001:
        return f"{size:.1g}" if size >= 1e-6 else "< 0.000001"
    decimals = next(places for most, places in _DECIMALS if size < most)
    written = f"{size:,.{decimals}f}"
    return written.rstrip("0").rstrip(".") if decimals else written


FILTERS: dict[str, Callable[..., Any]] = {
    each.__name__: each
    for each in (
        verdict_sign, of_what, is_opposed, standing, gate_sign, label, capitalised, gate_name,
        class_name, short_id, number, signed, interval, percent, counted, moment, notes,
        around_difference, asdict,
    )
}  # fmt: skip
