"""The bounds of the intake, by the settings of an instance."""

from echoic.client.storage import limits_of
from echoic.config.load import Settings
from echoic.run.supervision import Notify
from streams.broker.intake_watch import keep_bounds
from streams.jetstream.hardened_client import BrokerClient


async def keep(settings: Settings, client: BrokerClient, notify: Notify) -> None:
    """Hold sensors within their bounds, until cancelled."""
    await keep_bounds(
        client,
        limits_of(settings),
        folder=None if settings.nats_url else settings.data / "nats",
        tell=notify,
    )
