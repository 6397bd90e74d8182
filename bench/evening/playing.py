"""An evening lived through by the mind in memory, without broker or clock.

Its time is the agent's own: what is due comes due, a model answers when it does, and each
delivery succeeds at once. The same evening and settings are the same course, to the byte.
"""

import heapq
from collections.abc import Iterator
from dataclasses import dataclass, field
from datetime import timedelta
from functools import cache
from itertools import count
from typing import Any

import orjson

from bench.evening import matters
from bench.evening.grammar import HOUR_S, Evening
from bench.evening.matters import Step, Wish
from bench.home.playing import PACK
from echoic.config.load import defaults, mind_settings
from echoic.packs.load import load
from echoic.world.memory import BASE, InMemoryMind, Setting, match_limits
from handlers.mind.turn import Turn
from packs.wires import Run
from schemas.codec.catalogue import InputMessage
from schemas.messages.asks import DeliveryAsked, ModelAsked, RecallAsked
from schemas.messages.decisions import Completed, Decided, Dropped
from schemas.messages.notes import ControlInferred
from schemas.messages.results import (
    ClockTicked,
    Delivered,
    ModelAnswered,
    ModelFailed,
    RecallFailed,
)
from schemas.packs.manifest import Pack
from schemas.values.model_settings import ModelSettings
from schemas.values.settings import MindSettings

AGENT = "home"
MODEL = "scripted"
_TRIES = 3
"""How often a timer that stays due is run at one moment."""


@dataclass(frozen=True, slots=True)
class Saying:
    """Something that the companion said."""

    at: float
    text: str
    channel: str
    answers: tuple[str, ...]
    """The ids of the events that it answers; none: it spoke by itself."""


@dataclass(frozen=True, slots=True)
class Course:
    """What came of an evening."""

    evening: Evening
    ids: tuple[str, ...]
    """Of the steps' events, in order."""
    sayings: tuple[Saying, ...] = ()
    kept: frozenset[str] = frozenset()
    """The events whose answers wait or are on the list of what was missed, at the end."""
    controls: tuple[tuple[str, str], ...] = ()
    """Event and token of each control that was made of somebody's words."""
    ends: tuple[tuple[str, str], ...] = ()
    """Event and reason of each silence."""
    model_failed: tuple[tuple[str, float], ...] = ()
    """Event and second at which a model that was asked about it gave no answer."""


def played(evening: Evening, **executive: object) -> Course:
    """Let the mind as it is shipped live through an evening; change its executive."""
    living = _Living(evening, executive)
    living.live()
    return living.course()


