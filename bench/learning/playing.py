"""The closed loop: a game, a person who judges what is said, and a model that is asked.

One companion plays hour after hour. Its pack has no heuristic, so whatever it learns comes
from votes on the model's answers.
"""

import asyncio
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from datetime import timedelta

import orjson

from bench.learning.model import ScriptedModel
from bench.learning.truth import case_of, deed_of, is_good
from bench.truth.playing import SURVIVAL
from echoic.packs import load
from echoic.world.memory import AGENT, BASE, InMemoryMind, Setting, settings_for
from handlers.effects.delivery import spoken
from handlers.mind.turn import Turn
from packs.survival.sensor.playing import Plan, play
from schemas.messages.asks import DeliveryAsked, ModelAsked
from schemas.messages.controls import SessionEnded, SessionStarted
from schemas.messages.decisions import Decided
from schemas.messages.feedback import FeedbackGiven
from schemas.messages.results import Delivered, ModelAnswered
from schemas.messages.sensing import Sensed
from schemas.values.ids import draw
from schemas.values.model_settings import ModelSettings
from schemas.values.record import Wire
from schemas.values.settings import MindSettings
from streams.session_files.file import SessionFile

MODEL = "scripted"
HOUR_S = 3_600


@dataclass(frozen=True, slots=True, kw_only=True)
class Course:
    """The parameters of a run."""

    hours: int
    hour_s: int = HOUR_S
    """Steps of the game in an hour, a second each."""
    seed: int = 1
    votes: float = 0.5
    """The probability that the person votes on advice, of a heuristic or of the model."""
    learns: bool = True
    """Whether liked answers become heuristics."""
    silence: float = 0.1
    """With which probability the model is asked where silence is trusted; 0: silence is
    not learnt."""
    misses: float = 0.1
    """The probability that the person objects where nothing was said and advice was due."""
    model: ScriptedModel

    @property
    def settings(self) -> MindSettings:
        """The mind's: the program's defaults, with a model."""
        # The mind is seeded by the course, so that its draws differ between seeds.
        return settings_for(
            f"learning-{self.seed}",
            novelty_half_life=20.0,
            silence=self.silence if self.learns else 0.0,
            model=ModelSettings(name=MODEL),
            # Half of the candidates are withheld: only what a model was not shown can be
            # endorsed, which is how confidence grows without a vote.
            withhold=0.5,
            formation=self.learns,
            endorsement=self.learns,
        )


Watch = Callable[[int, Turn], None]
"""Called with the hour, counted from 0, and each of its turns."""


def played(course: Course, watch: Watch) -> SessionFile:
    """Play a course, and return its session."""
    loop = _Loop(course, watch)
    asyncio.run(loop.live())
    return loop.mind.recorded()


class _Loop:
    """Game, person and model around the mind."""

    def __init__(self, course: Course, watch: Watch) -> None:
        self._course = course
        self._watch = watch
        self._hour = 0
        self._spoken: list[bytes] = []
        self._events: dict[str, Sensed] = {}
        """By decision, what it is about."""
        self._said: dict[str, str] = {}
        """By decision, what was said."""
        # Event types and outcome patterns stay; all heuristics are to be learnt.
        pack = load.load(SURVIVAL).model_copy(update={"heuristics": ()})
        name = f"learning-{course.seed}"
        self.mind = InMemoryMind(
            Setting(name, "learning", pack, course.settings), self._answered
        )

    async def live(self) -> None:
        """Play hour after hour."""
        for hour in range(self._course.hours):
            self._hour = hour
            name = f"hour-{hour + 1}"
            self.mind.tell(SessionStarted(session_id=name, title=name, clock="event"))
            await play(self._plan(name), self._publish, self._hear)
            self.mind.tell(SessionEnded())

    def _plan(self, name: str) -> Plan:
        course = self._course
        return Plan(
            agent=AGENT,
            base=BASE + timedelta(seconds=self._hour * course.hour_s),
            run=f"{course.seed}-{name}",
            steps=course.hour_s,
            seed=100 * course.seed + self._hour,
        )

    async def _publish(self, wire: Wire) -> None:
        self.mind.publish(wire)

    async def _hear(self, ids: Sequence[str]) -> Sequence[bytes]:
        """Return what was said as the person understood it; some of it they judge."""
        heard, self._spoken = self._spoken, []
        for payload in heard:
            self._judge(orjson.loads(payload))
        return [_understood(payload) for payload in heard]

    def _judge(self, said: dict[str, str]) -> None:
        decision_id = said["decision_id"]
        key = f"learning-{self._course.seed}"
        # A keyed draw, not a generator's next number: a new decision shifts no later vote.
        if draw(key, "person", decision_id, "vote") >= self._course.votes:
            return
        event = self._events[decision_id]
        good = is_good(said["text"], event)
        body = {
            "decision_id": decision_id,
            "rating": "positive" if good else "negative",
        }
        if case_of(event) is None:
            # Not that this was said was wrong, but that anything was.
            body["aspect"] = "condition"
        self.mind.tell(FeedbackGiven.from_fields(body))

    def _miss(self, decision_id: str, decided: Decided, event: Sensed) -> None:
        """Let the person object, now and then, that nothing was said."""
        key = f"learning-{self._course.seed}"
        is_due = decided.silence == "learned_silence" and case_of(event) is not None
        if is_due and draw(key, "person", decision_id, "miss") < self._course.misses:
            body = {"decision_id": decision_id, "rating": "negative"}
            self.mind.tell(FeedbackGiven.from_fields(body))

    def _answered(self, turn: Turn) -> None:
        self._watch(self._hour, turn)
        for output in turn.outputs:
            message, event = output.message, turn.input.message
            if isinstance(message, Decided) and isinstance(event, Sensed):
                self._events[output.id] = event
                self._miss(output.id, message, event)
            elif isinstance(message, ModelAsked):
                self._ask(output.id, message)
            elif isinstance(message, DeliveryAsked):
                self._said[message.decision_id] = message.text
                self._spoken.append(spoken(message))
                self.mind.tell(Delivered(ask_id=output.id, channel=message.channel))

    def _ask(self, ask_id: str, asked: ModelAsked) -> None:
        event, model = self._events[asked.decision_id], self._course.model
        if asked.purpose == "formation":
            text = model.rule(event, self._said[asked.decision_id], asked.decision_id)
        else:
            text = model.answer(event, asked.decision_id)
        self.mind.tell(
            ModelAnswered(
                ask_id=ask_id, request_hash=asked.request_hash, model=MODEL, text=text
            )
        )


def _understood(payload: bytes) -> bytes:
    """Return what was said, with what the person takes it to ask for."""
    said = orjson.loads(payload)
    deed = deed_of(said["text"])
    if deed is None:
        return payload
    type_, target = deed
    # The player has to know an amount to gather.
    params = {"count": 3} if type_ == "gather" else {}
    said["action"] = {"type": type_, "target": target, "params": params}
    return orjson.dumps(said)
