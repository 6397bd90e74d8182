"""Parts: the words of a model's answer go out as they come, before the answer is whole.

They are on `out.<agent>.<channel>.part` alone, never in the log, and may be lost or come
again: each holds all words so far. The whole, which is a delivery, takes their place, or a
last part says that they are taken back.
"""

import asyncio
import logging

import nats.errors
import orjson

from handlers.effects.delivery import Outlet
from handlers.effects.models import Hear
from handlers.effects.priority_queue import QueuedAsk
from handlers.mind.reply import reading
from schemas.messages.asks import ModelAsked, StopAsked
from schemas.values import subjects

_PAUSE_S = 0.1
"""Seconds between two parts of an answer, at least."""

_LONGEST = 40_000
"""How many characters a part has at most."""

_TAKEN_BACK = 1_000
"""Of how many answers it is remembered that they were taken back."""

_log = logging.getLogger(__name__)


class Parts:
    """Publishes parts of answers, and takes them back."""

    def __init__(self, outlet: Outlet) -> None:
        """Publish to `outlet`."""
        self._outlet = outlet
        self._taken_back: dict[str, bool] = {}

    def hear(self, held: QueuedAsk, asked: ModelAsked) -> Hear:
        """Return what publishes the words of one answer as they come."""
        clock = asyncio.get_running_loop().time
        said, at_s = "", -_PAUSE_S

        async def hear(written: str) -> None:
            nonlocal said, at_s
            is_soon = clock() - at_s < _PAUSE_S
            if is_soon or held.output.id in self._taken_back:
                return
            # Half a character is no UTF-8.
            # Cut before it is read, too: reading takes time, and holds up everything else.
            words = reading.words_so_far(written[:_LONGEST], held.output.agent)
            words = words.encode("utf-8", "replace").decode()
            if words in ("", said):
                return
            said, at_s = words, clock()
            fields = {
                "decision_id": asked.decision_id,
                "event_id": held.output.mark.cause_id,
                "text": words,
                "type": asked.response_type,
                "final": False,
            }
            await self._publish(held.output.agent, asked.channel, fields)

        return hear

    def hush(self, stop: StopAsked) -> None:
        """Publish nothing more of an answer."""
        self._taken_back[stop.ask_id] = True
        if len(self._taken_back) > _TAKEN_BACK:
            # The oldest: a dict keeps the order of insertion.
            del self._taken_back[next(iter(self._taken_back))]

    async def take_back(self, agent: str, stop: StopAsked) -> None:
        """Tell receivers that what they have of an answer is no response."""
        self.hush(stop)
        assert stop.channel is not None
        fields = {
            "decision_id": stop.decision_id,
            "text": "",
            "final": True,
            "retracted": True,
        }
        await self._publish(agent, stop.channel, fields)

    async def _publish(
        self, agent: str, channel: str, fields: dict[str, object]
    ) -> None:
        try:
            subject = subjects.part_subject(agent, channel)
            await self._outlet.publish(subject, orjson.dumps(fields))
        except (nats.errors.Error, subjects.SubjectError) as error:
            # The answer itself is recorded and delivered in any case.
            _log.debug("a part was lost: %s", error)
