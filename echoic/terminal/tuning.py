"""A search for better settings on one screen, and the proposals that came of some.

Pure; what a search promised never stands without what the later sessions kept.
"""

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from echoic.terminal.retuning import change
from echoic.terminal.text import PLAIN, Style, counted, visible
from evaluation.tuning.search import Evaluation, Gain, Refused, Search, Trial, Values

_REFUSED_SHOWN = 8
"""How many refused choices are listed; --json has all."""


def lines(
    found: Search, current: Values, objective: str, style: Style = PLAIN
) -> Iterator[str]:
    """Yield the whole screen, line by line."""
    yield style.paint(f"{objective}, over what is in force", "bold")
    yield (
        f"{len(found.searched)} sessions searched, {len(found.held_out)} later ones held"
        f" out; {counted(len(found.trials), 'choice')} tried,"
        f" {len(found.refused)} refused"
    )
    yield f"now   {worded(current)}"
    yield ""
    for trial in found.finalists:
        yield from _finalist(trial, style)
    if not found.finalists:
        yield "no choice did better on the searched sessions"
    yield ""
    yield from _refused(found)
    yield _conclusion(found, style)


def worded(values: Values) -> str:
    """Return a choice in words: `learning.gamma 0.98, learning.kappa 2`."""
    return ", ".join(f"{name} {_figure(values[name])}" for name in sorted(values))


def evidence(trial: Trial) -> str:
    """Return the evidence for a choice: its gain in the search, and in the hold-out."""
    return f"search {gain(trial.search)}, hold-out {gain(trial.holdout, is_whole=True)}"


def gain(found: Evaluation | None, *, is_whole: bool = False) -> str:
    """Return a gain as `+0.07`, or whole with its interval; or why there is none."""
    match found:
        case None:
            return "-"
        case Refused():
            return f"{found.reason}: {found.detail}"
        case Gain(ci=(low, high)) if is_whole:
            return f"{found.value:+.3f} [{low:+.3f},{high:+.3f}]"
        case _:
            return f"{found.value:+.3f}"


def proposals(fields: Sequence[Mapping[str, Any]]) -> Iterator[str]:
    """Yield what was proposed, oldest first."""
    for each in fields:
        yield f"{visible(each['id']):<14} {each['status']:<10} by {visible(each['by'])}"
        for one in each["changes"]:
            yield f"  {change(one['name'], one['before'], one['after'])}"
        if each["repertoire"]:
            yield f"  {_heuristics(each['repertoire'])}"
        if each["evidence"]:
            yield f"  {visible(each['evidence'])}"


def _heuristics(change: Mapping[str, Any]) -> str:
    """Return what of the heuristics would change."""
    names = (
        f"{visible(each['name'])} {'stays' if each['in_use'] else 'goes'}"
        for each in change["after"]
    )
    if change["formed"] is None:
        return f"{change['kind']}: {', '.join(names)}"
    formed = change["formed"]
    return (
        f"new: {visible(formed['name'])}, when “{visible(formed['condition'])}”: "
        f"“{visible(formed['text'])}”"
    )


def as_json(found: Search, current: Values, objective: str) -> dict[str, object]:
    """Return all of it, for programs."""
    best = found.recommended
    return {
        "v": 1,
        "objective": objective,
        "current": dict(current),
        "searched": list(found.searched),
        "held_out": list(found.held_out),
        "trials": [_trial(each) for each in found.trials],
        "recommended": None if best is None else dict(best.values),
    }


def _finalist(trial: Trial, style: Style) -> Iterator[str]:
    mark = style.paint("✓", "green") if trial.is_recommended else "·"
    yield f"{mark} {worded(trial.values)}"
    holm = "" if trial.adjusted_p is None else f"   p {trial.adjusted_p:.3f} (Holm)"
    yield f"    {evidence(trial)}{holm}"
    if isinstance(trial.holdout, Gain):
        yield from (f"    {each}" for each in trial.holdout.notes)


def _refused(found: Search) -> Iterator[str]:
    if not found.refused:
        return
    for trial in found.refused[:_REFUSED_SHOWN]:
        yield f"✗ {worded(trial.values)}"
        yield f"    {gain(trial.search)}"
    if len(found.refused) > _REFUSED_SHOWN:
        yield f"and {len(found.refused) - _REFUSED_SHOWN} more refused: --json shows all"
    yield ""


def _conclusion(found: Search, style: Style) -> str:
    best = found.recommended
    if best is None:
        return style.paint("KEEP", "yellow") + " what is in force: no gain held later"
    said = f" {worded(best.values)}; --submit proposes it"
    return style.paint("BETTER", "green") + said


def _trial(trial: Trial) -> dict[str, object]:
    return {
        "values": dict(trial.values),
        "search": _evaluation(trial.search),
        "holdout": None if trial.holdout is None else _evaluation(trial.holdout),
        "adjusted_p": trial.adjusted_p,
        "recommended": trial.is_recommended,
    }


def _evaluation(found: Evaluation) -> dict[str, object]:
    if isinstance(found, Refused):
        return {"refused": found.reason, "detail": found.detail}
    return {
        "gain": found.value,
        "se": found.se,
        "ci": found.ci,
        "p_value": found.p_value,
        "sessions": found.sessions,
        "notes": list(found.notes),
    }


def _figure(value: object) -> str:
    # A bool is an int, and `True:g` would print 1.
    is_number = isinstance(value, int | float) and not isinstance(value, bool)
    return f"{value:g}" if is_number else str(value)
