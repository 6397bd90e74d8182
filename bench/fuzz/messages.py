"""Inputs of every kind for one partition: goldens, what is made of them, and garbage.

They refer to what the mind said before, so that votes meet decisions and results meet asks.
The same seed and the same answers make the same inputs.
"""

from collections import deque
from collections.abc import Sequence
from functools import cache
from pathlib import Path
from random import Random
from typing import Any

import orjson

from bench.fuzz import values
from bench.world import events
from handlers.mind.turn import Turn
from schemas.codec import catalogue
from schemas.messages.asks import DeliveryAsked, ModelAsked, RecallAsked, TurnAsked
from schemas.messages.controls import MindStarted, PackLoaded
from schemas.messages.decisions import Decided, HeuristicFired
from schemas.values.record import Wire
from schemas.values.subjects import INPUT_KINDS, SHARED_AGENT

GOLDEN = Path(__file__).parents[2] / "tests" / "golden" / "messages"
HEADERS = (
    "ce-id", "ce-schemaversion", "ce-type", "ce-source", "ce-time", "ce-causeseq", "ce-index",
    "ce-count", "ce-causeid", "content-type", "traceparent", "ce-strayedto",
)  # fmt: skip
_ASKS = (ModelAsked, DeliveryAsked, RecallAsked, TurnAsked)
_REMEMBERED = 400
"""How many of the latest ids of each sort inputs may refer to."""
_REFERS = {
    "decision_id": "decision", "in_reply_to": "decision", "response_id": "decision",
    "ask_id": "ask", "heuristic_id": "heuristic", "by_decision": "decision",
}  # fmt: skip
_SHELL = (MindStarted, PackLoaded)
"""What only the program itself says, with what it must have checked before."""

Fields = dict[str, Any]


