"""The demo's second scene: a few minutes at home, in which it is told to be quiet.

The events are those of `packs/home/recording/evening.jsonl`, published as two sensors of
another companion of the same instance; what they show is said in its README.
"""

import asyncio
from collections.abc import Iterator
from contextlib import AsyncExitStack
from pathlib import Path

from rich.console import RenderableType

from echoic.client import packs, watch
from echoic.client.event_lines import Sending, read_lines
from echoic.client.names import Names, heuristic_names
from echoic.client.publish import new_event_id, publish_raw, tell
from echoic.client.sensor_access import sensor_credentials
from echoic.packs import bundled
from echoic.run.instance import Instance
from echoic.terminal import decisions
from echoic.terminal.output import terminal
from replay.recording.decisions import DecisionRecord
from schemas.messages.controls import SessionEnded, SessionStarted
from streams.jetstream.connection import connected

AGENT = "home"
_PACK = bundled.PACKS / "home"
_EVENING = _PACK / "recording" / "evening.jsonl"
PATIENCE_S = 20.0
"""How long to wait for the decisions."""


async def play(live: Instance) -> "Scene":
    """Publish the evening's events and return what was decided on them."""
    await packs.load_for(live.log, AGENT, _PACK)
    title = "A few minutes at home"
    await tell(
        live.log, AGENT, SessionStarted(session_id=AGENT, title=title, clock="event")
    )
    names = await heuristic_names(live.log, AGENT)
    sent = list(_events(_EVENING))
    async with AsyncExitStack() as stack, asyncio.timeout(PATIENCE_S):
        clients = {
            source: await stack.enter_async_context(
                connected(
                    await sensor_credentials(live.settings, AGENT, source), source
                )
            )
            for source in sorted({each.source for each in sent})
        }
        for each in sent:
            await publish_raw(
                clients[each.source], each.subject, each.wire_body, each.wire_headers
            )
        found = await _decided(live, {each.event_id for each in sent})
    await tell(live.log, AGENT, SessionEnded())
    return Scene(found, names)


class Scene:
    """What was decided, in the order of the log: again when an answer was given later."""

    def __init__(self, records: list[DecisionRecord], names: Names) -> None:
        self.records = records
        self._names = names

    def lines(self) -> Iterator[RenderableType]:
        """Yield a line for each."""
        for record in self.records:
            yield decisions.line(record, self._names, terminal())


def _events(file: Path) -> Iterator[Sending]:
    with file.open(encoding="utf-8") as lines:
        yield from read_lines(
            lines, agent=AGENT, default_agent=AGENT, new_id=new_event_id
        )


async def _decided(live: Instance, open_: set[str]) -> list[DecisionRecord]:
    found = []
    async for record in watch.decisions(live.log, AGENT, 0):
        found.append(record)
        if record.is_final:
            open_.discard(record.decided.event_id)
        if not open_:
            break
    return found
