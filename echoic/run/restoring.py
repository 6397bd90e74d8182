"""Backups of a stopped instance, and restoration: what needs a broker started for it."""

import asyncio
import shutil
import tempfile
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager
from pathlib import Path

from echoic.client import backup as backups
from echoic.client.backup import Backup
from echoic.client.connection import Connection, credentials_of, open_log
from echoic.client.instance_note import sole_instance
from echoic.config.load import Settings
from echoic.errors import EchoicError, NotRunningError
from streams.backup_file import BackupReader, Manifest, reading
from streams.broker.server import Guard, embedded_server
from streams.embedded import write_private
from streams.jetstream.backup import restore
from streams.jetstream.connection import connected
from streams.jetstream.migrate import epoch_of

_SERVER = "nats"
"""The broker's folder within the data folder."""

Progress = Callable[[int], None]


async def back_up_stopped(
    settings: Settings, path: Path, progress: Progress, *, with_credentials: bool
) -> Backup:
    """Back up an instance that does not run, by a broker started for it.

    Raises:
        NotRunningError: the folder holds no log.
        LogDamaged: it is damaged.
    """
    async with over_stopped(settings) as connection:
        kept = settings.data if with_credentials else None
        return await backups.make(connection.client, kept, path, progress)


def holds_log(data: Path) -> bool:
    """Tell whether a data folder holds the log of an embedded broker."""
    return (data / _SERVER / "jetstream").is_dir()


@asynccontextmanager
async def over_stopped(
    settings: Settings, guard: Guard = "quick"
) -> AsyncIterator[Connection]:
    """Connect to a broker that is started over the folder of an instance that does not run.

    Raises:
        NotRunningError: the folder holds no log.
        LogDamaged: it is damaged; nothing of it was changed.
    """
    if not holds_log(settings.data):
        raise NotRunningError(
            f"no instance runs over {settings.data}, and it holds no log",
            next_step="echoic up --detach",
        )
    with sole_instance(settings.data):
        async with (
            embedded_server(settings.data / _SERVER, guard=guard) as server,
            connected(server.core, "echoic command") as client,
        ):
            log = await open_log(client, await epoch_of(client))
            yield Connection(settings, client, log, None)


def restored(settings: Settings, path: Path, progress: Progress) -> Manifest:
    """Put a backup back: at the broker of the settings, else into the data folder.

    Raises:
        BackupDamaged: the file is not whole, or altered; nothing was changed.
        EchoicError: the folder is not empty.
        LogRefused: the broker has one of the streams.
    """
    with reading(path) as backup:
        if settings.nats_url is None:
            _refuse_full(settings.data)
        backup.check(progress)
        if settings.nats_url is not None:
            asyncio.run(_at_broker(settings, backup, progress))
        else:
            _into(settings.data, backup, progress)
        return backup.manifest


async def _at_broker(
    settings: Settings, backup: BackupReader, progress: Progress
) -> None:
    async with connected(credentials_of(settings), "echoic restore") as client:
        await restore(client, backup, settings.nats_replicas, progress)


def _refuse_full(data: Path) -> None:
    if data.exists() and (not data.is_dir() or any(data.iterdir())):
        raise EchoicError(
            f"{data} is not empty: a backup is restored into an empty folder",
            next_step="echoic restore FILE --data ANOTHER_FOLDER",
        )


def _into(data: Path, backup: BackupReader, progress: Progress) -> None:
    """Restore into a folder beside the wanted one, which gets its name once it is whole."""
    data.parent.mkdir(parents=True, exist_ok=True)
    # A folder of its own name: a restoration that is killed leaves nothing that starts.
    draft = Path(tempfile.mkdtemp(prefix=f".{data.name}.restoring-", dir=data.parent))
    try:
        asyncio.run(_with_server(draft / _SERVER, backup, progress))
        for part in backup.manifest.files:
            _put_file(
                draft, part.name.removeprefix("files/"), b"".join(backup.pieces(part))
            )
        draft.rename(data)
    except BaseException:
        shutil.rmtree(draft, ignore_errors=True)
        raise


async def _with_server(folder: Path, backup: BackupReader, progress: Progress) -> None:
    async with embedded_server(folder, guard="none") as server:
        client = await server.connect("echoic restore")
        try:
            await restore(client, backup, 1, progress)
        finally:
            await client.close()


def _put_file(folder: Path, name: str, body: bytes) -> None:
    path = (folder / name).resolve()
    # What a file says of itself is not trusted: it may come from anywhere.
    if not path.is_relative_to(folder.resolve()):
        raise EchoicError(f"the backup names a file outside its folder: {name!r}")
    path.parent.mkdir(parents=True, exist_ok=True, mode=0o700)
    write_private(path, body)
