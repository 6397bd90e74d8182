"""A mind in memory for a simulated world: events go in, reactions come out; public API.

There is no broker, database or clock; the world moves the time. The session can be saved
as a file, to be verified, compared and tuned on like any other.
"""

from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from datetime import timedelta
from pathlib import Path
from typing import Any
from uuid import uuid5

import orjson

from echoic.config.load import defaults, mind_settings
from echoic.world.memory import BASE, InMemoryMind, Setting, match_limits
from handlers.mind.strategies.spec import parse
from handlers.mind.turn import Turn
from schemas.codec.catalogue import ControlMessage
from schemas.messages.arms import Action
from schemas.messages.asks import DeliveryAsked, ModelAsked, RecallAsked, TurnAsked
from schemas.messages.controls import SessionEnded, SessionStarted
from schemas.messages.decisions import Completed, Decided, Dropped
from schemas.messages.feedback import FeedbackGiven
from schemas.messages.notes import ControlRefused
from schemas.messages.results import (
    Delivered,
    ModelAnswered,
    ModelFailed,
    RecallFailed,
    TurnGranted,
)
from schemas.packs.manifest import Pack
from schemas.values.base import rfc3339
from schemas.values.model_settings import ModelSettings
from schemas.values.record import Wire
from schemas.values.settings import MindSettings
from streams.session_files.file import write_session

Answers = Callable[[ModelAsked], str | None]
"""A model as a function: returns the answer to an ask, or None if it does not answer."""

_MODEL = "scripted"


@dataclass(frozen=True, slots=True)
class Reaction:
    """The mind's reaction to one event."""

    decision_id: str
    event_id: str
    path: str
    """`heuristic`, `llm`, `rejected`, or `none` if a gate closed before the strategy."""
    said: str | None
    silence: str | None
    """Why nothing was said; None if something was."""
    heuristic_id: str | None
    decided: Decided
    """The decision in full."""
    action: Action | None = None
    """What is done, of a character or of a heuristic with an action."""


