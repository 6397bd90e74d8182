"""A day of the home, answered by the mind in memory, without broker or clock.

Time is the day's, ids derive from the seed, and delivery is immediate: the same seed and
settings play the same day, byte for byte. It is returned as a session.
"""

import asyncio
from collections.abc import Callable, Sequence
from datetime import UTC, datetime
from pathlib import Path

from bench.home import model
from echoic.config.load import defaults, mind_settings
from echoic.packs.load import load
from echoic.world.memory import InMemoryMind, Setting, match_limits
from handlers.effects.delivery import spoken
from handlers.mind.turn import Turn
from packs.home.sensor.playing import Plan, play
from schemas.messages.asks import DeliveryAsked, ModelAsked
from schemas.messages.controls import SessionEnded, SessionStarted
from schemas.messages.results import Delivered, ModelAnswered
from schemas.messages.sensing import Sensed
from schemas.values.record import Wire
from schemas.values.settings import MindSettings
from streams.session_files.file import SessionFile

PACK = Path(__file__).parents[2] / "packs" / "home"
AGENT = "home"
MIDNIGHT = datetime(2026, 11, 20, tzinfo=UTC)
"""Fixed, so that the same seed records the same times."""


def settings_of(seed: int, *, executive: bool = True) -> MindSettings:
    """Return the settings as they are shipped, with the fixed model and no rate limit.

    Without the executive each of its parts is off, and there is no model.
    """
    made = mind_settings(defaults(), match_limits()).model_dump()
    changes: dict[str, object] = {"seed": f"home-{seed}", "intake": None}
    changes |= {"model": model.SETTINGS.model_dump()} if executive else _BEFORE
    return MindSettings.model_validate({**made, **changes})


_BEFORE: dict[str, object] = {"executive": {}}


def played(seed: int, settings: MindSettings) -> SessionFile:
    """Play the day of a seed from midnight to midnight."""
    listening = Listening(seed, settings)
    asyncio.run(listening.play())
    return listening.mind.recorded()


class Listening:
    """A day of which it hears at once what the mind says."""

    def __init__(
        self,
        seed: int,
        settings: MindSettings,
        reply: Callable[[ModelAsked], str] | None = None,
    ) -> None:
        """Play a seed's day; `reply` answers what a model is asked, else the fixed one."""
        self._seed = seed
        self._reply = reply
        self._said: list[tuple[str, bytes]] = []
        self._name = f"home-{seed}"
        setting = Setting(self._name, "bench", load(PACK), settings, AGENT, MIDNIGHT)
        self.mind = InMemoryMind(setting, self._deliver)

    async def play(self) -> None:
        """Play and listen."""
        name = self._name
        title = f"A day at home (seed {self._seed})"
        self.mind.tell(SessionStarted(session_id=name, title=title, clock="event"))
        plan = Plan(agent=AGENT, base=MIDNIGHT, run=name, seed=self._seed)
        await play(plan, self._publish, self._hear)
        self.mind.tell(SessionEnded())

    async def _publish(self, wire: Wire) -> None:
        self.mind.publish(wire)

    async def _hear(self, id_: str | None) -> Sequence[tuple[str, bytes]]:
        said, self._said = self._said, []
        return said

    def _deliver(self, turn: Turn) -> None:
        event = turn.input.message
        is_persons = isinstance(event, Sensed) and event.is_persons
        for output in turn.outputs:
            if isinstance(output.message, ModelAsked):
                asked_of = output.message
                self.mind.tell(
                    ModelAnswered(
                        ask_id=output.id,
                        request_hash=asked_of.request_hash,
                        model=model.NAME,
                        text=self._reply(asked_of)
                        if self._reply is not None
                        else model.answer(is_persons=is_persons),
                    )
                )
            elif isinstance(output.message, DeliveryAsked):
                asked = output.message
                self._said.append((asked.channel, spoken(asked)))
                self.mind.tell(Delivered(ask_id=output.id, channel=asked.channel))
