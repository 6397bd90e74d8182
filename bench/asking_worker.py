"""A worker and its effects in one process, as an instance runs them.

    python -m bench.asking_worker [URL | --webhook URL]

With the URL of a model's API it asks that; without, System 2 is off. With that of a webhook
each response is posted there.
"""

import argparse
import asyncio
from contextlib import AsyncExitStack

from msgspec.structs import replace

from bench.beside import until_terminated
from bench.rig import given_credentials
from bench.worker import started
from echoic.embedders import embedder
from echoic.run.process import prepare
from handlers.aids import AidProvider, PackLibrary
from handlers.broker import faststream_broker, start, stop
from handlers.effects.models import LiteLLM
from handlers.effects.perform import Performer
from handlers.effects.subscribers import Effects
from handlers.effects.webhook import WEBHOOK, Webhook
from handlers.worker.loop import Worker
from schemas.messages.controls import MindStarted
from streams.jetstream.append import JetStreamWriter
from streams.jetstream.checkpoints import JetStreamCheckpoints
from streams.jetstream.connection import connect
from streams.jetstream.consumers import prepare_consumers
from streams.jetstream.migrate import epoch_of
from streams.jetstream.read import JetStreamReader

MODEL = "openai/hangs"


async def main() -> None:
    """Answer all inputs and perform all asks until terminated."""
    prepare()
    given = argparse.ArgumentParser()
    given.add_argument("base", nargs="?")
    given.add_argument("--webhook")
    base, webhook = vars(given.parse_args()).values()
    credentials = given_credentials()
    client = await connect(credentials, "bench child")
    log, writer = (
        JetStreamReader(client, await epoch_of(client)),
        JetStreamWriter(client),
    )
    made_by = embedder("wordllama")
    worker = Worker(
        log,
        writer,
        AidProvider(made_by, PackLibrary(log, made_by)),
        _started(base, webhook),
        checkpoints=JetStreamCheckpoints(client),
    )
    model = LiteLLM(base, "none") if base else None
    await prepare_consumers(client)
    broker = faststream_broker(credentials)
    performer = Performer(
        log=log,
        writer=writer,
        outlet=client,
        model=model,
        webhook=Webhook(webhook, "a secret of the bench") if webhook else None,
    )
    effects = Effects(performer)
    effects.subscribe(broker)
    async with AsyncExitStack() as stack:
        if model is not None:
            await model.prepare()
        stack.push_async_callback(stop, broker)
        await start(broker)
        await stack.enter_async_context(effects.serving())
        # Ready only with both: an ask before the effects listen would count as latency.
        await until_terminated(worker.run(), begun=worker.ready.wait)
    await client.close()


def _started(base: str | None, webhook: str | None) -> MindStarted:
    made = started(MODEL if base else None)
    if webhook is None:
        return made
    settings = made.settings.model_copy(update={"channel": WEBHOOK})
    return replace(made, settings=settings)


if __name__ == "__main__":
    asyncio.run(main())
