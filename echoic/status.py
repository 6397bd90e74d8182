"""The facts of `status`: what runs and how it is, from the log and the data folder.

It only reads; `doctor` tries what can fail, which costs a model call.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime

from echoic import doctor
from echoic.client import find, known_agents, peace
from echoic.client.connection import Connection
from echoic.client.in_force import experimenting, explored, own_of
from echoic.client.instance_note import read_note
from echoic.client.owners import Owner, owners
from echoic.client.peace import Peace
from echoic.client.watch import settings_in_force
from echoic.errors import NotFoundError
from replay.recording.decisions import DecisionRecord
from replay.recording.in_force import InForce, in_force_before
from schemas.messages.learning import TrustChanged
from schemas.values.settings import MindSettings
from streams.log import ReadableLog, messages

# The rows of agents that fit on one screen.
_AGENTS = 8


@dataclass(frozen=True, slots=True, kw_only=True)
class Status:
    """An instance at a glance."""

    process: int | None
    """None: an external broker, named by the settings."""
    since: datetime | None
    data: str
    broker: str
    database: str | None
    last_message: int
    """The sequence of the last message of the log."""
    mind: MindSettings
    model: str | None
    """What is wrong with the model, found when the instance started; None: nothing is known
    to be."""
    exploration: str | None
    """How is explored; None: it is not."""
    packs: tuple[str, ...]
    """The packs in force for all agents, by name and version."""
    own: tuple[str, ...]
    """What agents that decided lately have in force of their own, in words."""
    worker: str
    """Whether every input is answered, in words."""
    workers: tuple[Owner, ...]
    """Who owns which partitions, and who stands by for them."""
    read_models: str
    quarantine: str
    """What was quarantined, by reason, in words."""
    storage: str
    """Whether there is room for what sensors send, in words."""
    backups: str | None
    """Why the last backup that the instance made by itself failed; None: it did not."""
    peace: tuple[Peace, ...]
    """Every quiet and mute that is in force."""
    quiet_hours: str | None
    """The hours that are quiet, if now is one of them."""
    fallen: tuple[str, ...]
    """Domains, as `<agent>/<domain>`, that nothing answers since their last trusted
    heuristic fell."""
    agents: int
    lately: tuple[DecisionRecord, ...]
    """The last decisions of the agents that decided most recently, newest first."""


async def look(connection: Connection) -> Status:
    """Collect the status of the instance behind a connection."""
    settings = connection.settings
    note = None if settings.nats_url else read_note(settings.data)
    named = await known_agents.names(connection.client)
    checks = await doctor.of_flow(connection)
    found = {check.name: check.found for check in checks}
    wrong = {check.name: check.found for check in checks if check.verdict == "problem"}
    database = connection.database_url
    mind = await settings_in_force(connection.log, 0)
    lately = await _lately(connection, named)
    # The one that is asked about, too, before it has decided anything.
    agents = sorted({each.agent for each in lately} | {settings.agent})
    log = connection.log
    in_force = {each: await in_force_before(log, each, is_bare=True) for each in agents}
    # One whose experiment runs is told of, however long it has decided nothing.
    in_force |= await experimenting(connection.client, log)
    return Status(
        process=note.pid if note else None,
        since=datetime.fromisoformat(note.started_at) if note else None,
        data=str(settings.data),
        # Addresses are shown without user and password.
        broker=connection.client.connected_url.netloc.rpartition("@")[2]
        if connection.client.connected_url
        else "",
        database=database.rpartition("@")[2] if database else None,
        last_message=await connection.log.last_sequence("ev.>"),
        mind=mind,
        model=note.model if note else None,
        exploration=explored(mind.exploration),
        packs=_packs(in_force[agents[0]]),
        own=tuple(
            filter(None, (own_of(each, in_force[each]) for each in sorted(in_force)))
        ),
        worker=found["worker"],
        workers=await owners(connection.client),
        read_models=found["read models"],
        quarantine=found["quarantine"],
        storage=found["storage"],
        backups=wrong.get("backups"),
        peace=tuple(await peace.of_all(connection)),
        quiet_hours=peace.quiet_hours(mind),
        fallen=() if mind.model else tuple(await fallen(connection.log, named)),
        agents=len(named),
        lately=lately,
    )


def _packs(in_force: InForce) -> tuple[str, ...]:
    packs = in_force.shared.packs
    return tuple(f"{name} {packs[name].version}" for name in sorted(packs))


async def fallen(log: ReadableLog, agents: Sequence[str]) -> list[str]:
    """Return the domains of which evidence has last said that nothing is trusted there."""
    last: dict[str, bool] = {}
    for agent in agents:
        async for _, told in messages(log, TrustChanged, agent):
            last[f"{agent}/{told.domain}"] = told.is_trusted
    return [name for name in last if not last[name]]


async def _lately(
    connection: Connection, agents: list[str]
) -> tuple[DecisionRecord, ...]:
    found: list[DecisionRecord] = []
    for agent in agents:
        try:
            found.append(await find.last_decision(connection.log, agent))
        except NotFoundError:
            continue
    found.sort(key=lambda each: each.at, reverse=True)
    return tuple(found[:_AGENTS])
