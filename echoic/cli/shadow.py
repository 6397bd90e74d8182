"""`echoic shadow`: what another strategy would do, beside the one that decides."""

import asyncio
from contextlib import suppress
from typing import Annotated, Any

import typer

from echoic.cli.options import Agent, Data, Json, new_app, settings_of
from echoic.cli.pulse import Pulse
from echoic.client.connection import connect
from echoic.client.names import Names, heuristic_names
from echoic.client.watch import last_answered
from echoic.config.load import Settings
from echoic.config.strategies import strategy_of
from echoic.terminal.decisions import Style
from echoic.terminal.output import has_colour, note, print_json, terminal_width
from echoic.terminal.shadow import line, totals_line
from replay.open_loop.shadow import Shadowed, Totals, follow
from schemas.values.settings import StrategySpec
from schemas.values.subjects import partition_of

app = new_app("shadowing", "What another strategy would do.")


@app.command()
def shadow(
    strategy: Annotated[
        str, typer.Argument(metavar="STRATEGY", help="name:key=value, or a YAML file.")
    ],
    limit: Annotated[
        int | None, typer.Option("--limit", "-n", help="Stop after so many decisions.")
    ] = None,
    data: Data = None,
    agent: Agent = None,
    as_json: Json = False,
) -> None:
    """Ask a strategy about each decision as it is made, until Ctrl-C; it never acts.

    Shows what it would have done otherwise, how often it agrees, and the totals at the
    end. Examples: `echoic shadow always_llm`, `echoic shadow
    heuristic_first:threshold=0.6 --json`.
    """
    settings = settings_of(data, agent)
    beside = _Beside(strategy_of(strategy), as_json)
    # Ctrl-C is the ordinary end of what goes on until somebody ends it.
    with suppress(KeyboardInterrupt):
        asyncio.run(beside.run(settings, limit))
    beside.tell_totals()


class _Beside:
    """Runs beside the mind, and keeps count."""

    def __init__(self, strategy: StrategySpec, as_json: bool) -> None:
        self._strategy = strategy
        self._as_json = as_json
        self._totals = Totals()
        self._style = Style(width=terminal_width(), colour=has_colour())
        self._names: Names = {}

    async def run(self, settings: Settings, limit: int | None) -> None:
        """Show each decision until there were as many as wanted."""
        agent = settings.agent
        async with connect(settings) as connection:
            log = connection.log
            self._names = await heuristic_names(log, agent)
            after = await last_answered(log, partition_of(agent))
            note(f"watching {agent}; Ctrl-C ends")
            async with Pulse(self._so_far) as pulse:
                async for shadowed in follow(log, agent, self._strategy, after):
                    self._totals = self._totals.after(shadowed)
                    if shadowed is not None:
                        pulse.clear()
                        self._tell(shadowed)
                    if self._totals.decisions == limit:
                        return

    def tell_totals(self) -> None:
        """Say how it went in all."""
        if self._as_json:
            print_json({"v": 1, "totals": _totals_fields(self._totals)})
        else:
            print(totals_line(self._totals, self._style), flush=True)

    def _so_far(self) -> str:
        """That it lives, though it may agree, or nothing may happen."""
        return f"beside it so far: {totals_line(self._totals)}; Ctrl-C ends"

    def _tell(self, shadowed: Shadowed) -> None:
        if self._as_json:
            print_json(_fields(shadowed, self._totals))
        elif shadowed.is_flip:
            told = line(shadowed, self._totals, self._names, self._style)
            print(told, flush=True)


def _fields(shadowed: Shadowed, totals: Totals) -> dict[str, Any]:
    return {
        "v": 1,
        "decision_id": shadowed.decision_id,
        "event": {
            "id": shadowed.event_id,
            "source": shadowed.source,
            "type": shadowed.type,
            "text": shadowed.text,
        },
        "done": {"arm": shadowed.done, "text": shadowed.said},
        "would": {
            "arm": shadowed.would,
            "text": shadowed.would_say,
            "silence": shadowed.silence,
        },
        "is_flip": shadowed.is_flip,
        "agreement": shadowed.agreement,
        "so_far": _totals_fields(totals),
    }


def _totals_fields(totals: Totals) -> dict[str, Any]:
    return {
        "decisions": totals.decisions,
        "gated": totals.gated,
        "flips": totals.flips,
        "agreement": totals.agreement,
    }
