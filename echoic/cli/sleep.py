"""`echoic sleep`: let an agent look back now, and show what it came to."""

from pathlib import Path
from typing import Annotated, Literal

import typer

from echoic.cli.connected import known_at, on_instance
from echoic.cli.moments import moment
from echoic.cli.options import Agent, Data, Json, new_app
from echoic.client import publish
from echoic.client.connection import Connection
from echoic.terminal import sleep as sleep_screen
from echoic.terminal.decisions import Style
from echoic.terminal.output import has_colour, note, print_json, terminal_width
from schemas.messages.controls import SleepRequested
from schemas.messages.sleep import SleepBegun, SleepEnded
from schemas.state.agent import AgentState

app = new_app("sleep", "Look back on what was done, and propose what to change.")


@app.command()
def sleep(
    since: Annotated[
        str | None,
        typer.Option(
            help="Only decisions since then: 8h, 10:00, or 2026-11-21T08:00:00Z."
        ),
    ] = None,
    limit: Annotated[
        int | None, typer.Option(min=0, max=64, help="How many decisions at most.")
    ] = None,
    apply: Annotated[
        Literal["by_hand", "safe"] | None,
        typer.Option(help="Which proposals are in force at once; else as set."),
    ] = None,
    is_report: Annotated[
        bool, typer.Option("--report", help="Only show what the last sleep came to.")
    ] = False,
    data: Data = None,
    agent: Agent = None,
    as_json: Json = False,
) -> None:
    """Make recent decisions again, showing the model nothing known; propose changes.

    It proposes merges of heuristics that say the same, retirements of those that are of no
    use, and new ones of what a model says each time. What is proposed is put in force by
    `echoic tune apply ID`, and taken back by `echoic tune revert ID`.

    Examples: `echoic sleep`, `echoic sleep --since 8h --limit 20 --apply safe`, `echoic
    sleep --report`.
    """
    if not is_report:
        at = None if since is None else moment(since, "--since")
        control = SleepRequested(since=at, limit=limit, apply=apply)
        if not _begun(control, data, agent, as_json):
            return
    _report(data, agent, as_json)


def _begun(
    control: SleepRequested, data: Path | None, agent: str | None, as_json: bool
) -> bool:
    """Let the agent sleep; tell whether it is over already."""

    async def run(connection: Connection) -> tuple[SleepBegun, bool]:
        settings = connection.settings
        outputs = await publish.tell(connection.log, settings.agent, control)
        messages = [output.message for output in outputs]
        begun = next(each for each in messages if isinstance(each, SleepBegun))
        return begun, any(isinstance(each, SleepEnded) for each in messages)

    begun, is_over = on_instance(data, agent, run)
    if is_over:
        return True
    if as_json:
        print_json({"v": 1, "id": begun.sleep_id, "decisions": begun.decisions})
    else:
        print(f"sleeps on {len(begun.decisions)} decisions")
        note("what it comes to: echoic sleep --report")
    return False


def _report(data: Path | None, agent: str | None, as_json: bool) -> None:
    async def run(connection: Connection) -> AgentState:
        known = await known_at(connection)
        return known.agent

    known = on_instance(data, agent, run)
    if as_json:
        print_json(sleep_screen.fields(known) or {"v": 1, "id": None})
        return
    if known.sleeping is None and known.slept is None:
        note("never slept yet: echoic sleep")
    for line in sleep_screen.lines(known, Style(terminal_width(), has_colour())):
        print(line)
    if known.slept is not None and known.slept.proposals:
        note("put in force: echoic tune apply ID; take back: echoic tune revert ID")
