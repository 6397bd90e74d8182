"""`echoic log`: the log itself, message by message, and whether it is sound."""

import asyncio
from collections import deque
from collections.abc import Awaitable, Callable, Mapping
from dataclasses import replace
from itertools import chain
from typing import Annotated, Literal

import msgspec
import orjson
import typer
from rich.console import RenderableType
from rich.table import Table

from echoic import errors
from echoic.cli import archive
from echoic.cli.connected import on_instance
from echoic.cli.options import Call, InstanceCall, new_app
from echoic.cli.progress import Progress
from echoic.client import verify_log
from echoic.client.connection import Connection, is_running
from echoic.client.missed import lost_packs, missed_of
from echoic.run import restoring, segmenting
from echoic.terminal.output import note, print_json, show
from echoic.terminal.screen import number, table, text
from schemas.values.record import Record
from schemas.values.subjects import parse
from streams.errors import LogDamaged
from streams.log import scan
from streams.segments import Segments

app = new_app("log", "The log itself: verify, tail, segment, archive.")


@app.command()
def segment(
    call: InstanceCall,
    streams: Annotated[int | None, typer.Option(min=1, max=16)] = None,
) -> None:
    """Close the log's open segments, and begin new ones behind them.

    Each partition goes on where it stood. The instance must not run. After a crash the same
    command finishes what was begun. Example: `echoic log segment --streams 4`.

    Args:
        streams: Over how many streams the partitions are divided: 1, 2, 4, 8 or 16. As many
            as now, if it is not given.
    """
    done = segmenting.segment(call.settings, streams, note)
    call.show(msgspec.to_builtins(done), [_segments(done)])


app.command()(archive.archive)

Look = Callable[[Connection], Awaitable[verify_log.Found]]

# Records in one request of a follower.
_PAGE = 1_000
_SHOWN = 1_000
"""Bytes of a body that `tail` reads; it shows what there is room for."""


@app.command()
def verify(call: InstanceCall, full: bool = False) -> None:
    """Count inputs without answer, groups without cause or end, broken chains, what agents
    were told that no ask told them, what was acknowledged and never came into the log or is
    lost, and packs that cannot be read.

    Goes on from where the log was sound before. If no instance runs, a broker is started for
    it that reads the files of the whole log, and what waits for an answer is no fault.
    Example: `echoic log verify`. The exit code is 1 if anything is wrong.

    Args:
        full: From the log's first message.
    """
    settings = call.settings
    is_stopped = not is_running(settings) and restoring.holds_log(settings.data)

    async def look(connection: Connection) -> verify_log.Found:
        with Progress("groups read") as progress:
            found = await verify_log.verify(
                connection.log, connection.settings.data, progress, full=full
            )
        missed, lost = await missed_of(connection, full=full)
        packs = await lost_packs(connection.log)
        beside = replace(found, missed=missed, lost=lost, packs=packs)
        return replace(beside, is_stopped=is_stopped)

    if is_stopped:
        found = _of_stopped(call, look)
    else:
        found = on_instance(call, look)
    for each in found.breaks:
        note(f"chain broken at sequence {each.sequence}: {each.detail}")
    for stray in found.strays:
        note(f"{stray.agent} was told by no ask, {stray.sequence}: {stray.why}")
    _tell_lacking(found)
    call.show(found.as_fields(), [_counts(found.counts())])
    if not call.as_json:
        if found.known:
            note(f"{found.known:,} inputs were verified before: --full does it again")
        note("the log is sound" if found.is_sound else "the log is not sound")
    if not found.is_sound:
        raise typer.Exit(errors.FINDING)


def _of_stopped(call: Call, look: Look) -> verify_log.Found:
    """Verify the log of an instance that does not run, whose files may be damaged."""

    async def run() -> verify_log.Found:
        async with restoring.over_stopped(call.settings, "thorough") as connection:
            return await look(connection)

    try:
        return asyncio.run(run())
    except LogDamaged as damage:
        call.show({"sound": False, "damage": str(damage)}, [str(damage)])
        raise typer.Exit(errors.FINDING) from damage


