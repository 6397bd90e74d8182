"""A search for better settings on one screen, and the proposals that came of some.

Pure; what a search promised never stands without what the later sessions kept.
"""

from collections.abc import Iterator, Sequence

from rich.console import RenderableType

from echoic.client.tuning import Task
from echoic.terminal.retuning import change, setting
from echoic.terminal.screen import counted, indented, marked, table, text, words
from evaluation.ope.verdicts import Verdict, of_what
from evaluation.tuning.search import Evaluation, Gain, Refused, Search, Trial, Values
from schemas.messages.repertoire import RepertoireChange
from schemas.state.proposals import Proposal

_REFUSED_SHOWN = 8
"""How many refused choices are listed; --json has all."""


def screen(found: Search, task: Task) -> Iterator[RenderableType]:
    """Yield the whole screen."""
    yield text((f"{task.name}, over what was recorded", "bold"))
    yield (
        f"{len(found.searched)} sessions searched, {len(found.held_out)} later ones held"
        f" out; {counted(len(found.trials), 'choice')} tried,"
        f" {len(found.refused)} refused"
    )
    yield f"recorded with {_worded(task.current)}"
    if task.silence is not None:
        yield f"silence counts {task.silence:g}: --silence tries another value"
    yield ""
    for trial in found.finalists:
        yield from _finalist(trial)
    if not found.finalists:
        yield "no choice did better on the searched sessions"
    yield ""
    for trial in found.refused[:_REFUSED_SHOWN]:
        yield marked("✗", _worded(trial.values))
        yield indented(4, _gain(trial.search))
    if len(found.refused) > _REFUSED_SHOWN:
        yield f"and {len(found.refused) - _REFUSED_SHOWN} more refused: --json shows all"
    if found.refused:
        yield ""
    best = found.recommended
    if best is None:
        yield text(("KEEP", "yellow"), " what is in force: no gain held later")
    else:
        # A strategy's gain is one of single decisions, as that of every comparison.
        scope = "" if task.silence is None else f" {of_what(Verdict.BETTER)}"
        said = f"{scope}: {_worded(best.values)}; --submit proposes it"
        yield text(("BETTER", "green"), said)


def _worded(values: Values) -> str:
    """Return a choice in words: `learning.gamma 0.98, learning.kappa 2`."""
    return ", ".join(f"{name} {setting(values[name])}" for name in sorted(values))


def evidence(trial: Trial) -> str:
    """Return the evidence for a choice: its gain in the search, and in the hold-out."""
    return (
        f"search {_gain(trial.search)}, hold-out {_gain(trial.holdout, is_whole=True)}"
    )


def _gain(found: Evaluation | None, *, is_whole: bool = False) -> str:
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


def proposals(found: Sequence[Proposal]) -> Iterator[RenderableType]:
    """Yield what was proposed, oldest first."""
    for each in found:
        yield table(("", "", words()), [(each.id, each.status, f"by {each.by}")])
        for one in each.changes:
            yield indented(2, change(one.name, one.before, one.after))
        if each.repertoire:
            yield indented(2, _heuristics(each.repertoire))
        if each.inferred:
            yield indented(2, f"{each.inferred.kind}: {each.inferred.in_words}")
        if each.character:
            yield indented(2, each.character.in_words)
        if each.evidence:
            yield indented(2, each.evidence)


def _heuristics(change: RepertoireChange) -> str:
    """Return what of the heuristics would change."""
    formed = change.formed
    if formed is not None:
        return f"new: {formed.name}, when “{formed.condition}”: “{formed.text}”"
    names = (
        f"{each.name} {'stays' if each.in_use else 'goes'}" for each in change.after
    )
    return f"{change.kind}: {', '.join(names)}"


def as_json(found: Search, task: Task) -> dict[str, object]:
    """Return all of it, for programs."""
    best = found.recommended
    return {
        "v": 1,
        "objective": task.name,
        "silence": task.silence,
        "current": dict(task.current),
        "searched": list(found.searched),
        "held_out": list(found.held_out),
        "trials": [_trial(each) for each in found.trials],
        "recommended": None if best is None else dict(best.values),
    }


def _finalist(trial: Trial) -> Iterator[RenderableType]:
    mark = ("✓", "green") if trial.is_recommended else "·"
    yield marked(mark, _worded(trial.values))
    holm = "" if trial.adjusted_p is None else f"   p {trial.adjusted_p:.3f} (Holm)"
    yield indented(4, f"{evidence(trial)}{holm}")
    if isinstance(trial.holdout, Gain):
        yield from (indented(4, each) for each in trial.holdout.notes)


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
