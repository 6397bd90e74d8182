"""The effects as FastStream subscribers: each puts its ask into a queue, nothing more.

The consumers are made by `streams.jetstream.consumers`; FastStream only binds to them.
"""

import asyncio
import logging
from collections.abc import AsyncIterator, Awaitable, Callable, Sequence
from contextlib import asynccontextmanager
from functools import partial
from typing import cast

from faststream import AckPolicy
from faststream.nats import JStream, NatsBroker, NatsMessage, PullSub
from nats.aio.msg import Msg

from handlers.effects.agents import AgentQueue, is_told
from handlers.effects.perform import Performer
from handlers.effects.priority_queue import AskQueue, QueuedAsk
from handlers.effects.turns import TurnQueue
from handlers.effects.utterance import SpeechQueue, is_speech
from handlers.effects.webhook import WEBHOOK
from schemas.codec.catalogue import AskMessage
from schemas.codec.decode import UnreadableOutputError, read_output
from schemas.codec.envelope import Output
from schemas.messages.asks import DeliveryAsked, ModelAsked, StopAsked
from schemas.values.record import Record, nanoseconds
from streams.headers import own_headers
from streams.jetstream.consumers import (
    DELIVERY_ASKS,
    MODEL_ASKS,
    RECALL_ASKS,
    STOP_ASKS,
    TURN_ASKS,
    ConsumerSpec,
)
from streams.log import ReadableLog
from streams.topology import LOG

MODEL_SLOTS = 3
"""How many model calls run at once."""

_AFTERTHOUGHT_SLOTS = 1
"""How many model calls run at once for what nobody waits for."""

_DELIVERY_SLOTS = 4
"""How many deliveries run at once."""

RECALL_SLOTS = 4
"""How many searches of the memory run at once."""

_UNREADABLE_S = 60.0
"""Seconds until an ask that this version cannot decode is delivered again: a newer one may
have taken over by then."""

_PULL = PullSub(batch_size=16, timeout=1.0)
_STOPS_AT_ONCE = 64
_AFTERTHOUGHTS = ("formation", "reflection", "review")
"""The purposes of model calls that no decision waits for."""

_Opened = Callable[[Sequence[Record]], Awaitable[Sequence[Record]]]
"""Returns records with what is sealed in them opened."""
_QueueOf = Callable[[AskMessage], AskQueue]

_log = logging.getLogger(__name__)


