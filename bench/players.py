"""Characters of a simulated world, each with a mind in memory, without broker or clock.

Time is the world's, ids derive from a name, and delivery is immediate: the same world and
settings play the same log, byte for byte.
"""

from collections.abc import Callable, Mapping, Sequence
from datetime import UTC, datetime, timedelta
from pathlib import Path

import orjson

from echoic.config.load import defaults, mind_settings
from echoic.packs.load import load
from echoic.world.memory import InMemoryMind, Setting, match_limits
from handlers.effects.delivery import spoken
from handlers.mind.turn import Turn
from packs.playing import Plan
from schemas.codec.envelope import Output
from schemas.messages.asks import DeliveryAsked, ModelAsked, WakeupSet
from schemas.messages.controls import SessionEnded, SessionStarted
from schemas.messages.results import Delivered, ModelAnswered
from schemas.values.base import rfc3339
from schemas.values.model_settings import ModelSettings
from schemas.values.record import Wire
from schemas.values.settings import MindSettings
from streams.session_files.file import SessionFile

MIDNIGHT = datetime(2026, 11, 20, tzinfo=UTC)
"""Fixed, so that the same seed records the same times."""

Answer = Callable[[str, str], str]
"""Return what the model says, by the id of its question and the prompt."""


class Players:
    """Minds of those who live in a world."""

    def __init__(
        self, plan: Plan, pack: Path, model: ModelSettings | None, answer: Answer
    ) -> None:
        """Prepare a mind for each of the plan's names; a model answers by `answer`."""
        self._plan, self._answer = plan, answer
        self._said: list[tuple[str, str, bytes]] = []
        began = plan.base + timedelta(seconds=plan.begins_s)
        settings, loaded = _settings(plan.run, model), load(pack)
        self.minds: Mapping[str, InMemoryMind] = {
            each: InMemoryMind(
                Setting(f"{plan.run}-{each}", "bench", loaded, settings, each, began),
                self._deliver,
            )
            for each in plan.names
        }

    def begin(self, title: Callable[[str], str]) -> None:
        """Begin a session of each, by the clock of the world."""
        for name, mind in self.minds.items():
            started = SessionStarted(session_id=name, title=title(name), clock="event")
            mind.tell(started)

    def end(self) -> None:
        """End the session of each."""
        for mind in self.minds.values():
            mind.tell(SessionEnded())

    def recorded(self) -> dict[str, SessionFile]:
        """Return the session of each, by name."""
        return {name: self.minds[name].recorded() for name in self._plan.names}

    async def publish(self, wire: Wire) -> None:
        """Take an event of the world's."""
        self.minds[wire.subject.split(".")[1]].publish(wire)

    async def hear(self) -> Sequence[tuple[str, str, bytes]]:
        """Return what they sent out since the last call."""
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
            result = self._result(output)
            if result is not None:
                self.minds[agent].tell(result)

    def _result(self, output: Output) -> Delivered | ModelAnswered | None:
        """Return what comes of an ask at once; None if it is none."""
        match output.message:
            case ModelAsked() as asked:
                return ModelAnswered(
                    ask_id=output.id,
                    request_hash=asked.request_hash,
                    model=asked.model,
                    text=self._answer(output.id, asked.prompt),
                )
            case DeliveryAsked() as asked:
                return Delivered(ask_id=output.id, channel=asked.channel)
            case _:
                return None


def _settings(seed: str, model: ModelSettings | None) -> MindSettings:
    """Return the settings as they are shipped, without a rate limit."""
    made = mind_settings(defaults(), match_limits()).model_dump()
    asked = model.model_dump() if model is not None else None
    changes = {"seed": seed, "intake": None, "model": asked}
    return MindSettings.model_validate({**made, **changes})
