"""`echoic log`: the log itself, message by message, and whether it is sound."""

from collections import deque
from dataclasses import asdict
from typing import Annotated, Literal

import orjson
import typer

from echoic import errors, render
from echoic.cli.common import Agent, Data, Json, new_app, note, print_json
from echoic.cli.connected import on_instance
from echoic.cli.progress import Progress
from echoic.live import Connection
from replay import chains
from schemas.record import Record
from schemas.subjects import parse
from streams.audit import audit

app = new_app("log", "The log itself: verify, tail.")

_PAGE = 1_000
_SHOWN = 100
"""How much of a body is shown, in characters."""


@app.command()
def verify(data: Data = None, as_json: Json = False) -> None:
    """Count inputs without answer, groups without cause or end, and broken chains.

    Example: `echoic log verify`. The exit code is 1 if anything is wrong.
    """

    async def count(connection: Connection) -> dict[str, int]:
        found = await audit(connection.log)
        progress = Progress("groups read")
        broken = await chains.check(connection.log, progress)
        progress.done()
        for each in broken:
            note(f"chain broken at sequence {each.sequence}: {each.detail}")
        return {**asdict(found), "broken_chains": len(broken)}

    found = on_instance(data, None, count)
    sound = found["inputs"] == found["groups"] and not any(
        found[name] for name in found if name not in ("inputs", "groups")
    )
    if as_json:
        print_json({"v": 1, **found, "sound": sound})
    else:
        for name, number in found.items():
            print(f"{name.replace('_', ' '):<14} {number:>10,}")
        note("the log is sound" if sound else "the log is not sound")
    if not sound:
        raise typer.Exit(errors.FINDING)


@app.command()
def tail(
    count: Annotated[int, typer.Option("--count", "-n", help="How many.")] = 20,
    follow: Annotated[
        bool, typer.Option("--follow", "-f", help="Go on until Ctrl-C.")
    ] = False,
    kind: Annotated[
        str | None, typer.Option(help="Only this kind: sensor, decision, note …")
    ] = None,
    direction: Annotated[
        Literal["in", "out"] | None, typer.Option(help="Only inputs, or only outputs.")
    ] = None,
    data: Data = None,
    agent: Agent = None,
    as_json: Json = False,
) -> None:
    """Show the last messages of the log, of all agents or of one.

    Examples: `echoic log tail`, `echoic log tail --kind note`, `echoic log tail -f --json`.
    """
    subjects = f"ev.*.{direction or '*'}.{agent or '*'}.{kind or '*'}.>"

    async def show(connection: Connection) -> None:
        log = connection.log
        end = await log.last_sequence(subjects)
        for record in await _last(connection, subjects, end, count):
            _print(record, as_json)
        if follow:
            async for records in log.follow(subjects, end, _PAGE):
                for record in records:
                    _print(record, as_json)

    on_instance(data, None, show)


async def _last(
    connection: Connection, subjects: str, end: int, count: int
) -> list[Record]:
    """The last records, looked for in windows that grow backwards."""
    width = max(1_000, 10 * count)
    while True:
        start = max(0, end - width)
        found: deque[Record] = deque(maxlen=count)
        position = start
        while page := await connection.log.page(subjects, position, _PAGE):
            found.extend(record for record in page if record.sequence <= end)
            position = page[-1].sequence
            if position >= end:
                break
        if len(found) == count or start == 0:
            return list(found)
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
    arrow = "→" if place.direction == "in" else "←"
    text = render.visible(record.body[: 4 * _SHOWN].decode(errors="replace"))
    cause = record.headers.get("ce-causeseq", "")
    print(
        f"{record.sequence:>8} {record.recorded_at.astimezone():%H:%M:%S}"
        f" {arrow} {cause:>8} {place.agent:<12} {f'{place.kind}.{place.detail}':<30}"
        f" {text[:_SHOWN]}",
        flush=True,
    )


def _body(record: Record) -> object:
    try:
        return orjson.loads(record.body)
    except ValueError:
        return record.body.decode(errors="replace")
