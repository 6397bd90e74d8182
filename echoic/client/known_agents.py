"""The agents of the log, so that a misspelt one is an error and not an empty page.

An agent is known from its first input on.
"""

from collections import Counter

from nats.aio.client import Client

from echoic.client.connection import Connection
from echoic.errors import NotFoundError, meant
from schemas.values.subjects import SHARED_AGENT, parse, partition_of
from streams.jetstream.connection import insist
from streams.topology import LOG

_NAMED = 12
"""Agents that an error lists at most."""


async def check(connection: Connection) -> None:
    """Check that the agent that a flag names is known.

    Raises:
        NotFoundError: it is not; the known ones are named.
    """
    settings = connection.settings
    agent = settings.agent
    # The default agent may be new: the first event of an instance makes it.
    if not settings.origins["agent"].startswith("flag"):
        return
    if await connection.log.last_sequence(f"ev.{partition_of(agent)}.in.{agent}.>"):
        return
    known = await names(connection.client)
    listed = ", ".join(known[:_NAMED]) + (" …" if len(known) > _NAMED else "")
    raise NotFoundError(
        f"there is no agent {agent!r}{meant(agent, known)}; known: {listed or 'none yet'}",
        next_step=f'echoic pub "hello" --agent {agent}, to begin with it',
    )


async def names(client: Client) -> list[str]:
    """Return every agent that the log has an input of, sorted."""
    found = {parse(each).agent for each in await _input_subjects(client)}
    return sorted(found - {SHARED_AGENT})


async def inputs_by_partition(client: Client) -> dict[int, int]:
    """Return the number of inputs by partition; those without any are missing."""
    found: Counter[int] = Counter()
    for subject, count in (await _input_subjects(client)).items():
        found[parse(subject).partition] += count
    return dict(found)


async def _input_subjects(client: Client) -> dict[str, int]:
    """Return the number of inputs by subject."""
    subject = f"$JS.API.STREAM.INFO.{LOG.name}"
    found: dict[str, int] = {}
    # The broker returns 100,000 subjects a page at most.
    while True:
        wanted = {"subjects_filter": "ev.*.in.*.>", "offset": len(found)}
        info = await insist(client, subject, wanted)
        page = info["state"].get("subjects") or {}
        found |= page
        if not page or len(found) >= info.get("total", 0):
            return found
