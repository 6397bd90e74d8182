"""A sleep on the screen: what was decided again, who agreed, and what is proposed."""

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from echoic.terminal.text import Style, visible
from schemas.messages.sleep import Reflection, Sleeping
from schemas.state.agent import AgentState
from schemas.state.proposals import Proposal

_REASONS: Mapping[str | None, str] = {
    None: "under way",
    "done": "done",
    "no_model": "no model to ask",
    "woken": "woken: somebody waited for the model",
    "model_failed": "the model failed",
    "model_timeout": "the model never answered",
}
_MARKS: Mapping[bool | None, tuple[str, str]] = {
    True: ("=", "green"),
    False: ("≠", "yellow"),
    None: ("?", "cyan"),
}


def fields(known: AgentState) -> dict[str, Any] | None:
    """Return the sleep under way, else the last one, for programs; None if there was none."""
    sleep = known.sleeping or known.slept
    if sleep is None:
        return None
    agreed = [each.agrees for each in sleep.reflections]
    return {
        "v": 1,
        "id": sleep.id,
        "cause": sleep.cause,
        "apply": sleep.apply,
        "begun_at": sleep.begun_at,
        "ended_at": sleep.ended_at,
        "reason": sleep.reason,
        "left": len(sleep.left) + bool(sleep.ask_id),
        "agreed": agreed.count(True),
        "differed": agreed.count(False),
        "refused": sleep.refused,
        "reflections": [_reflection(each) for each in sleep.reflections],
        "proposals": [
            {
                "id": each.id,
                "status": each.status,
                "evidence": each.evidence,
                "repertoire": each.repertoire and each.repertoire.model_dump(),
            }
            for each in _proposals(known, sleep)
        ],
    }


def lines(known: AgentState, style: Style) -> Iterator[str]:
    """Yield the same, for a person."""
    sleep = known.sleeping or known.slept
    if sleep is None:
        return
    agreed = [each.agrees for each in sleep.reflections]
    # The decision that is being asked about is in neither list.
    waits = len(sleep.left) + bool(sleep.ask_id)
    left = f", {waits} to go" if waits else ""
    yield (
        f"sleep {sleep.id}, {sleep.begun_at:%Y-%m-%d %H:%M} ({sleep.cause}):"
        f" {_REASONS[sleep.reason]}{left}"
    )
    yield (
        f"{len(agreed)} decided again: {agreed.count(True)} the same,"
        f" {agreed.count(False)} otherwise; {sleep.refused} candidates refused"
    )
    for each in sleep.reflections:
        yield from _told(each, style)
    yield from _proposed(_proposals(known, sleep))


def _told(each: Reflection, style: Style) -> Iterator[str]:
    mark, colour = _MARKS[each.agrees]
    yield f"{style.paint(mark, colour)} {visible(each.text)}"
    yield f"    was  {_words(each.done)}"
    if each.agrees is not True:
        yield f"    now  {_words(each.said)}"


def _proposed(proposals: Sequence[Proposal]) -> Iterator[str]:
    if not proposals:
        yield "nothing to change"
    for each in proposals:
        yield f"{each.id:<14} {each.status:<10} {visible(each.evidence)}"


def _proposals(known: AgentState, sleep: Sleeping) -> list[Proposal]:
    return [each for each in known.proposals if each.id in sleep.proposals]


def _words(text: str) -> str:
    return f"“{visible(text)}”" if text else "(silence)"


def _reflection(each: Reflection) -> dict[str, object]:
    return {
        "decision_id": each.decision_id,
        "text": each.text,
        "done": each.done,
        "said": each.said,
        "agrees": each.agrees,
    }
