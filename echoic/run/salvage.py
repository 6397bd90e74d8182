"""Salvage of a damaged log: find what is lost, mend the store, and record the losses.

No message is published again and no sequence is reused. The store is copied before
anything changes it; then the log itself records, by partition, what it has lost.
"""

import asyncio
import json
import shlex
import shutil
from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace
from datetime import UTC, datetime
from functools import partial
from pathlib import Path
from uuid import UUID, uuid4

from nats.aio.client import Client

from echoic.client import verified
from echoic.client.instance_note import sole_instance
from echoic.errors import EchoicError
from schemas.messages.controls import MessagesLost, Stretches
from schemas.values.subjects import PARTITIONS, SHARED_AGENT, parse
from streams.broker import data_folder as server_folder
from streams.broker.server import embedded_server
from streams.disk import survey as surveying
from streams.disk.leftovers import Leftovers
from streams.disk.mending import mend
from streams.jetstream.append import JetStreamWriter
from streams.jetstream.connection import call
from streams.jetstream.intake import logged
from streams.jetstream.migrate import epoch_of
from streams.jetstream.missed import Missed
from streams.jetstream.segments import roll_over
from streams.log import append_input
from streams.losses import Sequences, stretches
from streams.topology import EPOCH_KEY, KEYS, LOG

Progress = Callable[[int], None]
"""Called with how many blocks were read."""

_SERVER = "nats"
"""The broker's folder within the data folder."""

AT_ONCE = 5_000
"""Stretches per message: more would not fit into the largest input the broker accepts."""


@dataclass(frozen=True, slots=True)
class Loss:
    """What a partition lost that the log does not record yet."""

    lost: Stretches
    """Sequences that are gone, including those whose partition cannot be known."""
    void: Stretches
    """Sequences of groups of which a part is gone: nobody may read what is left of them."""
    agents: frozenset[str]
    """The agents to whom lost messages certainly belonged."""

    def messages(self) -> Iterator[MessagesLost]:
        """Yield the messages that record the loss, at most `AT_ONCE` stretches in each."""
        for at in range(0, max(len(self.lost), len(self.void)), AT_ONCE):
            part = slice(at, at + AT_ONCE)
            yield MessagesLost(lost=self.lost[part], void=self.void[part])


@dataclass(frozen=True, slots=True)
class Damage:
    """What an inspection of a stored log found."""

    surveys: tuple[surveying.Survey, ...]
    """Of each stream, by first sequence; there is one at least."""
    inputs: int
    groups: int
    recorded: int
    """How many sequences the log records as lost."""
    losses: dict[int, Loss]
    """By partition."""
    passed: tuple[Missed, ...] | None = None
    """What intake streams hold and the log has not; None: it was not compared."""

    @property
    def is_sound(self) -> bool:
        """Whether nothing is damaged, and nothing gone but what the log records."""
        return not self.damaged and not self.losses

    @property
    def folder(self) -> Path:
        """The folder of the first stream's blocks."""
        return self.surveys[0].folder

    @property
    def blocks(self) -> int:
        """How many there are."""
        return sum(each.blocks for each in self.surveys)

    @property
    def records(self) -> int:
        """How many messages are sound."""
        return sum(each.records for each in self.surveys)

    @property
    def last(self) -> int:
        """The last sequence that the log is known to have had."""
        return max(each.last for each in self.surveys)

    @property
    def damaged(self) -> tuple[Path, ...]:
        """The damaged files."""
        return tuple(
            each.folder / name for each in self.surveys for name in each.damaged
        )

    @property
    def missing(self) -> tuple[surveying.Missing, ...]:
        """The stretches that are gone, of all streams."""
        return tuple(
            replace(missing, block=named(each.folder / missing.block))
            for each in self.surveys
            for missing in each.missing
        )

    @property
    def agents(self) -> tuple[str, ...]:
        """The agents of whom messages are certainly gone, sorted."""
        # A torn message still names its agent and partition; a missing one names nothing.
        torn = [place for each in self.surveys for place in each.torn.values()]
        own = frozenset(agent for _, agent in torn)
        return tuple(sorted(own.union(*(each.agents for each in self.losses.values()))))


