"""Answers to callers of a running instance that the worker's state gives, or an event.

State is read from the worker's memory; an event is published like any sensor's, so that
the log holds it.
"""

from collections.abc import Awaitable, Callable, Mapping
from dataclasses import dataclass
from functools import partial
from typing import Any

from echoic.client import owners, publish
from echoic.client.decision_json import as_response
from echoic.client.state import AgentSnapshot, as_fields
from echoic.doors import queries
from echoic.doors.calls import BY_NAME
from echoic.doors.events import UnfitError, event_of
from echoic.doors.requests import (
    EventToDecide,
    EventToSense,
    InvalidRequestError,
    UserMessage,
    read,
)
from echoic.doors.services import Call, Reply, invalid, refusal
from echoic.errors import EchoicError
from handlers.aids import PackLibrary
from schemas.state.agent import PartitionState
from schemas.values import subjects
from schemas.values.subjects import partition_of
from schemas.values.vectors import Embedder
from streams.jetstream.hardened_client import BrokerClient
from streams.log import ReadableLog


@dataclass(frozen=True, slots=True)
class Serving:
    """Answers calls from a worker's state."""

    known: Callable[[str], Awaitable[PartitionState | None]]
    """Returns the state of an agent's partition; None if the agent is not known."""
    client: BrokerClient
    log: ReadableLog
    embedder: Embedder
    library: PackLibrary
    owns: Callable[[int], bool] = subjects.ALL_PARTITIONS.__contains__
    """Whether a partition is this process's; requests for others go to their owner."""

    @property
    def of_owner(self) -> Mapping[str, Call]:
        """The calls that only the owner of an agent's partition can answer."""
        return {name: partial(self.query, name) for name in queries.QUERIES}

    @property
    def calls(self) -> Mapping[str, Call]:
        """All calls but those that become inputs of the mind at once."""
        return {
            **self.of_owner,
            "message": self.message,
            "process": self.process,
            "sense": self.sense,
        }

    async def state(self, agent: str) -> Mapping[str, object] | None:
        """Return an agent's state as fields; None if it is not known.

        Raises:
            LogUnavailable: another process knows, and does not answer.
        """
        if not self.owns(subjects.partition_of(agent)):
            return await owners.state_elsewhere(self.client, agent)
        remembered = await self._remembered(agent)
        return as_fields(remembered, agent) if remembered else None

    async def query(self, name: str, agent: str, body: Mapping[str, Any]) -> Reply:
        """Return what the state says to a question.

        Raises:
            LogUnavailable: another process knows, and does not answer.
        """
        if not self.owns(subjects.partition_of(agent)):
            return await owners.called_elsewhere(self.client, name, agent, body)
        request = BY_NAME[name].request
        assert request is not None, "each query has a request of its own"
        try:
            asked = read(request, body)
        except InvalidRequestError as error:
            return invalid(error)
        remembered = await self._remembered(agent)
        if remembered is None:
            return refusal("unknown_agent", f"nothing is known of {agent!r} here")
        at_hand = queries.AtHand(remembered, self.log, self.embedder, self.library)
        found = await queries.QUERIES[name](at_hand, asked)
        # It may have moved meanwhile, and others know more by now.
        if not self.owns(subjects.partition_of(agent)):
            return await owners.called_elsewhere(self.client, name, agent, body)
        return found

    async def message(self, agent: str, body: Mapping[str, Any]) -> Reply:
        """Publish a person's words, and return the response, or why there is none."""
        try:
            said = read(UserMessage, body)
        except InvalidRequestError as error:
            return invalid(error)
        fields = said.model_dump(exclude_none=True)
        return await self.process(agent, fields)

    async def process(self, agent: str, body: Mapping[str, Any]) -> Reply:
        """Publish an event, and return the final decision on it."""
        try:
            event_id, event = event_of(agent, EventToDecide, body)
        except UnfitError as unfit:
            return unfit.reply
        # Read before publishing, so that the wait for the answer starts before the event.
        after = await self.log.last_sequence(f"ev.{partition_of(agent)}.>")
        await publish.publish(self.client, agent, event, event_id=event_id)
        try:
            record = await publish.decided_on(
                self.log, agent, event.source, event.type, event_id, after
            )
        except EchoicError as error:
            return {**refusal("undecided", error.what), "event_id": event_id}
        return {"event_id": event_id, **as_response(record)}

    async def sense(self, agent: str, body: Mapping[str, Any]) -> Reply:
        """Publish an event, and return the broker's acknowledgement."""
        try:
            event_id, event = event_of(agent, EventToSense, body)
        except UnfitError as unfit:
            return unfit.reply
        kept = await publish.publish(self.client, agent, event, event_id=event_id)
        return {
            "accepted": True,
            "event_id": event_id,
            "stream": kept["stream"],
            "sequence": kept["seq"],
        }

    async def _remembered(self, agent: str) -> AgentSnapshot | None:
        state = await self.known(agent)
        if state is None:
            return None
        return AgentSnapshot(state.agents[agent], state.shared, state.position)
