"""The tools that read: what was decided and why, and what is known and remembered."""

from collections.abc import Awaitable, Callable
from dataclasses import asdict, dataclass
from typing import Annotated, Any, Literal

from pydantic import Field

from echoic.client import find, known_agents
from echoic.client.connection import Connection
from echoic.client.names import heuristic_names
from echoic.client.persons import named
from echoic.client.recall import recalled
from echoic.doors.mcp.marking import marked
from echoic.doors.mcp.reach import Reach, ask, stored, told
from echoic.doors.requests import MOST_HEURISTICS
from echoic.explain.as_json import explained
from echoic.explain.explain import explain
from projections.store import queries
from replay.recording.decisions import DecisionRecord

_Fields = dict[str, Any]

_LAST = "last"
"""In place of an id: the last decision."""

Agent = Annotated[
    str | None, Field(description="Which companion; the usual one if left out.")
]
_Limit = Annotated[int, Field(ge=1, le=100, description="How many at most.")]
_Words = Annotated[str, Field(min_length=1, max_length=2_000)]
_Person = Annotated[
    str | None, Field(max_length=64, description="Only what concerns this person.")
]
DecisionId = Annotated[
    str,
    Field(
        min_length=1,
        max_length=64,
        description=f"Its id, or the first eight characters of it; or '{_LAST}'.",
    ),
]


@dataclass(frozen=True, slots=True)
class Looks:
    """What the program tells of itself; the commands have it."""

    status: Callable[[Connection, str | None], Awaitable[_Fields]]
    """Returns how an instance goes; of one agent alone where one is named."""
    doctor: Callable[[], Awaitable[_Fields]]
    """Returns what the checks of the whole installation find."""