class Mind:
    """A mind for one session of a world."""

    def __init__(
        self,
        pack: Pack,
        *,
        name: str = "world",
        agent: str = "companion",
        strategy: str = "heuristic_first",
        model: Answers | None = None,
        settings: Mapping[str, object] | None = None,
    ) -> None:
        """Begin a session with a pack.

        Args:
            pack: what the world's events are, and what is known of them.
            name: the session's; ids and draws derive from it, so the same name and the
                same events are the same session, to the byte.
            agent: whose mind it is.
            strategy: as settings name one, `heuristic_first:threshold=0.6`.
            model: who answers when the mind asks; None: System 2 is off.
            settings: further fields of `MindSettings`.
        """
        self._model = model
        self._reactions: dict[str, Reaction] = {}
        self._refused: str | None = None
        made = _settings(name, strategy, model, settings or {})
        setting = Setting(name, "world", pack, made, agent)
        self._mind = InMemoryMind(setting, self._answered)
        self._epoch = self._mind.epoch
        self._events = 0
        self._seen: set[str] = set()
        """The decisions on what the world told, and those that `by_itself` returned."""
        self._mind.tell(SessionStarted(session_id=name, title=name, clock="event"))

    def sense(
        self, text: str, *, source: str, type: str, at: float, **fields: object
    ) -> Reaction:
        """Publish an event `at` seconds from the beginning, and return the reaction.

        `fields` are those of `Sensed`, such as `fields`, `salience` or `in_reply_to`.

        Raises:
            ValueError: the mind made no decision on it; the text says why.
        """
        self._events += 1
        event_id = str(uuid5(self._epoch, f"event-{self._events}"))
        when = rfc3339(BASE + timedelta(seconds=at))
        body = orjson.dumps({"text": text, "occurred_at": when, **fields})
        subject = f"in.{self._mind.agent}.{source}.{type}"
        self._mind.publish(Wire(subject, {"ce-id": event_id, "ce-time": when}, body))
        # Newest first: the event was answered just now.
        for reaction in reversed(self._reactions.values()):
            if reaction.event_id == event_id:
                self._seen.add(reaction.decision_id)
                return reaction
        raise ValueError(f"no decision was made of {text!r}: {self._mind.last_note}")

    def by_itself(self) -> tuple[Reaction, ...]:
        """Return what it did since this was last asked that no event was the cause of.

        A character acts when a need crosses a number of its tables, or when nothing was
        done for long; what was due by the time of an event is done before that. Oldest
        first.
        """
        found = tuple(
            reaction
            for id_, reaction in self._reactions.items()
            if id_ not in self._seen and reaction.silence is None
        )
        self._seen.update(self._reactions)
        return found

    def vote(self, reaction: Reaction, rating: str, **fields: object) -> None:
        """Give a person's feedback on a reaction; `fields` are those of `FeedbackGiven`."""
        given = {"decision_id": reaction.decision_id, "rating": rating, **fields}
        self._mind.tell(FeedbackGiven.from_fields(given))

    def tell(self, control: ControlMessage) -> None:
        """Give the mind a control, such as another personality or context.

        Raises:
            ValueError: it was refused; the text says why.
        """
        self._refused = None
        self._mind.tell(control)
        if self._refused is not None:
            raise ValueError(self._refused)

    def confidence(self, heuristic_id: str) -> float | None:
        """Return a heuristic's present confidence, 0 to 1; None if it never fired."""
        beliefs = self._mind.state.agents[self._mind.agent].beliefs
        found = [
            beliefs[key]
            for key in sorted(beliefs)
            if key.startswith(f"{heuristic_id}@")
        ]
        return found[-1].confidence if found else None

    def save(self, path: Path) -> Path:
        """End the session and write it to a file; return the file."""
        self._mind.tell(SessionEnded())
        write_session(path, self._mind.recorded())
        return path

    def _answered(self, turn: Turn) -> None:
        for output in turn.outputs:
            match output.message:
                case Decided() as decided:
                    self._reactions[output.id] = _reaction(output.id, decided)
                case ControlRefused(reason=reason, detail=detail):
                    self._refused = f"{reason}: {detail}"
                case Completed() as end:
                    self._change(
                        end.decision_id, path=end.path, said=end.text, action=end.action
                    )
                case Dropped() as end:
                    self._change(end.decision_id, silence=end.reason)
                case ModelAsked() as asked:
                    self._ask(output.id, asked)
                case TurnAsked():
                    self._mind.tell(TurnGranted(ask_id=output.id))
                case RecallAsked():
                    away = RecallFailed(ask_id=output.id, reason="unavailable")
                    self._mind.tell(away)
                case DeliveryAsked() as asked:
                    # Nobody listens in a simulation, so each delivery succeeds at once.
                    self._mind.tell(Delivered(ask_id=output.id, channel=asked.channel))
                case _:
                    pass

    def _change(self, decision_id: str, **changes: Any) -> None:
        known = self._reactions[decision_id]
        self._reactions[decision_id] = replace(known, **changes)

    def _ask(self, ask_id: str, asked: ModelAsked) -> None:
        text = self._model(asked) if self._model is not None else None
        if text is None:
            self._mind.tell(
                ModelFailed(
                    ask_id=ask_id,
                    request_hash=asked.request_hash,
                    reason="no_response",
                    detail="it said nothing",
                )
            )
            return
        self._mind.tell(
            ModelAnswered(
                ask_id=ask_id,
                request_hash=asked.request_hash,
                model=asked.model,
                text=text,
            )
        )


def _settings(
    name: str, strategy: str, model: Answers | None, further: Mapping[str, object]
) -> MindSettings:
    """Return the default settings, without a rate limit and with the caller's changes."""
    made = {
        **mind_settings(defaults(), match_limits()).model_dump(),
        "seed": name,
        "intake": None,
        "strategy": parse(strategy),
        "model": None if model is None else ModelSettings(name=_MODEL),
    }
    return MindSettings.model_validate({**made, **further})


def _reaction(id_: str, decided: Decided) -> Reaction:
    return Reaction(
        decision_id=id_,
        event_id=decided.event_id,
        path=decided.path,
        said=decided.text,
        silence=decided.silence,
        heuristic_id=decided.matched_heuristic_id,
        decided=decided,
        action=decided.action,
    )
