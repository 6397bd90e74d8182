"""A sleep on the screen: what was decided again, who agreed, and what is proposed."""

from collections.abc import Iterator, Mapping

from msgspec.structs import asdict
from rich.console import RenderableType

from echoic.terminal.screen import Part, indented, table, text, words
from schemas.state.agent import AgentState
from schemas.state.lessons import Sleeping
from schemas.state.proposals import Proposal

_REASONS: Mapping[str | None, str] = {
    None: "under way",
    "done": "done",
    "no_model": "no model to ask",
    "woken": "woken: somebody waited for the model",
    "model_failed": "the model failed",
    "model_timeout": "the model never answered",
}
_MARKS: Mapping[bool | None, Part] = {
    True: ("=", "green"),
    False: ("≠", "yellow"),
    None: ("?", "cyan"),
}


def fields(known: AgentState) -> dict[str, object] | None:
    """Return the sleep under way, else the last one, for programs; None if there was none."""
    sleep = known.sleeping or known.slept
    if sleep is None:
        return None
    agreed = [each.agrees for each in sleep.reflections]
    shown = ("id", "cause", "apply", "begun_at", "ended_at", "reason")
    return {
        **{name: getattr(sleep, name) for name in shown},
        "left": _left(sleep),
        "agreed": agreed.count(True),
        "differed": agreed.count(False),
        "refused": sleep.refused,
        "reflections": [asdict(each) for each in sleep.reflections],
        "proposals": [
            {
                "id": each.id,
                "status": each.status,
                "evidence": each.evidence,
                "repertoire": each.repertoire and each.repertoire.as_fields(whole=True),
            }
            for each in _proposals(known, sleep)
        ],
    }


def screen(known: AgentState) -> Iterator[RenderableType]:
    """Yield the same, for a person."""
    sleep = known.sleeping or known.slept
    if sleep is None:
        return
    agreed = [each.agrees for each in sleep.reflections]
    waiting = _left(sleep)
    left = f", {waiting} to go" if waiting else ""
    yield (
        f"sleep {sleep.id}, {sleep.begun_at:%Y-%m-%d %H:%M} ({sleep.cause}):"
        f" {_REASONS[sleep.reason]}{left}"
    )
    yield (
        f"{len(agreed)} decided again: {agreed.count(True)} the same,"
        f" {agreed.count(False)} otherwise; {sleep.refused} candidates refused"
    )
    for each in sleep.reflections:
        yield text(_MARKS[each.agrees], f" {each.text}")
        yield indented(4, f"was  {_words(each.done)}")
        if each.agrees is not True:
            yield indented(4, f"now  {_words(each.said)}")
    proposals = _proposals(known, sleep)
    if not proposals:
        yield "nothing to change"
    rows = ((each.id, each.status, each.evidence) for each in proposals)
    yield table(("", "", words()), rows)


def _left(sleep: Sleeping) -> int:
    # The decision that is being asked about is in neither list.
    return len(sleep.left) + bool(sleep.ask_id)


def _proposals(known: AgentState, sleep: Sleeping) -> list[Proposal]:
    return [each for each in known.proposals if each.id in sleep.proposals]


def _words(said: str) -> str:
    return f"“{said}”" if said else "(silence)"
