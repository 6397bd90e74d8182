"""Who has peace of which agent: what was asked for and is in force, and quiet hours."""

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from typing import TYPE_CHECKING

from nats.aio.client import Client

from echoic.client import known_agents
from echoic.client.connection import Connection
from echoic.embedders import embedder
from schemas.messages.controls import SessionStarted
from schemas.messages.executive import Muted
from schemas.messages.notes import ControlInferred
from schemas.state.executive import EVERYBODY
from schemas.values import timezones
from schemas.values.lazily import Lazily
from schemas.values.settings import MindSettings
from streams.jetstream.checkpoints import JetStreamCheckpoints

if TYPE_CHECKING:
    from echoic.client import state
    from echoic.client.state import AgentSnapshot
    from replay.recording import in_force
else:
    # Whoever asks for no peace folds nothing.
    state = Lazily("echoic.client.state")
    in_force = Lazily("replay.recording.in_force")

_SHOWN = 4
"""How many quiets and mutes are told in a line."""


@dataclass(frozen=True, slots=True)
class Peace:
    """A quiet or mute that is in force."""

    agent: str
    mode: str
    person: str | None
    """None: everybody."""
    name: str
    """The person's, as it is known; else the token."""
    by: str
    until: datetime | None
    """None: until taken back."""

    def __str__(self) -> str:
        """Say it in words, without the agent."""
        whom = f" for {self.name}" if self.person else ""
        return f"{self.mode}{whom} {lasting(self.until)}"


def lasting(until: datetime | None) -> str:
    """Say until when something holds, by the clock of this machine."""
    return "until taken back" if until is None else f"until {shown(until)}"


def shown(moment: datetime) -> str:
    """Return a moment by the clock of this machine; with its date, unless it is today."""
    here = moment.astimezone()
    is_today = here.date() == datetime.now().astimezone().date()
    return f"{here:%H:%M:%S}" if is_today else f"{here:%Y-%m-%d %H:%M}"


def _of_agent(name: str, known: "AgentSnapshot") -> list[Peace]:
    """Return the quiets and mutes of an agent that are in force, to be shown."""
    return [
        Peace(
            agent=name,
            mode=each.mode,
            person=None if each.person == EVERYBODY else each.person,
            name=known.name_of(each.person),
            by=each.by,
            until=each.until,
        )
        for each in state.in_force(known.agent.executive.peace.restraints, known.now)
    ]


async def of_all(connection: Connection) -> list[Peace]:
    """Return every quiet and mute that is in force, by agent."""
    asked = await _ever_asked(connection.client)
    found = await of_agents(connection, asked) if asked else []
    return sorted(found, key=lambda each: (each.agent, each.mode, each.person or ""))


async def of_agents(connection: Connection, names: Sequence[str]) -> list[Peace]:
    """Return the quiets and mutes of agents that are in force.

    They follow from controls alone, so nothing else is folded; but where a session may have
    told its own time, that time says which have lapsed.
    """
    client, found = connection.client, list[Peace]()
    timed = await known_agents.with_subject(
        client, f"ev.*.in.*.control.{SessionStarted.token}"
    )
    checkpoints = JetStreamCheckpoints(client, connection.log.keyring)
    for name in names:
        if name in timed:
            made = embedder(connection.settings["embedder"])
            known = await state.state_at(
                connection.log, name, made, checkpoints=checkpoints
            )
        else:
            bare = await in_force.in_force_before(connection.log, name, is_bare=True)
            known = state.AgentSnapshot(bare.agent, bare.shared, 0)
        found += _of_agent(name, known)
    return found


def told(held: Sequence[Peace], hours: str | None) -> str:
    """Say what keeps agents from speaking; empty if nothing does."""
    named = [f"{each.agent}: {each}" for each in held[:_SHOWN]]
    further = [f"and {len(held) - _SHOWN} more"] if len(held) > _SHOWN else []
    return "; ".join([*([f"quiet hours, {hours}"] if hours else []), *named, *further])


def quiet_hours(settings: MindSettings) -> str | None:
    """Return the hours that are quiet now, with their zone; None if now is none of them."""
    executive = settings.executive
    if not executive.quiet_hours:
        return None
    here = timezones.local(datetime.now(UTC), executive.timezone)
    if not timezones.is_within(executive.quiet_hours, here):
        return None
    return f"{executive.quiet_hours} {executive.timezone}"


async def _ever_asked(client: Client) -> list[str]:
    """Return the agents of which somebody may ever have asked for peace.

    Only their state is worth folding for it.
    """
    by_control = await known_agents.with_subject(
        client, f"ev.*.in.*.control.{Muted.token}"
    )
    by_words = await known_agents.with_subject(
        client, f"ev.*.out.*.note.{ControlInferred.token}"
    )
    return sorted(by_control | by_words)
