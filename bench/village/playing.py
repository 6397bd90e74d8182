"""Days of the village, answered by minds in memory, without broker or clock.

Each villager has a mind of its own. Time is the village's, ids derive from the seed, and
delivery is immediate: the same seed and settings play the same days, byte for byte.
"""

import asyncio
from collections.abc import Sequence
from datetime import UTC, datetime, timedelta
from pathlib import Path

import orjson

from bench.village import model
from echoic.config.load import defaults, mind_settings
from echoic.packs.load import load
from echoic.world.memory import InMemoryMind, Setting, match_limits
from handlers.effects.delivery import spoken
from handlers.mind.turn import Turn
from packs.village.sensor.playing import Plan, Played, play
from packs.village.sensor.villager import PEOPLE
from schemas.codec.envelope import Output
from schemas.messages.asks import DeliveryAsked, ModelAsked, WakeupSet
from schemas.messages.controls import SessionEnded, SessionStarted
from schemas.messages.results import Delivered, ModelAnswered
from schemas.values.base import rfc3339
from schemas.values.record import Wire
from schemas.values.settings import MindSettings
from streams.session_files.file import SessionFile

PACK = Path(__file__).parents[2] / "packs" / "village"
MIDNIGHT = datetime(2026, 11, 20, tzinfo=UTC)
"""Fixed, so that the same seed records the same times."""
NAMES = tuple(PEOPLE)


class Village:
    """A village, and the minds of those who live there."""

    def __init__(
        self,
        seed: int,
        *,
        characters: int = 6,
        hours: float = 24.0,
        begins_h: float = 6.0,
        has_model: bool = True,
    ) -> None:
        """Prepare a village from an hour of its first day."""
        self._name = f"village-{seed}"
        self._said: list[tuple[str, str, bytes]] = []
        self.plan = Plan(
            names=NAMES[:characters],
            base=MIDNIGHT,
            run=self._name,
            seed=seed,
            begins_s=begins_h * 3_600,
            lasts_s=hours * 3_600,
        )
        pack, settings = load(PACK), _settings(seed, has_model=has_model)
        self.minds = {
            each: InMemoryMind(
                Setting(
                    f"{self._name}-{each}",
                    "bench",
                    pack,
                    settings,
                    each,
                    MIDNIGHT + timedelta(hours=begins_h),
                ),
                self._deliver,
            )
            for each in self.plan.names
        }

    def played(self, plan: Plan | None = None) -> Played:
        """Play it to its end, or another world with the same minds."""
        for name, mind in self.minds.items():
            title = f"{name.capitalize()}'s day in the village"
            started = SessionStarted(session_id=name, title=title, clock="event")
            mind.tell(started)
        played = asyncio.run(play(plan or self.plan, self._publish, self._hear))
        for mind in self.minds.values():
            mind.tell(SessionEnded())
        return played

    def recorded(self) -> dict[str, SessionFile]:
        """Return the session of each villager, by name."""
        return {name: self.minds[name].recorded() for name in self.plan.names}

    async def _publish(self, wire: Wire) -> None:
        self.minds[wire.subject.split(".")[1]].publish(wire)

    async def _hear(self) -> Sequence[tuple[str, str, bytes]]:
        said, self._said = self._said, []
        return said

    def _deliver(self, turn: Turn) -> None:
        agent = turn.input.agent
        # What goes out first: a result makes a turn of its own, which may wake it earlier.
        for output in turn.outputs:
            if isinstance(output.message, WakeupSet):
                at = output.message.due_at
                due = {"due_at": rfc3339(at) if at is not None else None}
                self._said.append((agent, "wakeup", orjson.dumps(due)))
            elif isinstance(output.message, DeliveryAsked):
                asked = output.message
                self._said.append((agent, asked.channel, spoken(asked)))
        for output in turn.outputs:
            result = _result(output)
            if result is not None:
                self.minds[agent].tell(result)


def _result(output: Output) -> Delivered | ModelAnswered | None:
    """Return what comes of an ask at once; None if it is none."""
    match output.message:
        case ModelAsked() as asked:
            return ModelAnswered(
                ask_id=output.id,
                request_hash=asked.request_hash,
                model=model.NAME,
                text=model.answer(output.id, asked.prompt),
            )
        case DeliveryAsked() as asked:
            return Delivered(ask_id=output.id, channel=asked.channel)
        case _:
            return None


def _settings(seed: int, *, has_model: bool) -> MindSettings:
    """Return the settings as they are shipped, without a rate limit."""
    made = mind_settings(defaults(), match_limits()).model_dump()
    asked = model.SETTINGS.model_dump() if has_model else None
    changes = {"seed": f"village-{seed}", "intake": None, "model": asked}
    return MindSettings.model_validate({**made, **changes})
