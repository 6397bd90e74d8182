"""Effects that speak, as what runs in a process of its own that is to be killed."""

import asyncio
import json
import sys
from pathlib import Path
from uuid import UUID

from handlers.broker import faststream_broker, start
from handlers.effects.perform import Performer
from handlers.effects.speech import Speaker, SpeechCommand
from handlers.effects.subscribers import Effects
from streams.jetstream.accounts import Credentials
from streams.jetstream.append import JetStreamWriter
from streams.jetstream.connection import connected
from streams.jetstream.read import JetStreamReader

SCRIPT = Path(__file__).parents[1] / "handlers" / "effects" / "speaker.py"


def speaker_of(score: str) -> Speaker:
    """A speaker that writes down on a score what it says."""
    return Speaker(SpeechCommand(f"{sys.executable} {SCRIPT} {score}"))


def begun(score: Path) -> list[str]:
    """The words that were begun to be said, so far."""
    lines = score.read_text().splitlines() if score.exists() else []
    read = [json.loads(line) for line in lines]
    return [each["words"] for each in read if each["what"] == "begin"]


def speak_for_ever(credentials: Credentials, epoch: UUID, score: str) -> None:
    """Speak until killed."""

    async def serve() -> None:
        async with connected(credentials) as client:
            log, writer = JetStreamReader(client, epoch), JetStreamWriter(client)
            speaker = speaker_of(score)
            effects = Effects(Performer(log, writer, client, None, speaker))
            broker = faststream_broker(credentials)
            effects.subscribe(broker)
            await start(broker)
            async with effects.serving():
                await asyncio.Event().wait()

    asyncio.run(serve())
