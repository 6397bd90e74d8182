"""`echoic backup` and `echoic restore`: all that an instance keeps, as one file."""

import asyncio
import shlex
from dataclasses import asdict
from pathlib import Path
from typing import Annotated

import typer

from echoic.cli.connected import on_instance
from echoic.cli.options import InstanceCall, new_app
from echoic.cli.progress import Progress
from echoic.client import backup as backups
from echoic.client.connection import Connection, is_running
from echoic.errors import EchoicError
from echoic.run import restoring
from echoic.terminal.output import note
from echoic.terminal.screen import number, table
from streams.jetstream.sealed_log import KEYS_MISSING

app = new_app("backup", "All that an instance keeps, as one file.")

Place = Annotated[Path, typer.Argument(metavar="FILE|FOLDER")]
_File = Annotated[Path, typer.Argument(metavar="FILE")]


@app.command()
def backup(call: InstanceCall, path: Place, with_credentials: bool = False) -> None:
    """Copy the log and all that it needs at one moment, while the instance runs.

    Read models are left out, as the log makes them again. Examples: `echoic backup
    tonight.backup`, `echoic backup /var/backups --with-credentials`.

    Args:
        path: The file to write, or a folder for one that is named by the time.
        with_credentials: Also passwords of the broker and its sensors, and HTTP tokens.
    """
    settings, file = call.settings, backups.place(path)
    if with_credentials and settings.nats_url is not None:
        raise EchoicError("the credentials of a broker of your own are yours to keep")
    kept = settings.data if with_credentials else None
    with Progress("kB copied", is_silent=call.as_json) as progress:

        async def copy(connection: Connection) -> backups.Backup:
            if settings.nats_url is None:
                await restoring.check(connection)
            return await backups.make(connection.client, kept, file, progress)

        if is_running(settings):
            made = on_instance(call, copy)
        else:
            made = asyncio.run(
                restoring.back_up_stopped(
                    settings, file, progress, with_credentials=with_credentials
                )
            )
    _show(call, made.as_fields())
    if not call.as_json:
        note(f"written: {file}, {file.stat().st_size:,} bytes")
        if backups.is_sealed(made.manifest):
            note(_KEYS_APART)


@app.command()
def restore(call: InstanceCall, path: _File) -> None:
    """Make an instance's folder of a backup, or the streams at the broker of NATS_URL.

    All digests are checked first, and the folder must be empty. Of the folder's own backups,
    `last` or one by its name, the log that is there is kept aside, and what it had since is
    told. Examples: `echoic restore tonight.backup --data restored`, `echoic restore last`.

    Args:
        path: The backup; `last` is the newest whole one that the instance made by itself.
    """
    settings = call.settings
    with Progress("kB read", is_silent=call.as_json) as progress:
        done = restoring.restored(settings, path, progress)
    place = "broker" if settings.nats_url else str(settings.data)
    fields = {
        "restored": place,
        "file": str(done.path),
        **backups.held(done.manifest),
        "aside": str(done.aside) if done.aside else None,
        "lost": [asdict(each) for each in done.lost],
        "passed_over": list(done.passed_over),
    }
    _show(call, fields)
    if not call.as_json:
        _tell(done)
        there = "" if settings.nats_url else f" --data {shlex.quote(place)}"
        note(f"next: echoic up --detach{there}, then echoic log verify --full{there}")
        if backups.is_sealed(done.manifest) and done.aside is None:
            note(KEYS_MISSING)


def _tell(done: restoring.Restored) -> None:
    """Say what was there before, and what of it the backup lacks."""
    for why in done.passed_over:
        note(f"passed over, a newer one: {why}")
    if done.aside is None:
        return
    note(f"{done.path}, made {done.manifest.made_at}; what was there: {done.aside}")
    for each in done.lost:
        until = f", the last of {each.until}" if each.until else ""
        count = each.last - each.first + 1
        note(
            f"{count:,} messages written since are missing: {each.stream} had"
            f" {each.first} to {each.last}{until}"
        )
    if not done.lost:
        note("nothing that was written since is known to be missing")


_KEYS_APART = (
    "the log is sealed, and its keys are in no backup: without a copy of the stream KV_KEYS"
    " (`nats stream backup KV_KEYS FOLDER`) this one reads [forgotten] throughout"
)


def _show(call: InstanceCall, fields: dict[str, object]) -> None:
    streams = fields["streams"]
    assert isinstance(streams, list)
    rows = [
        (each["name"], f"{each['messages']:,}", f"{each['last']:,}")
        for each in streams
        if each["messages"]
    ]
    header = ("stream", number("messages"), number("last"))
    call.show(fields, [table(header, rows)])
