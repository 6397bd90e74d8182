"""`echoic sleep`: let an agent look back now, and show what it came to."""

from typing import Annotated, Literal

import typer

from echoic.cli.connected import known_at, on_instance, send
from echoic.cli.moments import moment
from echoic.cli.options import Call, new_app
from echoic.terminal import sleep as sleep_screen
from echoic.terminal.output import note
from schemas.messages.controls import SleepRequested
from schemas.messages.sleep import SleepBegun, SleepEnded

app = new_app("sleep", "Look back on what was done, and propose what to change.")


@app.command()
def sleep(
    call: Call,
    since: str | None = None,
    limit: Annotated[int | None, typer.Option(min=0, max=64)] = None,
    apply: Literal["by_hand", "safe"] | None = None,
    is_report: Annotated[bool, typer.Option("--report")] = False,
) -> None:
    """Make recent decisions again, showing the model nothing known; propose changes.

    It proposes merges of heuristics that say the same, retirements of those that are of no
    use, and new ones of what a model says each time. What is proposed is put in force by
    `echoic tune apply ID`, and taken back by `echoic tune revert ID`.

    Examples: `echoic sleep`, `echoic sleep --since 8h --limit 20 --apply safe`, `echoic
    sleep --report`.

    Args:
        since: Only decisions since then: 8h, 10:00, or 2026-11-21T08:00:00Z.
        limit: How many decisions at most.
        apply: Which proposals are in force at once; else as set.
        is_report: Only show what the last sleep came to.
    """
    if not is_report:
        at = None if since is None else moment(since, "--since")
        control = SleepRequested(since=at, limit=limit, apply=apply).checked()
        if not _begun(control, call):
            return
    _report(call)


def _begun(control: SleepRequested, call: Call) -> bool:
    """Let the agent sleep; tell whether it is over already."""
    messages = send(call, control)
    # A sleep without a model or without decisions ends in the group that began it.
    if any(isinstance(each, SleepEnded) for each in messages):
        return True
    begun = next(each for each in messages if isinstance(each, SleepBegun))
    call.show(
        {"id": begun.sleep_id, "decisions": begun.decisions},
        [f"sleeps on {len(begun.decisions)} decisions"],
    )
    if not call.as_json:
        note("what it comes to: echoic sleep --report")
    return False


def _report(call: Call) -> None:
    known = on_instance(call, known_at).agent
    if known.sleeping is None and known.slept is None and not call.as_json:
        note("never slept yet: echoic sleep")
    fields = sleep_screen.fields(known) or {"id": None}
    call.show(fields, sleep_screen.screen(known))
    if call.as_json:
        return
    if known.slept is not None and known.slept.proposals:
        note("put in force: echoic tune apply ID; take back: echoic tune revert ID")