@dataclass(frozen=True, slots=True)
class Reading:
    """The tools that read, for whoever calls."""

    reach: Reach
    looks: Looks

    async def agents(self) -> _Fields:
        """List the companions and characters, called agents here, that the log knows."""
        async with self.reach.instance() as connection:
            own = self.reach.rights().agent
            found = await known_agents.names(connection.client)
            return marked({"agents": [each for each in found if own in (None, each)]})

    async def status(self) -> _Fields:
        """Tell whether the instance runs and keeps up, by which strategy, and who is quiet."""
        async with self.reach.instance() as connection:
            own = self.reach.rights().agent
            return marked(await self.looks.status(connection, own))

    async def doctor(self) -> _Fields:
        """Check the whole installation; this asks the model, if there is one, for a word."""
        self.reach.check_reading()
        async with told():
            return marked(await self.looks.doctor())

    async def sessions(self, agent: Agent = None, limit: _Limit = 20) -> _Fields:
        """List an agent's sessions, the latest first: spans of its log with their counts."""
        async with self.reach.agent(agent) as connection:
            name = connection.settings.agent
            rows = await stored(connection, lambda each: queries.sessions(each, name))
            return marked({"agent": name, "sessions": rows[:limit]})

    async def decisions(
        self,
        agent: Agent = None,
        status: Annotated[
            Literal["silent", "spoke", "pending", "dropped"] | None,
            Field(description="Only those that came to this."),
        ] = None,
        session: Annotated[
            str | None, Field(max_length=128, description="Only of this session.")
        ] = None,
        before: Annotated[
            int | None,
            Field(ge=0, lt=2**63, description="`next_before` of the page before."),
        ] = None,
        limit: _Limit = 20,
    ) -> _Fields:
        """List what an agent decided, the latest first: the event, what was said, or why not.

        `explain` tells why one came out so.
        """
        clean = session.replace("\0", "") if session is not None else None
        async with self.reach.agent(agent) as connection:
            name = connection.settings.agent
            rows = await stored(
                connection,
                lambda store: queries.decisions(
                    store,
                    name,
                    session=clean,
                    status=status,
                    before=before,
                    limit=limit,
                ),
            )
        more = rows[-1].sequence if len(rows) == limit else None
        found = [{each: getattr(row, each) for each in _SHOWN} for row in rows]
        return marked({"agent": name, "next_before": more, "decisions": found})

    async def explain(self, decision_id: DecisionId, agent: Agent = None) -> _Fields:
        """Tell why a decision came out as it did: each gate with its value and threshold,
        each candidate with why it was taken or not, and what would have changed it.
        """
        async with self.reach.agent(agent) as connection:
            return await explanation(connection, decision_id)

    async def why_silent(self, agent: Agent = None) -> _Fields:
        """Tell why an agent said nothing the last time it kept silent."""
        async with self.reach.agent(agent) as connection:
            return await explanation(connection, _LAST, is_silent=True)

    async def heuristics(
        self,
        agent: Agent = None,
        about: Annotated[
            _Words | None, Field(description="Only those with these words in them.")
        ] = None,
        min_confidence: Annotated[float, Field(ge=0, le=1)] = 0.0,
        limit: _Limit = 20,
    ) -> _Fields:
        """List the rules that an agent answers by, each with its condition, its words, and the
        confidence that votes and outcomes gave it.
        """
        asked = {"min_confidence": min_confidence, "limit": MOST_HEURISTICS}
        words = (about or "").casefold()
        async with self.reach.agent(agent) as connection:
            rows = (await ask(connection, "heuristics", asked))["heuristics"]
            found = [
                row
                for row in rows
                if any(words in str(row[each]).casefold() for each in _WORDY)
            ]
            name = connection.settings.agent
            return marked({"agent": name, "heuristics": found[:limit]})

    async def recall(
        self,
        about: _Words,
        agent: Agent = None,
        person: _Person = None,
        limit: _Limit = 10,
    ) -> _Fields:
        """Find what happened that means something like these words, and what was said then."""
        async with self.reach.agent(agent) as connection:
            found = await recalled(connection, about, person, limit)
            return marked({"episodes": list(map(asdict, found))})

    async def facts(
        self, agent: Agent = None, about: _Words | None = None, person: _Person = None
    ) -> _Fields:
        """List the facts that were stated to an agent."""
        whose = None if person is None else named(person)
        asked = {"about": about, "person": whose}
        given = {name: each for name, each in asked.items() if each is not None}
        async with self.reach.agent(agent) as connection:
            reply = await ask(connection, "facts", given)
            return marked({"facts": reply["facts"]})

    async def state(self, agent: Agent = None) -> _Fields:
        """Tell what an agent's mind holds: goals, packs, rapport, traits, timers."""
        async with self.reach.agent(agent) as connection:
            reply = await ask(connection, "state", {})
            return marked(reply["state"])


_WORDY = ("name", "condition", "text")
"""Fields of a heuristic that are words."""

_SHOWN = (
    "id", "sequence", "decided_at", "session_id", "source", "type", "event_text",
    "event_fields", "status", "path", "text", "silence", "drop_reason",
    "matched_heuristic_id", "model", "latency_ms",
)  # fmt: skip
"""Of a decision in a list; its gates and candidates are for `explain`."""


async def explanation(
    connection: Connection, id_: str, *, is_silent: bool = False
) -> _Fields:
    """Return a decision with why it came out so.

    Raises:
        NotFoundError: there is none, or several.
    """
    record = await one(connection, id_, is_silent=is_silent)
    names = await heuristic_names(connection.log, record.agent)
    return marked(explained(record, explain(record, names)))


async def one(
    connection: Connection, id_: str, *, is_silent: bool = False
) -> DecisionRecord:
    """Return the decision whose id begins so, or the last one, or the last silence.

    Raises:
        NotFoundError: there is none, or several.
    """
    log, agent = connection.log, connection.settings.agent
    if id_ == _LAST:
        return await find.last_decision(log, agent, silent=is_silent)
    return await find.find_decision(log, agent, id_)
