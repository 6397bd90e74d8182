"""The calls of models by themselves: any number of these, beside an instance.

Deliveries stay with the instance: what is spoken is spoken on one machine, what one agent tells
others keeps its order, and only one process knows whose turn it is.
"""

from contextlib import AsyncExitStack

from echoic.client.connection import addresses, open_log
from echoic.client.watch import settings_in_force
from echoic.config.load import Settings
from echoic.errors import SettingsError
from echoic.run.instance import last_outputs
from echoic.run.supervision import Notify
from handlers.broker import faststream_broker, start, stop
from handlers.effects.models import LiteLLM
from handlers.effects.perform import Performer
from handlers.effects.subscribers import Effects
from streams.jetstream.connection import connected
from streams.jetstream.consumers import prepare_consumers
from streams.jetstream.migrate import epoch_of


async def perform(settings: Settings, notify: Notify) -> None:
    """Call models for a running instance until cancelled; unfinished calls go back.

    Raises:
        NotRunningError: neither settings nor data folder name an instance.
        SettingsError: the instance asks no model.
        LogUnavailable: the broker does not answer.
    """
    credentials, _ = addresses(settings)
    async with AsyncExitStack() as stack:
        client = await stack.enter_async_context(
            connected(credentials, "echoic effects")
        )
        log = await open_log(client, await epoch_of(client))
        asked = (await settings_in_force(log, 0)).model
        if asked is None:
            raise SettingsError(
                "the instance asks no model, so there is nothing to do",
                next_step="start it with a model.name",
            )
        model = LiteLLM(
            settings.model_api_base, settings.model_api_key, settings.model_price
        )
        stack.push_async_callback(model.close)
        streams = await prepare_consumers(client)
        found = await last_outputs(log)
        performer = Performer(log, log, client, model, found=found)
        effects = Effects(performer, log.keyring.opened if log.keyring else None)
        broker = faststream_broker(credentials)
        effects.subscribe_to_calls(broker, streams)
        await start(broker)
        stack.push_async_callback(stop, broker)
        await stack.enter_async_context(effects.serving())
        notify(f"{asked.name} is called from here as well")
        await effects.heed_stops(log)
