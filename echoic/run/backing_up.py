"""Backups that an instance with an embedded broker makes by itself (ADR 0083).

Of a damaged log none is made: the broker compares checksums as it hands out what it stores, and
what it passes over in silence is looked for before. Each is restored aside once, so that no
older one goes for one that cannot be. A failure is told, and ends nothing.
"""

import asyncio
import shutil
import time
from contextlib import suppress
from pathlib import Path
from threading import Thread

from echoic.client import backup as backups
from echoic.client.admission import limits_of
from echoic.config.load import Settings
from echoic.config.option import span_s
from echoic.errors import EchoicError
from echoic.run import restoring
from echoic.run.supervision import Notify
from streams.backup_file import reading
from streams.bounds import Room, floor_of
from streams.broker import guarding
from streams.cancellation import heed_cancellation
from streams.errors import LogReclaimed, StreamsError
from streams.jetstream.accounts import Credentials
from streams.jetstream.connection import connected
from streams.log import ReadableLog
from streams.topology import LOG, LOG_SUBJECTS

_BEGIN_S = 60.0
"""Seconds after its start in which an instance has enough to do."""

_DRAFT = ".partial"
"""How the name of a backup ends that was not proved yet."""

_RETRY_S = 600.0
"""Seconds after which one that failed is tried again, at the latest."""


async def keep_backed_up(
    settings: Settings, credentials: Credentials, log: ReadableLog, notify: Notify
) -> None:
    """Back up the log again and again, until cancelled."""
    every, folder = span_s(settings.backup_every), settings.data / backups.FOLDER
    folder.mkdir(mode=0o700, exist_ok=True)
    _tidy(folder)
    pause, told = min(every, _BEGIN_S), None
    while True:
        heed_cancellation()
        await asyncio.sleep(pause)
        try:
            pause = await _left(settings, log, every)
            if pause <= 0.0:
                pause = every
                await _back_up(settings, credentials, log)
            backups.note_failure(settings.data, None)
            told = None
        # Whatever it is, the instance goes on without a backup.
        except Exception as error:  # noqa: BLE001  # told
            pause, why = min(every, _RETRY_S), str(error) or repr(error)
            if why != told:
                notify(f"no backup was made, it is tried again: {why}")
                told = why
            with suppress(OSError):
                backups.note_failure(settings.data, why)


def _tidy(folder: Path) -> None:
    """Delete what a backup left behind that was cut off."""
    for each in folder.glob(f"*{_DRAFT}"):
        each.unlink()
    for each in folder.glob(f"{restoring.PROVING}*"):
        shutil.rmtree(each)


async def _left(settings: Settings, log: ReadableLog, every: float) -> float:
    """Return in how many seconds the next backup is due, 0 or less if now."""
    if made := backups.own(settings.data):
        since = made[-1].stat().st_mtime
    else:
        since = 0.0
        with suppress(LogReclaimed):
            first = await log.record(1)
            since = first.time_ns / 1e9 if first else time.time()
    # Within bounds whatever the clock did meanwhile.
    return min(since + every - time.time(), every)


async def _back_up(
    settings: Settings, credentials: Credentials, log: ReadableLog
) -> None:
    """Make a backup if the log grew, and delete what is too much by it.

    Raises:
        EchoicError: the disk has no room for it.
    """
    data = settings.data
    if made := backups.own(data):
        with reading(made[-1]) as newest:
            held = {
                each.state["last_seq"]
                for each in newest.manifest.streams
                if each.name.startswith(LOG.name)
            }
        if held.issuperset(await log.ends(LOG_SUBJECTS)):
            return
    _check_room(settings)
    await _made(credentials, data, backups.place(data / backups.FOLDER))
    for each in backups.outdated(backups.own(data), settings.backup_keep):
        each.unlink(missing_ok=True)


def _check_room(settings: Settings) -> None:
    store = settings.data / "nats" / "jetstream"
    size = sum(int(each.stat().st_size) for each in store.rglob("*.blk"))
    usage = shutil.disk_usage(settings.data)
    floor = floor_of(Room(usage.free, usage.total), limits_of(settings))
    # The file, and the folder into which it is restored to prove it.
    size *= 2
    if usage.free - size < floor:
        raise EchoicError(
            f"it may take {size / 1e6:,.0f} MB, and of the disk {usage.free / 1e6:,.0f} MB"
            f" are free, of which {floor / 1e6:,.0f} MB stay free"
        )


async def _made(credentials: Credentials, data: Path, path: Path) -> None:
    """Make a backup in a thread, as it hashes and syncs while others want an answer.

    Raises:
        EchoicError: it could not be restored, and is gone.
    """
    draft = path.with_name(f"{path.name}{_DRAFT}")

    async def make() -> None:
        try:
            async with connected(credentials, "echoic backup") as client:
                await guarding.check_open_blocks(client, data / "nats")
                await backups.make(client, None, draft, lambda kilobytes: None)
            await _prove(draft)
            draft.rename(path)
        finally:
            draft.unlink(missing_ok=True)

    done, theirs = asyncio.Event(), asyncio.get_running_loop()
    loop = asyncio.new_event_loop()
    making = loop.create_task(make())

    def run() -> None:
        # What it ends with is looked at below.
        with suppress(BaseException):
            loop.run_until_complete(making)
        loop.run_until_complete(loop.shutdown_asyncgens())
        loop.close()
        theirs.call_soon_threadsafe(done.set)

    Thread(target=run, name="backup").start()
    try:
        await done.wait()
    except asyncio.CancelledError:
        with suppress(RuntimeError):
            loop.call_soon_threadsafe(making.cancel)
        await done.wait()
        raise
    if making.cancelled():
        raise EchoicError("it was broken off")
    making.result()


async def _prove(draft: Path) -> None:
    """Restore a backup aside: what is damaged may be passed over while it is made.

    Raises:
        EchoicError: it cannot be restored.
    """
    try:
        await restoring.prove(draft, draft.parent)
    except StreamsError as error:
        raise EchoicError(f"what was copied cannot be restored: {error}") from error
