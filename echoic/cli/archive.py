"""`echoic log archive`: what is finished, kept elsewhere."""

from collections.abc import Sequence
from pathlib import Path
from typing import Annotated

import typer

from echoic.cli.connected import aid_provider, on_instance
from echoic.cli.options import InstanceCall
from echoic.cli.progress import Progress
from echoic.client.archive import segments
from echoic.client.archive.sessions import Kept, keep_sessions
from echoic.client.archive.shelf import Label, Shelf
from echoic.client.connection import Connection
from echoic.terminal.output import note
from echoic.terminal.screen import number


def archive(
    call: InstanceCall,
    to: Annotated[Path, typer.Option("--to", metavar="FOLDER")],
    list_: Annotated[bool, typer.Option("--list")] = False,
    reclaim: bool = False,
    put_back: str | None = None,
) -> None:
    """Keep finished sessions and closed segments as files in a folder.

    What is there already is left alone; what is stored is read back, and its digest compared.
    Examples: `echoic log archive --to /mnt/archive`, `echoic log archive --to /mnt/archive
    --list`. Any session there is decided again by `echoic replay verify FILE`.

    Args:
        to: The folder; one in an object store is mounted, or copied from.
        list_: Only show what the archive holds, of any log.
        reclaim: Then delete the stream of each segment that was read back from there.
        put_back: Make the stream of such a segment again.
    """
    shelf = Shelf(to)
    if list_:
        labels = sorted(shelf.labels(), key=lambda each: (each.epoch, each.first))
        _show(call, shelf, labels, "nothing is kept there yet")
        return

    if put_back is not None:
        _put_back(call, shelf, put_back)
        return

    async def keep(connection: Connection) -> tuple[Kept, list[str]]:
        client, provider = connection.client, aid_provider(connection)
        with Progress("sessions stored", is_silent=call.as_json) as progress:
            kept = await keep_sessions(connection.log, shelf, provider, progress)
        with Progress("kB stored", is_silent=call.as_json) as progress:
            kept.stored += await segments.keep_segments(client, shelf, progress)
        gone = await segments.reclaim(client, shelf) if reclaim else []
        return kept, gone

    kept, gone = on_instance(call, keep)
    _show(call, shelf, kept.stored, "nothing new")
    if not call.as_json:
        note(f"{len(kept.stored):,} stored, {kept.known:,} there before")
        for each in gone:
            note(f"deleted: {each}, which the archive has")


def _put_back(call: InstanceCall, shelf: Shelf, stream: str) -> None:
    async def put(connection: Connection) -> None:
        replicas = connection.settings.nats_replicas
        with Progress("kB read", is_silent=call.as_json) as progress:
            await segments.put_back(
                connection.client, shelf, stream, replicas, progress
            )

    on_instance(call, put)
    call.show({"put_back": stream}, [f"{stream} is there again"])


def _show(
    call: InstanceCall, shelf: Shelf, labels: Sequence[Label], empty: str
) -> None:
    rows = [
        {
            "file": str(shelf.folder / each.key),
            "kind": each.kind,
            "agent": each.agent,
            "id": each.id,
            "first": each.first,
            "last": each.last,
            "messages": each.messages,
            "bytes": each.size,
            "sha256": each.sha256,
        }
        for each in labels
    ]
    shown = ("agent", "id", number("messages"), number("bytes"), "file")
    cells = (
        (each["agent"], each["id"], each["messages"], each["bytes"], each["file"])
        for each in rows
    )
    call.show_rows(rows, shown, cells, empty)
