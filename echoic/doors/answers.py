"""Answers to callers of a running instance: an agent's state, its heuristics, a decision.

State is read from the worker's memory; an event to decide on is published like any
sensor's, so that the log holds it.
"""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import asdict, dataclass
from typing import Any

import msgspec
from nats.aio.client import Client
from pydantic import Field, ValidationError

from echoic.client import heuristics as learnt
from echoic.client import owners, publish
from echoic.client.decision_json import as_response
from echoic.client.heuristics import Learnt
from echoic.client.personality import character, now_of
from echoic.client.state import AgentSnapshot, as_fields
from echoic.doors.services import Reply, refusal
from echoic.errors import EchoicError, plainly
from handlers.aids import PackLibrary
from handlers.mind.stages import matching
from projections.folds import events
from projections.folds.learning import beliefs
from schemas.messages.sensing import PERSON, PERSONS_WORDS, TEXT_LIMIT, Fields, Sensed
from schemas.state.agent import PartitionState
from schemas.state.evidence import Belief
from schemas.values import subjects
from schemas.values.base import Name, Part, Unit, first_fault
from schemas.values.settings import UNSTARTED
from schemas.values.vectors import Embedder
from streams.log import ReadableLog

MOST_HEURISTICS = 1_000
"""Heuristics in one reply at most."""


class HeuristicsAsked(Part):
    """A request for heuristics: one, those that match an event, or all of a domain."""

    heuristic_id: Name | None = None
    text: str | None = Field(default=None, min_length=1, max_length=TEXT_LIMIT)
    """An event's text: only heuristics that match it are wanted, nearest first."""
    source: Name = PERSON
    type: Name = PERSONS_WORDS
    fields: Fields = Field(default_factory=dict)
    domain: str | None = None
    min_confidence: Unit = 0.0
    limit: int = Field(default=100, ge=1, le=MOST_HEURISTICS)


