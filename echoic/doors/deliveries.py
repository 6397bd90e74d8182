"""What a companion does and says, as a door hears it from the broker: each delivery once."""

import json
import logging
from collections import OrderedDict
from collections.abc import Awaitable, Callable, Mapping
from dataclasses import dataclass
from typing import Any

from nats.aio.msg import Msg

from streams.jetstream.hardened_client import BrokerClient

_MOST_KNOWN = 1_000
"""Deliveries whose ids are remembered, since they are delivered at least once."""

_TTL_S = 60.0
"""Of a delivery by a program from before deliveries told theirs."""

_log = logging.getLogger(__name__)


@dataclass(frozen=True, slots=True)
class Delivery:
    """One thing that is to be done or said."""

    id: str
    channel: str
    said: Mapping[str, Any]
    """Its fields; `decision_id`, `event_id` and `text` are texts, `ttl_s` is a number."""


class Deliveries:
    """One companion's deliveries."""

    def __init__(
        self,
        client: BrokerClient,
        agent: str,
        heard: Callable[[Delivery], Awaitable[None]],
    ) -> None:
        """Use a connection, which the caller closes; `heard` gets each delivery."""
        self._client = client
        self._agent = agent
        self._heard = heard
        self._known: OrderedDict[str, None] = OrderedDict()

    async def open(self) -> None:
        """Begin to hear what the companion does and says."""
        # One token: the parts of what is about to be said have two.
        await self._client.subscribe(f"out.{self._agent}.*", cb=self._delivered)
        await self._client.flush()

    async def _delivered(self, message: Msg) -> None:
        try:
            delivery = _read(message)
        except (ValueError, TypeError, KeyError, AttributeError) as error:
            _log.warning("no delivery: %r", error)
            return
        if delivery.id not in self._known:
            self._known[delivery.id] = None
            if len(self._known) > _MOST_KNOWN:
                self._known.popitem(last=False)
            await self._heard(delivery)


def _read(message: Msg) -> Delivery:
    said = {"ttl_s": _TTL_S, **json.loads(message.data)}
    id_ = (message.headers or {}).get("ce-id") or said["decision_id"]
    needed = (id_, said["decision_id"], said["event_id"], said["text"])
    if not all(isinstance(each, str) for each in needed):
        raise TypeError("its ids and its text are no texts")
    said["ttl_s"] = float(said["ttl_s"])
    return Delivery(id_, message.subject.rpartition(".")[2], said)
