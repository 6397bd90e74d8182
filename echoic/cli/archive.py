"""`echoic log archive`: what is finished, kept elsewhere."""

from collections.abc import Sequence
from typing import Annotated

import typer

from echoic.cli.connected import aid_provider, on_instance
from echoic.cli.options import InstanceCall
from echoic.cli.progress import Progress
from echoic.client.archive import segments
from echoic.client.archive.sessions import Kept, keep_sessions
from echoic.client.archive.shelf import Label, Shelf
from echoic.client.archive.stores import opened
from echoic.client.connection import Connection
from echoic.terminal.output import note
from echoic.terminal.screen import number


def archive(
    call: InstanceCall,
    to: Annotated[str, typer.Option("--to", metavar="URL")],
    endpoint: str | None = None,
    list_: Annotated[bool, typer.Option("--list")] = False,
    reclaim: bool = False,
    put_back: str | None = None,
) -> None:
    """Keep finished sessions and closed segments in a store with S3's API, or a folder.

    What is there already is left alone; what is stored is read back, and its digest compared.
    Examples: `echoic log archive --to s3://bucket/echoic`, `echoic log archive --to
    file:///mnt/archive --list`. Any of them is decided again by `echoic replay verify URL`.

    Args:
        to: s3://BUCKET/PREFIX or file:///FOLDER; credentials as for any program of S3's.
        endpoint: The store's address; else AWS_ENDPOINT_URL.
        list_: Only show what the archive holds, of any log.
        reclaim: Then delete the stream of each segment that was read back from there.
        put_back: Make the stream of such a segment again.
    """
    shelf = Shelf(opened(to, endpoint))
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
            "url": f"{shelf.url}/{each.key}",
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
    shown = ("agent", "id", number("messages"), number("bytes"), "url")
    cells = (
        (each["agent"], each["id"], each["messages"], each["bytes"], each["url"])
        for each in rows
    )
    call.show_rows(rows, shown, cells, empty)
