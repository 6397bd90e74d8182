"""`echoic shadow`: what another strategy would do, beside the one that decides."""

import asyncio
import sys
from collections.abc import Callable
from contextlib import suppress
from functools import partial
from typing import Annotated, Any

import typer

from echoic.cli.connected import on_instance
from echoic.cli.options import Call, new_app
from echoic.client.connection import Connection
from echoic.client.names import Names, heuristic_names
from echoic.client.watch import last_answered
from echoic.config.strategies import strategy_of
from echoic.terminal.output import note
from echoic.terminal.screen import rendered
from echoic.terminal.shadow import line, totals_line
from replay.open_loop.shadow import Shadowed, Totals, follow
from schemas.values.settings import StrategySpec
from schemas.values.subjects import partition_of

_TERMINAL_S = 1.0
_LINES_S = 30.0

_CLEAR = "\r\x1b[K"

app = new_app("shadowing", "What another strategy would do.")


@app.command()
def shadow(
    call: Call,
    strategy: Annotated[str, typer.Argument(metavar="STRATEGY")],
    limit: Annotated[int | None, typer.Option("--limit", "-n")] = None,
) -> None:
    """Ask a strategy about each decision as it is made, until Ctrl-C; it never acts.

    Shows what it would have done otherwise, how often it agrees, and the totals at the
    end. Examples: `echoic shadow always_llm`, `echoic shadow
    heuristic_first:threshold=0.6 --json`.

    Args:
        strategy: name:key=value, or a YAML file.
        limit: Stop after so many decisions.
    """
    _ = call.settings  # They list the modules that strategies may be of.
    beside = _Beside(call, strategy_of(strategy))
    # Ctrl-C is the ordinary end of what goes on until somebody ends it.
    with suppress(KeyboardInterrupt):
        on_instance(call, partial(beside.run, limit=limit))
    beside.show_totals()


class _Beside:
    """A strategy that decides beside the live one, and counts where it differs."""

    def __init__(self, call: Call, strategy: StrategySpec) -> None:
        self._strategy = strategy
        self._call = call
        self._totals = Totals()
        self._names: Names = {}

    async def run(self, connection: Connection, *, limit: int | None) -> None:
        """Show each decision until there were as many as wanted."""
        log, agent = connection.log, connection.settings.agent
        self._names = await heuristic_names(log, agent)
        # From now on: earlier decisions are what `replay compare` is for.
        after = await last_answered(log, partition_of(agent))
        note(f"watching {agent}; Ctrl-C ends")
        # A strategy that agrees prints nothing: without a sign of life it would look hung.
        async with Pulse(self._so_far) as pulse:
            async for shadowed in follow(log, agent, self._strategy, after):
                self._totals = self._totals.after(shadowed)
                if shadowed is not None:
                    pulse.clear()
                    self._show(shadowed)
                if self._totals.decisions == limit:
                    return

    def show_totals(self) -> None:
        """Print the totals."""
        fields = {"totals": _totals_fields(self._totals)}
        self._call.show(fields, [totals_line(self._totals)])

    def _so_far(self) -> str:
        """Return the totals so far, shown even while nothing differs or happens."""
        return f"so far it {rendered([totals_line(self._totals)])}; Ctrl-C ends"

    def _show(self, shadowed: Shadowed) -> None:
        flip = line(shadowed, self._totals, self._names)
        self._call.show(
            _fields(shadowed, self._totals), [flip] if shadowed.is_flip else ()
        )


def _fields(shadowed: Shadowed, totals: Totals) -> dict[str, Any]:
    decided = shadowed.record.decided
    return {
        "decision_id": shadowed.record.id,
        "event": {
            "id": decided.event_id,
            "source": decided.source,
            "type": decided.type,
            "text": shadowed.record.text,
        },
        "done": {"arm": decided.arm, "text": decided.text},
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


class Pulse:
    """A heartbeat on stderr: how far the work is, whether or not anything happens.

    On a terminal one line in place, each second; else a line of its own, twice a minute.
    """

    def __init__(self, status: Callable[[], str], every_s: float | None = None) -> None:
        """Show the line that `status` returns; `every_s` overrides how often it is asked."""
        self._status = status
        self._live = sys.stderr.isatty()
        self._every_s = every_s or (_TERMINAL_S if self._live else _LINES_S)
        self._task: asyncio.Task[None] | None = None

    def clear(self) -> None:
        """Make room for a line of another kind."""
        if self._live:
            print(_CLEAR, end="", file=sys.stderr, flush=True)

    async def __aenter__(self) -> "Pulse":
        """Begin to beat."""
        self._task = asyncio.create_task(self._beat())
        return self

    async def __aexit__(self, *_: object) -> None:
        """Stop, and leave nothing behind on a terminal."""
        if self._task is not None:
            self._task.cancel()
            # The cancellation is our own.
            with suppress(asyncio.CancelledError):
                await self._task
        self.clear()

    async def _beat(self) -> None:
        while True:
            await asyncio.sleep(self._every_s)
            line = self._status()
            print(f"{_CLEAR}{line}" if self._live else line,
                  end="" if self._live else "\n", file=sys.stderr, flush=True)  # fmt: skip
