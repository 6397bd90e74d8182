"""The bridge: keeps the device's states fresh, and passes votes on.

It is a program beside an instance, as the HTTP door is; what it does to itself does nothing to
the instance. What Home Assistant may ask for is closed: a vote, and with the operator's
leave to be mute.
"""

import asyncio
from collections.abc import Callable, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, field
from typing import Any, Literal

from pydantic import Field, ValidationError

from echoic.client import asking, find, publish, watch
from echoic.client.connection import Connection
from echoic.doors.homeassistant.discovery import EVENT_TYPES, Topics, document
from echoic.doors.homeassistant.mqtt import Mqtt, MqttBroker, mqtt
from echoic.errors import EchoicError, NotFoundError
from replay.recording.decisions import DecisionRecord, DecisionRecords
from schemas.messages.controls import Control
from schemas.messages.decisions import Dropped
from schemas.messages.executive import Muted
from schemas.messages.feedback import FeedbackGiven
from schemas.state.executive import EVERYBODY
from schemas.values.base import Part
from schemas.values.persons import token_of
from schemas.values.prompt_fencing import capped
from schemas.values.subjects import partition_of
from streams.cancellation import heed_cancellation
from streams.errors import StreamsError
from streams.jetstream.connection import attempts

_REFRESH_S = 60.0
_PROGRAM = "homeassistant"
"""Who asks, where a switch may have been pressed by anybody in the house."""

_ON = {b"ON": True, b"OFF": False}


@dataclass(frozen=True, slots=True)
class Wanted:
    """What the device is to show and allow."""

    persons: tuple[str, ...]
    """Whose rapport it shows, by their names; the first is who votes."""
    may_control: bool
    """Whether Home Assistant may have the agent mute."""
    prefix: str = "homeassistant"


@dataclass(slots=True)
class Hub:
    """A bridge over an open connection to both sides."""

    connection: Connection
    mqtt: Mqtt
    wanted: Wanted
    note: Callable[[str], None]
    topics: Topics
    last: str = ""
    """The decision whose words are shown."""
    shown: dict[str, object] = field(default_factory=dict)
    """The states as they were last published, by topic."""

    async def announce(self) -> None:
        """Tell of the device each time that either side comes back."""
        while True:
            await self.mqtt.here.wait()
            self.mqtt.here.clear()
            self.mqtt.check()
            self._tell_all()

    async def follow(self, after: int) -> None:
        """Show each decision on inputs after a sequence, and what else changes."""
        log, agent = self.connection.log, self.topics.agent
        records = DecisionRecords()
        async for input_, outputs in watch.answered(log, agent, after):
            for record in records.take(input_, outputs):
                if record.is_final:
                    self._show(record)
            # Votes move the rapport, controls mute; nothing else is shown of the state.
            if isinstance(input_.message, FeedbackGiven | Control):
                await self.refresh_with(input_.sequence)

    async def obey(self) -> None:
        """Do what Home Assistant asks for, one after the other."""
        while True:
            heed_cancellation()
            topic, payload = await self.mqtt.commands.get()
            try:
                await self._command(topic, payload)
            except ValidationError:
                self.note(f"{topic}: this is no vote")
            except (EchoicError, StreamsError) as error:
                self.note(f"{topic}: {error}")

    async def begin(self) -> None:
        """Show what is known already."""
        log, agent = self.connection.log, self.topics.agent
        with suppress(NotFoundError):
            record = await find.last_decision(log, agent)
            if record.said is not None:
                self._show_said(record)
        await self.refresh()

    async def keep(self) -> None:
        """Show what changes with time alone: rapport drifts, a mute for a while lapses."""
        while True:
            heed_cancellation()
            await asyncio.sleep(_REFRESH_S)
            with suppress(StreamsError):
                await self.refresh()

    async def refresh_with(self, sequence: int) -> None:
        """Show the state with an input in it; the log shows an answer before the state does.

        What the instance does not tell in time is shown later, by `keep`.
        """
        async for _ in attempts():
            with suppress(StreamsError):
                if await self.refresh() >= sequence:
                    return

    async def refresh(self) -> int:
        """Show rapport, and whether the agent is mute; return up to which input they are.

        Raises:
            StreamsError: the instance does not answer.
        """
        client, agent = self.connection.client, self.topics.agent
        try:
            state = (await asking.ask(client, agent, "state", {}))["state"]
        except EchoicError:
            # A new agent: there is nothing to be shown yet.
            return 0
        self._put("rapport", rapport(state, self.wanted.persons))
        if self.wanted.may_control:
            self._put("mute", "ON" if _is_mute(state) else "OFF")
        return int(state["position"])

    async def _command(self, topic: str, payload: bytes) -> None:
        if topic == self.topics.status:
            # Home Assistant was started: it may have missed what was retained.
            if payload == b"online":
                self._tell_all()
        elif topic == self.topics["vote"]:
            await self._vote(payload)
        elif topic == self.topics["mute/set"] and self.wanted.may_control:
            is_mute = _ON.get(payload)
            if is_mute is not None:
                told = Muted(mode="mute", off=not is_mute, by=_PROGRAM).checked()
                await publish.tell(self.connection.log, self.topics.agent, told)

    async def _vote(self, payload: bytes) -> None:
        vote = Vote.model_validate_json(payload)
        id_ = vote.decision_id or self.last
        if not id_:
            raise EchoicError("nothing was said yet that could be judged")
        given = FeedbackGiven(
            decision_id=id_,
            rating=vote.rating,
            actor=self.wanted.persons[0],
            comment=vote.comment,
            channel=_PROGRAM,
        ).checked()
        await publish.tell(self.connection.log, self.topics.agent, given)

    def _show(self, record: DecisionRecord) -> None:
        # First: whatever the event triggers finds the states as they are now.
        if record.said is not None:
            self._show_said(record)
        event = decision(record)
        # Not retained: Home Assistant takes an event that was for none.
        self.mqtt.publish(self.topics["decision"], event, retain=False)

    def _show_said(self, record: DecisionRecord) -> None:
        self.last = record.id
        self._put("said", said(record))

    def _put(self, name: str, state: object) -> None:
        topic = self.topics[name]
        if self.shown.get(topic) != state:
            self.shown[topic] = state
            self.mqtt.publish(topic, state, retain=True)

    def _tell_all(self) -> None:
        told = document(
            self.topics, self.wanted.persons, may_control=self.wanted.may_control
        )
        self.mqtt.publish(self.topics.config, told, retain=True)
        self.mqtt.publish(self.topics["available"], "online", retain=True)
        for topic, state in self.shown.items():
            self.mqtt.publish(topic, state, retain=True)