def _tell_lacking(found: verify_log.Found) -> None:
    for each in found.missed:
        note(
            f"{each.agent}: the log missed {each.subject}, {each.sequence} of {each.stream}"
        )
    for lost in found.lost:
        note(f"the broker lost {lost}, which the log does not have")
    for pack in found.packs:
        note(f"the broker cannot hand out the pack {pack}")


def _counts(counts: Mapping[str, int]) -> RenderableType:
    rows = ((name.replace("_", " "), f"{n:,}") for name, n in counts.items())
    return table(("", number()), rows)


@app.command()
def tail(
    call: Call,
    count: Annotated[int, typer.Option("--count", "-n")] = 20,
    follow: Annotated[bool, typer.Option("--follow", "-f")] = False,
    kind: str | None = None,
    direction: Literal["in", "out"] | None = None,
) -> None:
    """Show the last messages of the log, of all agents or of one.

    Examples: `echoic log tail`, `echoic log tail --kind note`, `echoic log tail -f --json`.

    Args:
        count: How many.
        follow: Go on until Ctrl-C.
        kind: Only this kind: sensor, decision, note …
        direction: Only inputs, or only outputs.
    """
    subjects = f"ev.*.{direction or '*'}.{call.agent or '*'}.{kind or '*'}.>"

    async def run(connection: Connection) -> None:
        log = connection.log
        ends = await log.ends(subjects)
        # Of several streams each has its own last ones, and only time joins them.
        last = [await _last(connection, subjects, end, count) for end in ends]
        known = {each.sequence: each for each in chain(*last)}.values()
        for record in sorted(known, key=lambda each: each.time_ns)[-count:]:
            _print(record, call.as_json)
        if follow:
            async for records in log.follow(subjects, ends, _PAGE):
                for record in records:
                    _print(record, call.as_json)

    on_instance(call, run)


async def _last(
    connection: Connection, subjects: str, end: int, count: int
) -> list[Record]:
    """Return the last records, looked for in windows that grow backwards."""
    # Sequences are shared by all subjects, so a window holds only some of those wanted.
    width = max(1_000, 10 * count)
    while True:
        start = max(0, end - width)
        found: deque[Record] = deque(maxlen=count)
        async for record in scan(connection.log, subjects, start, end):
            found.append(record)
        if len(found) == count or start == 0:
            return list(found)
        # Grow fast: a rare kind is found in a long log within a few scans.
        width *= 8


def _print(record: Record, as_json: bool) -> None:
    if as_json:
        print_json(
            {
                "v": 1,
                "sequence": record.sequence,
                "time": record.recorded_at.isoformat(),
                "subject": record.subject,
                "headers": dict(record.headers),
                "body": _body(record),
            },
            is_recorded=True,
        )
        return
    place = parse(record.subject)
    row = Table.grid(padding=(0, 1, 0, 0), expand=True)
    for width, ratio in ((8, None), (8, None), (1, None), (8, None), (None, 1), (None, 2),
        (None, 4)):  # fmt: skip
        row.add_column(width=width, ratio=ratio, no_wrap=True)
    # Cut first: a body may be as long as a message of the broker.
    body = record.body[:_SHOWN].decode(errors="replace")
    cells = (
        f"{record.sequence:>8}",
        f"{record.recorded_at.astimezone():%H:%M:%S}",
        "→" if place.direction == "in" else "←",
        f"{record.headers.get('ce-causeseq', ''):>8}",
        place.agent,
        f"{place.kind}.{place.detail}",
        body,
    )
    row.add_row(*map(text, cells))
    show(row)


def _body(record: Record) -> object:
    try:
        return orjson.loads(record.body)
    except ValueError:
        return record.body.decode(errors="replace")


def _segments(segments: Segments) -> RenderableType:
    rows = [
        (
            each.stream,
            each.state,
            f"{each.partitions[0]} to {each.partitions[1]}",
            f"{each.first:,}",
            "" if each.last is None else f"{each.last:,}",
        )
        for each in segments.segments
    ]
    columns = ("stream", "state", "partitions", number("first"), number("last"))
    return table(columns, rows)
