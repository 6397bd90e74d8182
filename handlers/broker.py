"""The FastStream broker that effects and services subscribe to."""

import logging

from faststream.nats import NatsBroker
from faststream.security import SASLPlaintext

from streams.accounts import Credentials


def faststream_broker(credentials: Credentials) -> NatsBroker:
    """A broker for our own account that outlives restarts of the server."""
    return NatsBroker(
        credentials.url,
        security=SASLPlaintext(credentials.user, credentials.password, use_ssl=False),
        name="echoic handlers",
        inbox_prefix=credentials.inbox_prefix,
        max_reconnect_attempts=-1,
        reconnect_time_wait=1,
        ping_interval=10,
        max_outstanding_pings=2,
        graceful_timeout=5.0,
        logger=logging.getLogger("echoic.faststream"),
        log_level=logging.DEBUG,
    )
