"""`echoic log`: the log itself, message by message, and whether it is sound."""

from collections import deque
from dataclasses import asdict
from pathlib import Path
from typing import Annotated, Literal

import orjson
import typer

from echoic import errors
from echoic.cli.connected import on_instance
from echoic.cli.options import Call, InstanceCall, new_app
from echoic.cli.progress import Progress
from echoic.client import verify_log
from echoic.client.connection import Connection, is_running
from echoic.run import salvage as salvaging
from echoic.run.salvage import Damage
from echoic.terminal.output import note, print_json
from echoic.terminal.text import visible
from schemas.values.record import Record
from schemas.values.subjects import parse
from streams.log import scan
from streams.losses import Sequences

app = new_app("log", "The log itself: verify, tail, salvage.")

# Records in one request of a follower.
_PAGE = 1_000
_SHOWN = 100
"""Characters of a body that `tail` shows."""


@app.command()
def verify(call: InstanceCall, full: bool = False) -> None:
    """Count inputs without answer, groups without cause or end, and broken chains.

    Goes on from where the log was sound before; if no instance runs, looks whether the
    stored log is damaged. Example: `echoic log verify`. The exit code is 1 if anything is
    wrong.

    Args:
        full: From the log's first message.
    """
    settings = call.settings
    # The files may be read only while no broker writes them.
    if not is_running(settings) and salvaging.is_ours(settings.data):
        _look(settings.data, call.as_json)
        return

    async def look(connection: Connection) -> verify_log.Found:
        progress = Progress("groups read")
        found = await verify_log.verify(
            connection.log, connection.settings.data, progress, full=full
        )
        progress.done()
        return found

    found = on_instance(call, look)
    for each in found.breaks:
        note(f"chain broken at sequence {each.sequence}: {each.detail}")
    call.show(
        found.as_fields(),
        (
            f"{name.replace('_', ' '):<14} {number:>10,}"
            for name, number in found.counts().items()
        ),
    )
    if not call.as_json:
        if found.known:
            note(f"{found.known:,} inputs were verified before: --full does it again")
        note("the log is sound" if found.is_sound else "the log is not sound")
    if not found.is_sound:
        raise typer.Exit(errors.FINDING)


def _look(data: Path, as_json: bool) -> None:
    """Check the stored log of an instance that does not run."""
    progress = Progress("blocks read")
    damage = salvaging.look(data, progress)
    progress.done()
    if as_json:
        print_json(_damage_fields(damage))
    else:
        _tell(damage)
        note(
            "the stored log is whole; its chains are verified while the instance runs"
            if damage.is_sound
            else "the log is damaged: nothing is read of it before `echoic log salvage`"
        )
    if not damage.is_sound:
        raise typer.Exit(errors.FINDING)


@app.command()
def salvage(call: InstanceCall) -> None:
    """Make a damaged log one that can be read on, without what it lost.

    The store is copied first. Nothing is published anew, no sequence is used again, and
    the log records by partition what is gone. Example: `echoic log salvage`.
    """
    settings = call.settings
    progress = Progress("blocks read")
    done = salvaging.salvage(settings.data, progress)
    progress.done()
    if done is None:
        damage = salvaging.look(settings.data)
        if call.as_json:
            print_json(_damage_fields(damage))
        else:
            note("nothing is damaged: there is nothing to salvage")
        return
    if call.as_json:
        print_json({**_damage_fields(done.damage), "copy": str(done.copy)})
        return
    _tell(done.damage)
    note(f"the store as it was found: {done.copy}")
    note(
        "next: echoic up, and if the read models stand still: echoic projection rebuild"
    )


def _tell(damage: Damage) -> None:
    """Print what was found, for a person."""
    found = damage.survey
    for name, number in (
        ("blocks", found.blocks),
        ("messages", found.records),
        ("inputs", damage.inputs),
        ("groups", damage.groups),
        ("recorded lost", damage.recorded),
    ):
        print(f"{name:<14} {number:>10,}")
    for name in found.damaged:
        print(f"damaged: {found.folder / name}")
    for each in found.missing:
        if damage.losses:
            print(f"lost: {each.first} to {each.last} of {each.block}")
    for partition, loss in damage.losses.items():
        lost, void = len(Sequences(loss.lost)), len(Sequences(loss.void))
        agents = ", ".join(sorted(loss.agents)) or "of no agent for sure"
        print(f"partition {partition}: up to {lost} lost, {void} left over ({agents})")
    if damage.agents:
        print(f"agents: {', '.join(damage.agents)}")


def _damage_fields(damage: Damage) -> dict[str, object]:
    """Return what was found, for a program."""
    found = damage.survey
    return {
        "v": 1,
        "sound": damage.is_sound,
        "folder": str(found.folder),
        "blocks": found.blocks,
        "messages": found.records,
        "inputs": damage.inputs,
        "groups": damage.groups,
        "last": found.last,
        "recorded_lost": damage.recorded,
        "damaged": list(found.damaged),
        "missing": [asdict(each) for each in found.missing],
        "partitions": {
            str(partition): {"lost": loss.lost, "void": loss.void}
            for partition, loss in damage.losses.items()
        },
        "agents": list(damage.agents),
    }


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

    async def show(connection: Connection) -> None:
        log = connection.log
        end = await log.last_sequence(subjects)
        for record in await _last(connection, subjects, end, count):
            _print(record, call.as_json)
        if follow:
            async for records in log.follow(subjects, end, _PAGE):
                for record in records:
                    _print(record, call.as_json)

    on_instance(call, show)


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
    arrow = "→" if place.direction == "in" else "←"
    # A character of UTF-8 takes at most four bytes; the cut may halve one, hence `replace`.
    text = visible(record.body[: 4 * _SHOWN].decode(errors="replace"))
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