async def serve(
    connection: Connection,
    broker: MqttBroker,
    wanted: Wanted,
    note: Callable[[str], None],
) -> None:
    """Be the agent's device until cancelled.

    Raises:
        NotRunningError: the MQTT broker does not answer, or not let us in.
        StreamsError: the log is away.
    """
    agent = connection.settings.agent
    topics = Topics(agent, wanted.prefix)
    heard = [topics.status, topics["vote"]]
    heard += [topics["mute/set"]] if wanted.may_control else []
    # Read first, so that nothing which comes meanwhile is missed.
    after = await watch.last_answered(connection.log, partition_of(agent))
    async with mqtt(broker, f"echoic-{agent}", topics["available"], heard) as there:
        hub = Hub(connection, there, wanted, note, topics)
        await hub.begin()
        try:
            async with asyncio.TaskGroup() as tasks:
                tasks.create_task(hub.announce())
                tasks.create_task(hub.obey())
                tasks.create_task(hub.keep())
                tasks.create_task(hub.follow(after))
                note(f"{agent} is a device of Home Assistant: {topics.config}")
        except ExceptionGroup as group:
            # The first ended the others.
            raise group.exceptions[0] from group


_CHARACTERS = 2_000


class Vote(Part):
    """A vote by a button, or by an automation."""

    rating: Literal["positive", "negative"]
    decision_id: str = Field(default="", max_length=256)
    """Empty: on what was said last."""
    comment: str | None = Field(default=None, max_length=2_000)


def said(record: DecisionRecord) -> dict[str, Any]:
    """Return the state of what was said last: the words, and of which decision they are."""
    return {
        "text": capped(record.said or "", _CHARACTERS),
        "decision_id": record.id,
        "source": record.decided.source,
        "type": record.decided.type,
        "about": capped(record.text, _CHARACTERS),
        "at": record.at.isoformat(),
    }


def decision(record: DecisionRecord) -> dict[str, Any]:
    """Return a final decision as an event of Home Assistant's."""
    return {**said(record), "event_type": _came_to(record), "reason": record.silence}


def rapport(state: Mapping[str, Any], persons: Sequence[str]) -> dict[str, float]:
    """Return how well the agent gets on with these persons, 0 to 1, as far as it is known."""
    known = state["rapport"]
    tokens = map(token_of, persons)
    return {each: known[each] for each in tokens if each in known}


def _is_mute(state: Mapping[str, Any]) -> bool:
    """Say whether the agent is mute towards everybody."""
    held = state["executive"]["restraints"]
    return any(each["mode"] == "mute" and each["person"] == EVERYBODY for each in held)


def _came_to(record: DecisionRecord) -> str:
    if record.said is not None:
        found = "spoke"
    elif isinstance(record.ending, Dropped):
        found = "dropped"
    else:
        found = "acted" if record.silence is None else "silent"
    assert found in EVENT_TYPES, "Home Assistant was told of these alone"
    return found
