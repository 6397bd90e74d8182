"""Characters of a simulated world, each with a mind in memory, without broker or clock.

Time is the world's, ids derive from a name, and delivery is immediate: the same world and
settings play the same log, byte for byte.
"""

from collections.abc import Callable, Mapping, Sequence
from datetime import UTC, datetime, timedelta

from echoic.config.load import defaults, mind_settings
from echoic.world.memory import InMemoryMind, Setting, match_limits
from handlers.effects.agents import is_told
from handlers.effects.delivery import spoken
from handlers.mind.turn import Turn
from handlers.worker.wakeups import CHANNEL, told
from packs.playing import Plan
from schemas.codec.agent_events import agent_event
from schemas.codec.envelope import Output
from schemas.messages.asks import DeliveryAsked, ModelAsked, TurnAsked
from schemas.messages.controls import SessionEnded, SessionStarted
from schemas.messages.results import Delivered, ModelAnswered, TurnGranted
from schemas.packs.manifest import Pack
from schemas.values.model_settings import ModelSettings
from schemas.values.record import Wire
from schemas.values.settings import MindSettings, StrategySpec
from schemas.values.subjects import parse
from streams.session_files.file import SessionFile

MIDNIGHT = datetime(2026, 11, 20, tzinfo=UTC)
"""Fixed, so that the same seed records the same times."""

Answer = Callable[[str, str], str]
"""Return what the model says, by the id of its question and the prompt."""

_TOKEN = 4
"""About so many letters does a token have."""


class Players:
    """Minds of those who live in a world."""

    def __init__(
        self,
        plan: Plan,
        packs: Mapping[str, Pack],
        model: ModelSettings | None,
        answer: Answer,
        strategy: StrategySpec | None = None,
    ) -> None:
        """Prepare a mind for each member of the plan, by its pack; `answer` is the model."""
        self._plan, self._answer = plan, answer
        self._said: list[tuple[str, str, bytes]] = []
        began = plan.base + timedelta(seconds=plan.begins_s)
        settings = _settings(plan.run, model, strategy)
        self.minds: Mapping[str, InMemoryMind] = {
            each: InMemoryMind(
                Setting(
                    f"{plan.run}-{each}", "bench", packs[each], settings, each, began
                ),
                self._deliver,
            )
            for each in plan.members
        }

    def begin(self, title: Callable[[str], str]) -> None:
        """Begin a session of each, by the clock of the world."""
        for name, mind in self.minds.items():
            mind.tell(
                SessionStarted(
                    session_id=name,
                    title=title(name),
                    clock="event",
                    world=self._plan.run,
                )
            )

    def end(self) -> None:
        """End the session of each."""
        for mind in self.minds.values():
            mind.tell(SessionEnded())

    def recorded(self) -> dict[str, SessionFile]:
        """Return the session of each, by name."""
        return {name: self.minds[name].recorded() for name in self._plan.members}

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
        woken = told(turn)
        if woken is not None:
            self._said.append((agent, CHANNEL, woken))
        for output in turn.outputs:
            asked = output.message
            if isinstance(asked, DeliveryAsked) and not is_told(asked):
                self._said.append((agent, asked.channel, spoken(asked)))
        for output in turn.outputs:
            if isinstance(output.message, DeliveryAsked) and is_told(output.message):
                self._tell(output)
        for output in turn.outputs:
            result = self._result(output)
            if result is not None:
                self.minds[agent].tell(result)

    def _tell(self, asked: Output) -> None:
        """Tell another member what an ask says, if it is one."""
        event = agent_event(self.minds[asked.agent].epoch, asked)
        receiver = self.minds.get(parse(event.subject).agent)
        if receiver is not None:
            receiver.receive(event, asked.at)

    def _result(self, output: Output) -> Delivered | ModelAnswered | TurnGranted | None:
        """Return what comes of an ask at once; None if it is none."""
        match output.message:
            case ModelAsked() as asked:
                text = self._answer(output.id, asked.prompt)
                return ModelAnswered(
                    ask_id=output.id,
                    request_hash=asked.request_hash,
                    model=asked.model,
                    text=text,
                    input_tokens=(len(asked.system) + len(asked.prompt)) // _TOKEN,
                    output_tokens=len(text) // _TOKEN,
                )
            case TurnAsked():
                return TurnGranted(ask_id=output.id)
            case DeliveryAsked() as asked:
                return Delivered(ask_id=output.id, channel=asked.channel)
            case _:
                return None


def _settings(
    seed: str, model: ModelSettings | None, strategy: StrategySpec | None
) -> MindSettings:
    """Return the settings as they are shipped, without a rate limit."""
    made = mind_settings(defaults(), match_limits()).model_dump()
    asked = model.model_dump() if model is not None else None
    changes = {"seed": seed, "intake": None, "model": asked}
    chosen = {"strategy": strategy.model_dump()} if strategy is not None else {}
    return MindSettings.model_validate({**made, **changes, **chosen})