@dataclass(frozen=True, slots=True)
class Serving:
    """Answers calls from a worker's state."""

    known: Callable[[str], PartitionState | None]
    """Returns the state of an agent's partition; None if the agent is not known."""
    client: Client
    log: ReadableLog
    embedder: Embedder
    library: PackLibrary
    partitions: Sequence[int] = subjects.ALL_PARTITIONS
    """The partitions of this process; requests for others are forwarded to their owner."""

    async def state(self, agent: str) -> Mapping[str, object] | None:
        """Return an agent's state as fields; None if it is not known.

        Raises:
            LogUnavailable: another process knows, and does not answer.
        """
        if subjects.partition_of(agent) not in self.partitions:
            return await owners.state_elsewhere(self.client, agent)
        remembered = self._remembered(agent)
        return as_fields(remembered, agent) if remembered else None

    async def heuristics(self, agent: str, body: Mapping[str, Any]) -> Reply:
        """Return the agent's heuristics that the request selects.

        Raises:
            LogUnavailable: another process knows them, and does not answer.
        """
        if subjects.partition_of(agent) not in self.partitions:
            return await owners.called_elsewhere(self.client, "heuristics", agent, body)
        try:
            asked = HeuristicsAsked.model_validate(body)
        except ValidationError as error:
            return _invalid(error)
        remembered = self._remembered(agent)
        if remembered is None:
            return refusal("unknown_agent", f"nothing is known of {agent!r} here")
        rows = [
            each
            for each in await learnt.learnt(self.log, remembered)
            if asked.domain in (None, each.domain)
            and each.confidence >= asked.min_confidence
        ]
        if asked.heuristic_id is not None:
            rows = [each for each in rows if each.id == asked.heuristic_id]
            if not rows:
                detail = f"{agent!r} has no heuristic {asked.heuristic_id!r}"
                return refusal("unknown_heuristic", detail)
        found = [asdict(each) for each in rows]
        if asked.text is not None:
            found = await self._like(remembered, asked, rows)
        return {"accepted": True, "heuristics": found[: asked.limit]}

    async def personality(self, agent: str, body: Mapping[str, Any]) -> Reply:
        """Return the personality in force, towards the `person` that the request names.

        Raises:
            LogUnavailable: another process knows it, and does not answer.
        """
        if subjects.partition_of(agent) not in self.partitions:
            return await owners.called_elsewhere(
                self.client, "personality", agent, body
            )
        remembered, person = self._remembered(agent), body.get("person")
        if remembered is None:
            return refusal("unknown_agent", f"nothing is known of {agent!r} here")
        if not isinstance(person, str | None):
            return refusal("invalid", f"the person {person!r} is no name")
        packs = await learnt.packs_of(self.log, remembered)
        found = character(remembered, packs, now_of(remembered.agent), person)
        return {"accepted": True, "personality": found.as_fields()}

    async def output(self, agent: str, body: Mapping[str, Any]) -> Reply:
        """Return what is being spoken, what is to be, and what was cut off.

        Raises:
            LogUnavailable: another process knows it, and does not answer.
        """
        if subjects.partition_of(agent) not in self.partitions:
            return await owners.called_elsewhere(self.client, "output", agent, body)
        remembered = self._remembered(agent)
        if remembered is None:
            return refusal("unknown_agent", f"nothing is known of {agent!r} here")
        known = remembered.agent.executive
        begun = [each for each in known.speech if each.begun_at is not None]
        waiting = [each for each in known.speech if each.begun_at is None]
        return {
            "accepted": True,
            "speaking": bool(begun),
            "said": msgspec.to_builtins(begun[0]) if begun else None,
            "waiting": [msgspec.to_builtins(each) for each in waiting],
            "unsaid": [msgspec.to_builtins(each) for each in known.unsaid],
        }

    @property
    def of_owner(self) -> Mapping[str, Callable[[str, Mapping[str, Any]], Any]]:
        """The calls that only the owner of an agent's partition can answer."""
        return {
            "heuristics": self.heuristics,
            "personality": self.personality,
            "output": self.output,
        }

    async def process(self, agent: str, body: Mapping[str, Any]) -> Reply:
        """Publish an event, and return the final decision on it."""
        event_id = str(body.get("event_id") or publish.new_event_id())
        # The id belongs to the message, and is no field of the event.
        fields = {key: body[key] for key in body if key != "event_id"}
        try:
            event = Sensed.model_validate(
                {"source": PERSON, "type": PERSONS_WORDS, **fields}
            )
        except ValidationError as error:
            return _invalid(error)
        unfit = _unfit(agent, event)
        if unfit is not None:
            return refusal("bad_subject", unfit)
        # Read before publishing, so that the wait for the answer starts before the event.
        after = await self.log.last_sequence("ev.>")
        await publish.publish(self.client, agent, event, event_id=event_id)
        try:
            record = await publish.decided_on(
                self.log, agent, event.source, event.type, event_id, after
            )
        except EchoicError as error:
            return refusal("undecided", error.what)
        return {"event_id": event_id, **as_response(record)}

    def _remembered(self, agent: str) -> AgentSnapshot | None:
        state = self.known(agent)
        if state is None:
            return None
        return AgentSnapshot(state.agents[agent], state.shared, state.position)

    async def _like(
        self, remembered: AgentSnapshot, asked: HeuristicsAsked, rows: list[Learnt]
    ) -> list[dict[str, object]]:
        """Return the rows that match the event, each with its similarity."""
        assert asked.text is not None
        agent, settings = remembered.agent, remembered.shared.settings or UNSTARTED
        refs = remembered.shared.packs.update(agent.packs)
        digests = [refs[name].digest for name in sorted(refs)]
        await self.library.fetch(digests)
        at_hand = self.library.packs
        packs = [at_hand[digest] for digest in digests if digest in at_hand]
        event = Sensed(
            source=asked.source, type=asked.type, text=asked.text, fields=asked.fields
        )
        learning = agent.learning(settings)

        def belief(heuristic_id: str, content_hash: str) -> Belief:
            return beliefs.bounded_belief(
                agent, packs, learning, heuristic_id, content_hash
            )

        (vector,) = self.embedder.embed([asked.text])
        domain = events.domain_of(packs, event)
        limit = settings.limits.match
        known = {each.id: each for each in rows}
        return [
            {
                **asdict(known[each.heuristic_id]),
                "similarity": each.similarity,
                "eligible": each.eligible,
                "reason": each.reason,
            }
            for each in matching.candidates(
                agent, domain, event, vector, belief, learning, limit
            )
            if each.heuristic_id in known
        ]


def _unfit(agent: str, event: Sensed) -> str | None:
    """Return why an event cannot be published on a sensor's subject; None if it can."""
    if not subjects.is_agent(agent):
        return f"{agent!r} cannot name an agent"
    for token in (event.source, event.type):
        if not subjects.is_token(token):
            return f"{token!r} is no token of a subject: 1 to 64 of A-Z a-z 0-9 _ -"
    # Subjects of these types carry votes and controls of sensors, with another body.
    if event.type in (subjects.PUBLISHED_FEEDBACK, subjects.PUBLISHED_CONTROL):
        return (
            f"an event's type cannot be {event.type!r}: call svc.<agent>.{event.type}"
        )
    return None


def _invalid(error: ValidationError) -> Reply:
    return refusal("invalid", plainly(first_fault(error, "the body")))