class Effects:
    """The queues of asks and the subscribers that fill them."""

    def __init__(self, performer: Performer, opened: _Opened | None = None) -> None:
        """Perform asks with `performer`; those of a sealed log are `opened` first."""
        self._opened = opened
        self._model = performer.model
        self._speaker = performer.speaker
        self._parts = performer.parts
        self._memory = performer.memory
        self._models = AskQueue(performer.perform, slots=MODEL_SLOTS)
        # A queue of their own: slow afterthoughts must never occupy the slots of answers.
        self._afterthoughts = AskQueue(performer.perform, slots=_AFTERTHOUGHT_SLOTS)
        self._turns = TurnQueue(
            performer.perform,
            calls=self._models,
            slots=MODEL_SLOTS,
            left_s=performer.seconds_left,
        )
        self._deliveries = AskQueue(performer.perform, slots=_DELIVERY_SLOTS)
        # Speech lasts, and a receiver may not answer: neither holds up what is written.
        self._speech = SpeechQueue(performer.perform, performer.speaker)
        self._told = AgentQueue(performer.perform, slots=_DELIVERY_SLOTS)
        self._posts = AskQueue(performer.perform, slots=_DELIVERY_SLOTS)
        # A decision waits for each, for a fraction of what a model takes.
        self._recalls = AskQueue(performer.perform, slots=RECALL_SLOTS)

    @property
    def in_hand(self) -> tuple[QueuedAsk, ...]:
        """The asks that are queued or being performed."""
        return tuple(held for _, queue in self._queues for held in queue.in_hand)

    @property
    def _queues(self) -> tuple[tuple[str, AskQueue], ...]:
        return (
            ("of models", self._models),
            ("of afterthoughts", self._afterthoughts),
            ("of turns", self._turns),
            ("of deliveries", self._deliveries),
            ("of speech", self._speech),
            ("between agents", self._told),
            ("of webhooks", self._posts),
            ("of the memory", self._recalls),
        )

    @asynccontextmanager
    async def serving(self) -> AsyncIterator[None]:
        """Serve for the length of the block.

        At its end unfinished asks go back over the broker's connection, which must
        still be open then.
        """
        works = [queue.keep_running(name) for name, queue in self._queues]
        if self._model is not None:
            works.append(self._model.prepare())
        if self._memory is not None:
            works.append(self._memory.prepare())
        tasks = [asyncio.create_task(work) for work in works]
        try:
            yield
        finally:
            for task in tasks:
                task.cancel()
            # Waited for: the queues give their asks back while the connection is still
            # open.
            await asyncio.gather(*tasks, return_exceptions=True)

    def subscribe(
        self, broker: NatsBroker, streams: Sequence[str] = (LOG.name,)
    ) -> None:
        """Register a subscriber for each kind of ask; they run once `broker` is started.

        `streams` are the log's that may hold asks which are not performed yet.
        """
        self.subscribe_to_calls(broker, streams)
        for stream in streams:
            # FastStream would create stream and consumer with its own settings.
            self._subscribe(broker, JStream(stream, declare=False))

    def subscribe_to_calls(
        self, broker: NatsBroker, streams: Sequence[str] = (LOG.name,)
    ) -> None:
        """Register a subscriber for the calls of models alone, which run anywhere."""
        asking = "Ask a language model, and append what it answers."
        for stream in streams:
            declared = JStream(stream, declare=False)
            self._serve(broker, declared, MODEL_ASKS, self._model_queue, asking)

    async def heed_stops(self, log: ReadableLog) -> None:
        """Publish no more words of an answer that another process takes back."""
        end = await log.ends(STOP_ASKS.subjects)
        async for records in log.follow(STOP_ASKS.subjects, end, _STOPS_AT_ONCE):
            for record in records:
                stop = read_output(record).message
                if isinstance(stop, StopAsked):
                    self._parts.hush(stop)

    def _subscribe(self, broker: NatsBroker, stream: JStream) -> None:
        serve = partial(self._serve, broker, stream)
        saying = "Say it on out.<agent>.<channel>, and append that it went out."
        serve(DELIVERY_ASKS, self._delivery_queue, saying)
        searching = (
            "Search the memory for what is like an event, and append what is found."
        )
        serve(RECALL_ASKS, lambda ask: self._recalls, searching)
        granting = "Grant a character's turn to ask its model, and append that."
        serve(TURN_ASKS, lambda ask: self._turns, granting)

        @broker.subscriber(
            STOP_ASKS.subjects,
            stream=stream,
            durable=STOP_ASKS.durable,
            pull_sub=_PULL,
            ack_policy=AckPolicy.MANUAL,
            title=STOP_ASKS.subjects.rpartition(".")[2],
            description="Stop what is being spoken, or take back what was written.",
        )
        async def on_stop(message: NatsMessage) -> None:
            output = await self._read(message)
            if output is None:
                return
            stop = output.message
            if isinstance(stop, StopAsked) and stop.channel is not None:
                await self._parts.take_back(output.agent, stop)
            elif self._speaker is not None and isinstance(stop, StopAsked):
                self._speaker.stop(output.agent, stop.ask_id)
            await message.ack()

    def _serve(
        self,
        broker: NatsBroker,
        stream: JStream,
        asks: ConsumerSpec,
        queue_of: _QueueOf,
        meaning: str,
    ) -> None:
        @broker.subscriber(
            asks.subjects,
            stream=stream,
            durable=asks.durable,
            pull_sub=_PULL,
            ack_policy=AckPolicy.MANUAL,
            title=asks.subjects.rpartition(".")[2],
            description=meaning,
        )
        async def on_ask(message: NatsMessage) -> None:
            await self._hand_to(queue_of, message)

    def _model_queue(self, ask: AskMessage) -> AskQueue:
        """Return the queue for a model call."""
        if isinstance(ask, ModelAsked) and ask.purpose in _AFTERTHOUGHTS:
            return self._afterthoughts
        if isinstance(ask, ModelAsked):
            self._turns.arrived(ask)
        return self._models

    def _delivery_queue(self, ask: AskMessage) -> AskQueue:
        """Return the queue for a delivery."""
        if is_speech(ask):
            return self._speech
        if is_told(ask):
            return self._told
        is_post = isinstance(ask, DeliveryAsked) and ask.channel == WEBHOOK
        return self._posts if is_post else self._deliveries

    async def _hand_to(self, queue_of: _QueueOf, message: NatsMessage) -> None:
        output = await self._read(message)
        if output is None:
            return
        ask = cast(AskMessage, output.message)
        await queue_of(ask).take(
            QueuedAsk(
                output=output,
                ask=ask,
                receipt=message,
                # The broker's count, which survives a restart of this process.
                is_repeated=message.raw_message.metadata.num_delivered > 1,
            )
        )

    async def _read(self, message: NatsMessage) -> Output | None:
        """Return the output that a message is; None if it was given back as unreadable."""
        record = _record(message.raw_message)
        try:
            if self._opened is not None:
                (record,) = await self._opened((record,))
            return read_output(record)
        except UnreadableOutputError as error:
            _log.error("%s: is it of a newer version?", error)
            await message.nack(delay=_UNREADABLE_S)
            return None


def _record(raw: Msg) -> Record:
    return Record(
        subject=raw.subject,
        headers=own_headers(raw.headers),
        body=raw.data,
        sequence=raw.metadata.sequence.stream,
        time_ns=nanoseconds(raw.metadata.timestamp),
    )