class Messages:
    """The inputs of one run, one after the other."""

    def __init__(self, seed: str, partition: int, agents: Sequence[str]) -> None:
        """Make inputs for these agents of a partition."""
        self._rng = Random(seed)
        self._partition, self._agents = partition, agents
        self._known = {
            each: deque[tuple[str, str]](maxlen=_REMEMBERED)
            for each in ("decision", "ask", "heuristic")
        }
        self._sent = deque[Wire](maxlen=_REMEMBERED)
        self._told = events(4_000, self._rng.randrange(1 << 30))
        self._made = 0

    def next(self) -> Wire:
        """Return the next input."""
        self._made += 1
        kind = self._rng.choices(_MAKERS, _SHARES)[0]
        wire = kind(self)
        self._sent.append(wire)
        return wire

    def learn(self, turn: Turn) -> None:
        """Take note of what an answer named, for later inputs to refer to."""
        for each in turn.outputs:
            match each.message:
                case Decided():
                    self._known["decision"].append((each.agent, each.id))
                case HeuristicFired(heuristic_id=id_):
                    self._known["heuristic"].append((each.agent, id_))
                case message if isinstance(message, _ASKS):
                    self._known["ask"].append((each.agent, each.id))
                case _:
                    pass

    def _event(self) -> Wire:
        """An event as a sensor sends it, with a few odd fields now and then."""
        rng, event = self._rng, self._rng.choice(self._told)
        body = orjson.loads(event.body)
        if rng.random() < 0.2:
            odd = self._changed(dict(_golden()["sensed"]))
            body |= {name: odd[name] for name in list(odd)[: rng.randrange(5)]}
        if rng.random() < 0.3:
            body["text"] = values.text(rng)
        source = event.source if rng.random() < 0.8 else values.token(rng)
        return self._wire("sensor", f"{source}.{event.type}", body)

    def _input(self) -> Wire:
        """An input of any type, as its golden is, hardly changed or much."""
        rng = self._rng
        model = rng.choice(_OFTEN if rng.random() < 0.5 else _INPUTS)
        body, agent = dict(_golden()[model.token]), None
        for _ in range(rng.choice((0, 0, 0, 1, 1, 4))):
            body = self._changed(body)
        # What refers to something mostly refers to something that there is.
        for name in [each for each in body if each in _REFERS]:
            known = self._known[_REFERS[name]]
            if known and rng.random() < 0.8:
                agent, body[name] = rng.choice(known)
        kind, detail = model.kind, model.token
        if kind == "sensor":
            detail = f"{values.token(rng)}.seen"
        # As a sensor publishes it that has the right to.
        elif kind == "control" and rng.random() < 0.3:
            kind, detail, body["control"] = "sensor", "ada.control", model.token
        elif kind == "feedback" and rng.random() < 0.5:
            kind, detail = "sensor", "ada.feedback"
        return self._wire(kind, detail, body, agent)

    def _misplaced(self) -> Wire:
        """A message where none of its type belongs, also one that we alone write."""
        rng = self._rng
        name = rng.choice(list(_golden()))
        kind = rng.choice((*INPUT_KINDS, "decision", "ask", "note", "stray", "x"))
        detail = rng.choice((name, rng.choice(_TOKENS), "control", "a.b.c", "x"))
        return self._wire(kind, detail, self._changed(dict(_golden()[name])))

    def _garbage(self) -> Wire:
        """Anything that the broker would store."""
        rng = self._rng
        tokens = (values.token(rng) or "x" for _ in range(rng.randrange(1, 4)))
        rest = ".".join(tokens)
        agent = (
            self._agent()
            if rng.random() < 0.9
            else rng.choice((SHARED_AGENT, "ö", "*"))
        )
        kind = rng.choice(("sensor", "sensor", *INPUT_KINDS, "stray"))
        subject = f"ev.{self._partition}.in.{agent}.{kind}.{rest}"
        return Wire(subject, values.headers(rng, HEADERS), values.body(rng))

    def _again(self) -> Wire:
        """One of the latest inputs once more, as it was or with another body."""
        if not self._sent:
            return self._event()
        wire = self._rng.choice(self._sent)
        if self._rng.random() < 0.7:
            return wire
        return Wire(wire.subject, wire.headers, values.body(self._rng))

    def _changed(self, fields: Fields) -> Fields:
        """Return a message's fields with one of them changed, gone, or too many."""
        rng = self._rng
        name = rng.choice(list(fields)) if fields else "text"
        match rng.randrange(5):
            case 0:
                fields.pop(name, None)
            case 1:
                other = rng.choice(list(_golden().values()))
                fields |= {key: other[key] for key in list(other)[:2]}
            case 2 if isinstance(fields.get(name), dict):
                fields[name] = self._changed(dict(fields[name]))
            case _:
                fields[name] = values.json_value(rng)
        return fields

    def _wire(
        self, kind: str, detail: str, body: Fields, agent: str | None = None
    ) -> Wire:
        rng, named = self._rng, agent or self._agent()
        subject = f"ev.{self._partition}.in.{named}.{kind}.{detail}"
        headers = {"ce-id": f"id-{self._made}"}
        if rng.random() < 0.05:
            headers |= values.headers(rng, HEADERS)
        return Wire(subject, headers, values.as_json(body))

    def _agent(self) -> str:
        return self._rng.choice(self._agents)


_MAKERS = (
    Messages._event, Messages._input, Messages._misplaced, Messages._garbage,
    Messages._again,
)  # fmt: skip
_SHARES = (38, 42, 7, 8, 5)
_OFTEN = [
    each for each in catalogue.INPUTS if each.kind in ("feedback", "result", "clock")
]
_INPUTS = [each for each in catalogue.INPUTS if each not in _SHELL]
_TOKENS = tuple(each.token for each in _INPUTS)


@cache
def _golden() -> dict[str, Fields]:
    """Return the body of each golden message, by its token."""
    found = sorted(GOLDEN.glob("*.json"))
    # Of several of one token the last counts: the plain one.
    return {each.name.split(".")[0]: orjson.loads(each.read_bytes()) for each in found}