@dataclass(frozen=True, slots=True)
class Salvaged:
    """The result of a salvage."""

    damage: Damage
    copy: Path
    """The folder that holds the store as it was found."""


def named(file: Path) -> str:
    """Return what a file is called: without its stream if that is the log's first one."""
    stream = surveying.stream_of(file.parent)
    return file.name if stream == LOG.name else f"{stream}/{file.name}"


def is_ours(data: Path) -> bool:
    """Tell whether a data folder holds the store of an embedded broker."""
    return bool(surveying.all_messages_of(data / _SERVER))


def look(data: Path, progress: Progress = lambda count: None) -> Damage:
    """Inspect the stored log of a data folder without a server; change nothing.

    Raises:
        EchoicError: there is none, or its server runs.
        LogDamaged: not one block is left.
    """
    folders = surveying.all_messages_of(data / _SERVER)
    if not folders:
        raise EchoicError(f"{data} holds no log", next_step="echoic up")
    if server_folder.running(data / _SERVER) is not None:
        raise EchoicError(
            f"a nats-server works on the log in {data}",
            next_step=f"echoic down --data {shlex.quote(str(data))}",
        )
    leftovers = Leftovers()
    found = _surveys(data, folders, leftovers, progress)
    counts = leftovers.counts()
    # A stretch of unknown owner is recorded in all partitions, so they are joined to count
    # each sequence once.
    known = [leftovers.recorded(each)[0] for each in range(PARTITIONS)]
    damage = Damage(
        found,
        counts["inputs"],
        counts["groups"],
        len(_together(known)),
        _losses(found, leftovers, _together(known)),
    )
    # What was lost, or is in an archive, would read as never taken; an intake task of a
    # sealed log names no origins.
    is_sealed = any((data / _SERVER).glob(f"jetstream/jetstream/*/streams/{KEYS.name}"))
    if not damage.is_sound or damage.recorded or found[0].first > 1 or is_sealed:
        return damage
    return replace(damage, passed=tuple(_passed(data, leftovers)))


def _passed(data: Path, leftovers: Leftovers) -> Iterator[Missed]:
    """Yield what the log has not; what is behind all that it has may still be on its way."""
    for stream, stored in surveying.boxed(data / _SERVER):
        taken, at = leftovers.taken[stream], stored.sequence
        if any(first <= at <= last for first, last in taken.lacks(at)):
            subject = stored.subject.decode(errors="replace")
            place = parse(logged(subject, at))
            yield Missed(
                stream=stream,
                sequence=at,
                subject=subject,
                agent=place.agent,
                partition=place.partition,
                is_behind=at > taken.last,
            )


def _surveys(
    data: Path, folders: list[Path], leftovers: Leftovers, progress: Progress
) -> tuple[surveying.Survey, ...]:
    """Read all streams; a partition's messages come in the order of their sequences."""
    marked = _last_known(data, folders)
    found, done = [], 0
    begins = [*map(surveying.first_of, folders), marked + 1]
    for folder, begin, next_ in zip(folders, begins, begins[1:], strict=False):
        last = marked if begin <= marked < next_ else 0
        told = partial(_on, progress, done)
        found.append(surveying.survey(folder, last, leftovers.take, told))
        done += found[-1].blocks
    # Each partition began with where the stream before ended: then its end is known too.
    return tuple(
        surveying.survey(each.folder, leftovers.closed[each.stream])
        if leftovers.closed.get(each.stream, 0) > each.last
        else each
        for each in found
    )


def _on(progress: Progress, before: int, count: int) -> None:
    progress(before + count)


