"""The agents of the log, so that a misspelt one is an error and not an empty page.

An agent is known from its first input on.
"""

from collections import Counter

from nats.aio.client import Client

from echoic.client.connection import Connection
from echoic.errors import NotFoundError, meant
from schemas.values import topics
from schemas.values.subjects import SHARED_AGENT, parse, partition_of
from streams.jetstream.connection import insist
from streams.jetstream.registry import load

_NAMED = 12
"""Agents that an error lists at most."""


_INPUTS = "ev.*.in.*.>"
_EVENTS = "ev.*.in.*.sensor.>"


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
    return sorted(await with_subject(client, _INPUTS) - {SHARED_AGENT})


async def with_subject(client: Client, pattern: str) -> set[str]:
    """Return every agent that the log has a message of whose subject fits a pattern."""
    return {parse(each).agent for each in await _subjects(client, pattern)}


async def inputs_by_partition(client: Client) -> dict[int, int]:
    """Return the number of inputs by partition; those without any are missing."""
    found: Counter[int] = Counter()
    for subject, count in (await _subjects(client, _INPUTS)).items():
        found[parse(subject).partition] += count
    return dict(found)


async def _mapped_topics(client: Client) -> dict[str, int]:
    """Return the topics of MQTT that were carried as others, with their messages."""
    found: Counter[str] = Counter()
    for subject, count in (await _subjects(client, _EVENTS)).items():
        place = parse(subject)
        topic = topics.of_input(place.agent, place.detail)
        if topic is not None:
            found[topic] += count
    return dict(found)


async def told_topics(client: Client) -> str:
    """Return the same in words; empty if there are none."""
    found = await _mapped_topics(client)
    if not found:
        return ""
    shown = "; ".join(f"{each!r} {found[each]}" for each in sorted(found)[:_NAMED])
    return f"{len(found)} of MQTT that NATS cannot carry, with their messages: {shown}"


async def _subjects(client: Client, pattern: str) -> dict[str, int]:
    """Return the number of messages by subject, of those that fit a pattern.

    What is in an archive alone is not counted.
    """
    segments, _ = await load(client)
    found: Counter[str] = Counter()
    for segment in segments.stored:
        found.update(await _subjects_of(client, segment.stream, pattern))
    return dict(found)


async def _subjects_of(client: Client, stream: str, pattern: str) -> dict[str, int]:
    subject = f"$JS.API.STREAM.INFO.{stream}"
    found: dict[str, int] = {}
    # The broker returns 100,000 subjects a page at most.
    while True:
        wanted = {"subjects_filter": pattern, "offset": len(found)}
        info = await insist(client, subject, wanted)
        page = info["state"].get("subjects") or {}
        found |= page
        if not page or len(found) >= info.get("total", 0):
            return found
