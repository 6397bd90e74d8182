"""A worker with its effects, as what runs in a process of its own that is to be killed.

Whoever starts it should do so from a server that has imported this module already: then
a start takes no longer than the worker itself needs.
"""

import asyncio
import json
from collections.abc import AsyncIterator, Mapping
from contextlib import asynccontextmanager
from hashlib import blake2b

from typing_extensions import override

from handlers.broker import faststream_broker, start
from handlers.effects.completions import Completion
from handlers.effects.models import Model
from handlers.effects.perform import Performer
from handlers.effects.recalling import Memories, Memory
from handlers.effects.subscribers import Effects
from handlers.worker.loop import Worker
from schemas.messages.asks import ModelAsked, RecallAsked
from schemas.messages.controls import MindStarted
from schemas.values.model_settings import ModelSettings
from streams.jetstream.accounts import Credentials
from streams.jetstream.append import JetStreamWriter
from streams.jetstream.checkpoints import JetStreamCheckpoints
from streams.jetstream.connection import connected
from streams.jetstream.consumers import prepare_consumers
from streams.jetstream.migrate import migrate, open_intake
from streams.jetstream.read import JetStreamReader
from tests.crash.speaking_process import speaker_of
from tests.minds import started, working

SETTINGS = started(model=ModelSettings(name="quick"), ttl_s=60.0)

_LEAVING = 60
"""Of 256 answers of a talking model, so many leave the conversation."""


class QuickModel:
    """A model that answers at once."""

    async def prepare(self) -> None:
        """It is ready."""

    async def close(self) -> None:
        """It keeps nothing open."""

    async def complete(
        self, asked: ModelAsked, *, deadline_s: float, headers: Mapping[str, str]
    ) -> Completion:
        """Answer the same to everything."""
        text = '{"response": "Hm.", "success": 0.5, "confidence": 0.5}'
        return Completion(text=text, model="quick", latency_ms=1.0)


class DoingModel(QuickModel):
    """A model that always chooses one action."""

    def __init__(self, action: str) -> None:
        self._text = json.dumps({"action": action})

    @override
    async def complete(
        self, asked: ModelAsked, *, deadline_s: float, headers: Mapping[str, str]
    ) -> Completion:
        """Choose it."""
        return Completion(text=self._text, model="quick", latency_ms=1.0)


class TalkingModel(QuickModel):
    """A model that opens a talk whenever it is asked, and now and then leaves one."""

    @override
    async def complete(
        self, asked: ModelAsked, *, deadline_s: float, headers: Mapping[str, str]
    ) -> Completion:
        """Answer as a talker is asked to."""
        is_heard = "You are in a conversation" in asked.prompt
        leaves = is_heard and blake2b(asked.prompt.encode()).digest()[0] < _LEAVING
        said = {"thinking": "Hm.", "speaking": "Bye." if leaves else "So it is."}
        action = {"action": {"type": "leave_conversation"}} if leaves else {}
        text = json.dumps({**said, **action})
        return Completion(text=text, model="quick", latency_ms=1.0)


class SlowMemory:
    """A memory that is searched for about as long as it is waited for."""

    async def prepare(self) -> None:
        """It is ready."""

    async def search(
        self, asked: RecallAsked, agent: str, before: int, within_s: float
    ) -> Memories:
        """Find the same always."""
        await asyncio.sleep(0.1)
        return Memories(["long-ago"], ["the key was in the drawer"], before - 1)


def serve_for_ever(
    credentials: Credentials,
    settings: MindStarted = SETTINGS,
    score: str | None = None,
    memory: Memory | None = None,
    model: Model | None = None,
) -> None:
    """Answer and perform until killed; with a `score`, speak, and write it there."""

    async def serve() -> None:
        async with serving(credentials, settings, score, memory, model):
            await asyncio.Event().wait()

    asyncio.run(serve())


@asynccontextmanager
async def serving(
    credentials: Credentials,
    settings: MindStarted = SETTINGS,
    score: str | None = None,
    memory: Memory | None = None,
    model: Model | None = None,
) -> AsyncIterator[Worker]:
    """Answer and perform for the length of the block."""
    async with connected(credentials) as client:
        epoch = await migrate(client)
        await prepare_consumers(client)
        log, writer = JetStreamReader(client, epoch), JetStreamWriter(client)
        checkpoints = JetStreamCheckpoints(client)
        speaker = speaker_of(score) if score is not None else None
        asks = model or QuickModel()
        effects = Effects(Performer(log, writer, client, asks, speaker, memory=memory))
        broker = faststream_broker(credentials)
        effects.subscribe(broker)
        await start(broker)
        try:
            async with (
                effects.serving(),
                working(log, writer, settings, checkpoints=checkpoints) as worker,
            ):
                await open_intake(client)
                yield worker
        finally:
            await broker.stop()