def salvage(data: Path, progress: Progress = lambda count: None) -> Salvaged | None:
    """Copy the store, mend it, and record what is lost; None if nothing is.

    Raises:
        EchoicError: an instance runs, there is no room for the copy, or the server does
            not take what was mended.
        LogDamaged: not one block is left.
    """
    # Held to the end: nobody may start a server on a store that is half mended.
    with sole_instance(data):
        damage = look(data, progress)
        if damage.is_sound:
            return None
        copy = data / f"salvaged-{datetime.now(UTC):%Y%m%dT%H%M%S%f}"
        _copied(data / _SERVER / "jetstream", copy)
        for each in damage.surveys:
            if each.damaged or each.missing:
                mend(each)
        asyncio.run(_record(data / _SERVER, damage))
        return Salvaged(damage, copy)


def _copied(store: Path, copy: Path) -> None:
    """Copy the store, whole or not at all.

    Raises:
        EchoicError: it cannot be copied; nothing may be mended then.
    """
    try:
        shutil.copytree(store, copy, ignore_dangling_symlinks=True)
    except OSError as error:
        shutil.rmtree(copy, ignore_errors=True)
        raise EchoicError(
            f"the store could not be copied to {copy}, so nothing was changed: {error}",
            next_step="df -h, then echoic log salvage",
        ) from error


async def _record(folder: Path, damage: Damage) -> None:
    """Start the server alone, check that it kept what was left, and record the losses."""
    async with embedded_server(folder, guarded=False) as server:
        client = await server.connect("echoic salvage")
        try:
            for each in damage.surveys:
                await _check(client, each)
            # What takes the records of the losses may still have to be made.
            await roll_over(client, None, opens=False)
            epoch, writer = await epoch_of(client), JetStreamWriter(client)
            for partition, loss in damage.losses.items():
                for message in loss.messages():
                    await append_input(
                        writer,
                        epoch,
                        message,
                        agent=SHARED_AGENT,
                        partition=partition,
                        # Random, so that no earlier salvage's id can make the broker drop
                        # this one.
                        id_=str(uuid4()),
                        source="/echoic/salvage",
                    )
        finally:
            await client.close()


async def _check(client: Client, found: surveying.Survey) -> None:
    state = (await call(client, f"$JS.API.STREAM.INFO.{found.stream}", {}))["state"]
    if (state["messages"], state["last_seq"]) != (found.records, found.last):
        raise EchoicError(
            f"the broker has {state['messages']:,} messages up to {state['last_seq']:,}"
            f" of the mended {found.stream}, not {found.records:,} up to {found.last:,}:"
            " the store as it was lies beside it, in the newest folder `salvaged-…`",
            next_step="echoic log verify",
        )


def _losses(
    found: tuple[surveying.Survey, ...], leftovers: Leftovers, recorded: Sequences
) -> dict[int, Loss]:
    """Return what each partition still has to record, by partition."""
    # A stretch that is recorded once by its first sequence is recorded whole.
    rest = [
        stretch
        for each in found
        for stretch in surveying.unplaced(each)
        if stretch[0] not in recorded
    ]
    torn = {at: place for each in found for at, place in each.torn.items()}
    gone = Sequences(stretch for each in found for stretch in each.lost.stretches)
    losses = {}
    for partition in range(PARTITIONS):
        own = [
            sequence
            for sequence in sorted(torn)
            if torn[sequence][0] == partition and sequence not in recorded
        ]
        void, agents = leftovers.void(partition, gone)
        lost: Stretches = tuple(sorted([*rest, *stretches(own)]))
        if lost or void:
            losses[partition] = Loss(lost, void, agents)
    return losses


def _together(known: list[Sequences]) -> Sequences:
    return Sequences({each for own in known for each in own.stretches})


def _last_known(data: Path, folders: list[Path]) -> int:
    """Return the last sequence that a verification of this log saw; 0 if there is none.

    Without it, messages missing at the very end of the store could not be noticed.
    """
    marks = verified.recall(data)
    try:
        meta = json.loads((folders[0].parent / "meta.inf").read_bytes())
        epoch = UUID(meta["metadata"][EPOCH_KEY])
    # The stream's own metadata is damaged: without the epoch the mark may be of another
    # log.
    except (OSError, ValueError, KeyError):
        return 0
    return marks.last if marks is not None and marks.epoch == str(epoch) else 0