@dataclass(slots=True)
class _Living:
    evening: Evening
    executive: dict[str, object]
    _mind: InMemoryMind = field(init=False)
    _due: list[tuple[float, int, InputMessage]] = field(default_factory=list)
    _number: Iterator[int] = field(default_factory=count)
    _truths: dict[str, Step] = field(default_factory=dict)
    _event_of: dict[str, str] = field(default_factory=dict)
    _also: dict[str, tuple[str, ...]] = field(default_factory=dict)
    _said: list[tuple[float, DeliveryAsked]] = field(default_factory=list)
    _controls: list[tuple[str, str]] = field(default_factory=list)
    _ends: list[tuple[str, str]] = field(default_factory=list)
    _failed: list[tuple[str, float]] = field(default_factory=list)
    _ids: list[str] = field(default_factory=list)

    def live(self) -> None:
        """Go through the hour."""
        name = f"evening-{self.evening.seed}-{len(self.evening.people)}"
        settings = _settings(name, self.evening, self.executive)
        setting = Setting(name, "evening", _pack(), settings, AGENT)
        self._mind = InMemoryMind(setting, self._answered)
        for lesson in matters.taught():
            self._mind.tell(lesson)
        run = Run(AGENT, name)
        for index, step in enumerate(self.evening.steps):
            self._until(step.at)
            wire = run.event(
                step.source, step.event, BASE + timedelta(seconds=step.at), index
            )
            id_ = wire.headers["ce-id"]
            self._truths[id_] = step
            self._ids.append(id_)
            self._mind.publish(wire)
        self._until(HOUR_S)

    def course(self) -> Course:
        """Return what came of it."""
        return Course(
            evening=self.evening,
            ids=tuple(self._ids),
            sayings=tuple(self._sayings()),
            kept=frozenset(self._kept()),
            controls=tuple(self._controls),
            ends=tuple(self._ends),
            model_failed=tuple(self._failed),
        )

    def _sayings(self) -> Iterator[Saying]:
        for at, asked in self._said:
            also = (
                self._event_of.get(e, e) for e in self._also.get(asked.decision_id, ())
            )
            answers = [e for e in (asked.event_id, *also) if e in self._truths]
            yield Saying(at, asked.text, asked.channel, tuple(answers))

    def _kept(self) -> Iterator[str]:
        executive = self._mind.state.agents[AGENT].executive
        listed = (*executive.waiting, *executive.memory.missed)
        for each in listed:
            decision = getattr(each, "decision_id", "")
            yield self._event_of.get(decision, decision)
            yield getattr(each, "event_id", "")

    def _until(self, second: float) -> None:
        """Let all come that is due before a second."""
        last, tries = "", 0
        while True:
            timer = self._timer()
            result = self._due[0][0] if self._due else HOUR_S + 1
            alarm = HOUR_S + 1 if timer is None else max(timer[0], self._mind.seconds)
            if min(result, alarm) > second:
                break
            if result <= alarm:
                at, _, message = heapq.heappop(self._due)
                self._tell(at, message)
                continue
            assert timer is not None
            tries = tries + 1 if timer[1] == last else 0
            last = timer[1]
            # As the worker's clock: what stays due is tried again, later each time.
            at = alarm if tries < _TRIES else alarm + 1.0
            if at > second:
                break
            self._tell(at, ClockTicked(due_at=BASE + timedelta(seconds=timer[0])))
        self._mind.seconds = max(self._mind.seconds, second)

    def _timer(self) -> tuple[float, str] | None:
        state = self._mind.state.agents.get(AGENT)
        if state is None or not state.timers:
            return None
        first = state.timers[0]
        return (first.due - BASE).total_seconds(), first.id

    def _tell(self, at: float, message: InputMessage) -> None:
        self._mind.seconds = max(self._mind.seconds, at)
        self._mind.tell(message)

    def _answered(self, turn: Turn) -> None:
        asked = []
        for output in turn.outputs:
            match output.message:
                case Decided() as decided:
                    self._event_of[output.id] = decided.event_id
                    if decided.silence is not None:
                        self._ends.append((decided.event_id, decided.silence))
                case Completed() as done:
                    self._also[done.decision_id] = done.also_answers
                case Dropped() as dropped:
                    event = self._event_of.get(dropped.decision_id, "")
                    self._ends.append((event, dropped.reason))
                case ControlInferred() as made:
                    event = self._event_of.get(made.source_id, made.source_id)
                    self._controls.append((event, made.control))
                case ModelAsked() | DeliveryAsked() | RecallAsked():
                    asked.append((output.id, output.message))
                case _:
                    pass
        # After all of the turn is known: an answer's own turn may follow at once.
        for id_, ask in asked:
            self._effect(id_, ask)

    def _effect(self, id_: str, ask: ModelAsked | DeliveryAsked | RecallAsked) -> None:
        match ask:
            case DeliveryAsked():
                self._said.append((self._mind.seconds, ask))
                self._mind.tell(Delivered(ask_id=id_, channel=ask.channel))
            case ModelAsked():
                self._model(id_, ask)
            case RecallAsked():
                self._mind.tell(RecallFailed(ask_id=id_, reason="unavailable"))

    def _model(self, id_: str, ask: ModelAsked) -> None:
        now = self._mind.seconds
        mode = self.evening.model_at(now)
        event = self._event_of.get(ask.decision_id, "")
        turn = next(self._number)
        if mode in ("failing", "hanging"):
            after = 0.3 if mode == "failing" else ask.deadline_s
            failed = ModelFailed(
                ask_id=id_,
                request_hash=ask.request_hash,
                reason="unavailable" if mode == "failing" else "timeout",
            )
            self._failed.append((event, now + after))
            heapq.heappush(self._due, (now + after, turn, failed))
            return
        garbled = mode == "garbled" and turn % 2 == 0
        if garbled:
            self._failed.append((event, now + 1.0))
        text = '{"respo' if garbled else _reply(ask, self._truths.get(event))
        answered = ModelAnswered(
            ask_id=id_, request_hash=ask.request_hash, model=MODEL, text=text
        )
        latency = 6.0 + turn * 5 % 12 if mode == "slow" else 0.8 + turn % 5 / 4
        heapq.heappush(self._due, (now + latency, turn, answered))


def _reply(ask: ModelAsked, step: Step | None) -> str:
    """Return what a good model says: it answers people, tells what is worth it, and names
    what is to be changed as its prompt asks it to.
    """
    said, control = "", {}
    if ask.purpose == "answer" and step is not None:
        said, control = _words(step), _control(step)
    fields: dict[str, Any] = {
        **({"control": control} if control else {}),
        "response": said,
        "predicted_success": 0.5,
        "prediction_confidence": 0.5,
    }
    return orjson.dumps(fields).decode()


def _words(step: Step) -> str:
    event, truth = step.event, step.truth
    if not step.is_persons:
        return "" if truth.worth in ("none", "mild") else event.text
    if truth.wish is not None:
        return _agreed(truth.wish)
    return "I would say so." if truth.question else "Yes, I see."


def _control(step: Step) -> dict[str, Any]:
    """Return the change that somebody wishes for, as far as a model may make it."""
    wish = step.truth.wish
    ends = wish and (wish.due or wish.until)
    span = {"minutes": (ends - step.at) / 60.0} if ends else {}
    match wish:
        case Wish(ask="quiet"):
            return {"do": "quiet", **span}
        case Wish(ask="suppress" | "watch" as ask, topic=topic):
            return {"do": ask, "about": topic, **span}
        case Wish(ask="remind", words=(task, *_)):
            return {"do": "reminder", "text": task, **span}
        case _:
            return {}


def _agreed(wish: Wish) -> str:
    return "OK, I will." if wish.ask != "unmute" else "Here I am again."


def _settings(
    name: str, evening: Evening, executive: dict[str, object]
) -> MindSettings:
    made = mind_settings(defaults(), match_limits()).model_dump()
    # The limit of what a sensor may send is of a broker, and of real time.
    changes: dict[str, object] = {"seed": name, "intake": None}
    if evening.model[0][1] != "absent":
        changes["model"] = ModelSettings(name=MODEL).model_dump()
    if executive:
        changes["executive"] = {**made["executive"], **executive}
    return MindSettings.model_validate({**made, **changes})


@cache
def _pack() -> Pack:
    return load(PACK)
