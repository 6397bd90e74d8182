"""Backups of a stopped instance, and restoration: what needs a broker started for it."""

import asyncio
import shutil
import tempfile
from collections.abc import AsyncIterator, Callable
from contextlib import ExitStack, asynccontextmanager
from dataclasses import dataclass, replace
from datetime import UTC, datetime
from pathlib import Path

from echoic.client import backup as backups
from echoic.client import verified
from echoic.client.connection import Connection, credentials_of, open_log
from echoic.client.instance_note import sole_instance
from echoic.config.load import Settings
from echoic.errors import EchoicError, NotRunningError
from streams.backup_file import BackupReader, Manifest, reading
from streams.broker import data_folder as folders
from streams.broker import guarding
from streams.broker.server import Guard, embedded_server
from streams.embedded import write_private
from streams.errors import BackupDamaged
from streams.jetstream import taken_mark
from streams.jetstream.backup import restore
from streams.jetstream.connection import connected
from streams.jetstream.migrate import epoch_of
from streams.topology import KEYS

_SERVER = "nats"
"""The broker's folder within the data folder."""

_LAST = "last"
"""Names the newest whole backup that the instance of the data folder made by itself."""

PROVING = ".proving-"
"""How the name of a folder begins into which a backup is restored to prove it."""

_OF_THE_LOG = ("postgres", verified.FILE, taken_mark.FILE)
"""What follows from the log alone, and is made again of the one that is restored."""

Progress = Callable[[int], None]


async def back_up_stopped(
    settings: Settings, path: Path, progress: Progress, *, with_credentials: bool
) -> backups.Backup:
    """Back up an instance that does not run, by a broker started for it.

    Raises:
        NotRunningError: the folder holds no log.
        LogDamaged: it is damaged.
    """
    async with over_stopped(settings) as connection:
        await check(connection)
        kept = settings.data if with_credentials else None
        return await backups.make(connection.client, kept, path, progress)


async def check(connection: Connection) -> None:
    """Check that the embedded broker hands out all of the log that its files hold.

    Raises:
        LogDamaged: it passes over some, as a backup of it would.
    """
    data = connection.settings.data
    await guarding.check_open_blocks(connection.client, data / _SERVER)


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
            yield Connection(settings, client, log, None, is_stopped=True)


@dataclass(frozen=True, slots=True)
class _Lost:
    """What a damaged stream of the log had, and the backup in its place has not."""

    stream: str
    first: int
    last: int
    """As far as its files tell."""
    until: str | None
    """When the last one was written; None if its record cannot be read."""


@dataclass(frozen=True, slots=True)
class Restored:
    """The result of a restoration."""

    path: Path
    manifest: Manifest
    aside: Path | None = None
    """Where what stood in its place is kept; None: there was nothing."""
    lost: tuple[_Lost, ...] = ()
    passed_over: tuple[str, ...] = ()
    """Newer backups that are altered, and why so."""


def restored(settings: Settings, path: Path, progress: Progress) -> Restored:
    """Put a backup back: at the broker of the settings, else into the data folder.

    One that the instance made by itself takes the place of the log that is there, whose files
    are kept aside; `last` names the newest of them that is whole.

    Raises:
        BackupDamaged: the file is not whole, or altered; nothing was changed.
        EchoicError: the folder is not empty.
        LogRefused: the broker has one of the streams.
    """
    data = settings.data
    passed_over: tuple[str, ...] = ()
    if settings.nats_url is None:
        path, passed_over = _named(data, path)
    is_own = path.absolute().parent == (data / backups.FOLDER).absolute()
    with reading(path) as backup:
        if settings.nats_url is None and not is_own:
            _refuse_full(data)
        backup.check(progress)
        if settings.nats_url is not None:
            asyncio.run(_at_broker(settings, backup, progress))
        elif is_own:
            done = _in_place(data, path, backup, progress)
            return replace(done, passed_over=passed_over)
        else:
            _into(data, backup, progress)
        return Restored(path, backup.manifest)


async def prove(path: Path, folder: Path) -> None:
    """Restore a backup into a folder that is deleted again.

    Raises:
        BackupDamaged: it cannot be restored, for what was copied was damaged.
    """
    aside = tempfile.TemporaryDirectory(dir=folder, prefix=PROVING)
    with reading(path) as backup, aside as draft:
        await _with_server(Path(draft) / _SERVER, backup, lambda kilobytes: None)


def _named(data: Path, path: Path) -> tuple[Path, tuple[str, ...]]:
    """Return the backup that is meant, and which newer ones are altered.

    Raises:
        BackupDamaged: each of the instance's own is altered.
        EchoicError: it has made none.
    """
    if str(path) == _LAST:
        return _newest_whole(data)
    own = (each for each in backups.own(data) if str(path) in (each.name, each.stem))
    return path if path.exists() else next(own, path), ()


def _newest_whole(data: Path) -> tuple[Path, tuple[str, ...]]:
    made = backups.own(data)
    if not made:
        raise EchoicError(
            f"{data / backups.FOLDER} holds no backup: backup.every is off, or the log was"
            " younger. Its files stay as they are; another folder begins anew",
            next_step="echoic up --detach --data ANOTHER_FOLDER",
        )
    altered: list[str] = []
    for path in reversed(made[1:]):
        try:
            with reading(path) as backup:
                backup.check(lambda kilobytes: None)
        except BackupDamaged as error:
            altered.append(str(error))
        else:
            return path, tuple(altered)
    # Of the oldest the caller is told itself.
    return made[0], tuple(altered)


def _in_place(
    data: Path, path: Path, backup: BackupReader, progress: Progress
) -> Restored:
    """Restore over the log that is there; the rest of the folder stays."""
    with sole_instance(data), ExitStack() as stack:
        server = data / _SERVER
        folders.make(server)
        stack.enter_context(folders.lock(server))
        lost = _lost(server, backup.manifest)
        draft = Path(tempfile.mkdtemp(prefix=".restoring-", dir=data))
        stack.callback(shutil.rmtree, draft, ignore_errors=True)
        # The keys of a sealed log are in no backup, and what was forgotten stays forgotten.
        for keys in server.glob(f"jetstream/jetstream/*/streams/{KEYS.name}"):
            shutil.copytree(keys, draft / _SERVER / keys.relative_to(server))
        asyncio.run(_with_server(draft / _SERVER, backup, progress))
        aside = data / f"damaged-{datetime.now(UTC):%Y%m%dT%H%M%SZ}"
        aside.mkdir(mode=0o700)
        for name in _OF_THE_LOG:
            if (data / name).exists():
                (data / name).rename(aside / name)
        guarding.replace(server, draft / _SERVER, aside)
        return Restored(path, backup.manifest, aside, lost)


def _lost(server: Path, manifest: Manifest) -> tuple[_Lost, ...]:
    """Return what a backup lacks of the log whose files are there."""
    held = {each.name: each.state["last_seq"] for each in manifest.streams}
    found = []
    for name, wrote in guarding.written(server).items():
        first = max(held.get(name, 0) + 1, wrote.first)
        if wrote.last >= first:
            at = datetime.fromtimestamp(wrote.at_ns / 1e9, UTC) if wrote.at_ns else None
            until = at.isoformat(timespec="seconds") if at else None
            found.append(_Lost(name, first, wrote.last, until))
    return tuple(found)


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
