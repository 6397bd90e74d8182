"""Requests that nobody should send to the HTTP door, and some that everybody may.

The seed and a request's number alone say what it is; only tokens and the decision that is
voted on differ from run to run, as the instance makes them.
"""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from random import Random
from typing import Any, Literal
from urllib.parse import quote
from uuid import NAMESPACE_URL, uuid5

import orjson

from bench.fuzz import values
from bench.fuzz.shapes import SHAPES

Trouble = Literal["half", "deaf", "twice"]
"""What happens to a request: cut off in the middle, not waited for, or sent once more."""

MARK = "smuggled"
"""Begins the ids of events that must never be taken."""


@dataclass(frozen=True, slots=True)
class Token:
    """A token as a client knows it."""

    name: str
    secret: str
    agent: str
    sources: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class Asked:
    """One request."""

    number: int
    kind: str
    data: bytes
    """As it goes over the wire."""
    token: Token | None = None
    key: str | None = None
    """By which it may be sent again."""
    trouble: Trouble | None = None

    def own_id(self, place: int) -> str:
        """Return the id that the door gives what has none of its own."""
        assert self.token is not None, "a request with a key has a token"
        return str(uuid5(NAMESPACE_URL, f"{self.token.name}/{place}/{self.key}"))


@dataclass(frozen=True, slots=True)
class Maker:
    """Makes the requests of a seed."""

    seed: str
    tokens: Sequence[Token]
    decisions: Mapping[str, str]
    """Of each agent one that may be voted on."""

    def make(self, number: int) -> Asked:
        """Return the request of this number."""
        rng = Random(f"{self.seed}/{number}")
        kinds: Mapping[str, tuple[int, Callable[[Random, int], Asked]]] = {
            "event": (28, self._event),
            "batch": (10, self._batch),
            "odd": (26, self._odd),
            "cloud": (6, self._cloud),
            "vote": (6, self._vote),
            "outcome": (6, self._outcome),
            "read": (6, self._read),
            "stranger": (5, self._stranger),
            "raw": (7, self._raw),
        }
        weights = [weight for weight, _ in kinds.values()]
        (kind,) = rng.choices(list(kinds), weights)
        return kinds[kind][1](rng, number)

    def _event(self, rng: Random, number: int) -> Asked:
        return self._sent(rng, number, "event", "/v1/events", _event(rng))

    def _batch(self, rng: Random, number: int) -> Asked:
        events = [_event(rng) for _ in range(rng.randrange(1, 9))]
        return self._sent(rng, number, "batch", "/v1/events", events)

    def _odd(self, rng: Random, number: int) -> Asked:
        if rng.random() < 0.3:
            return self._sent(rng, number, "odd", "/v1/events", values.body(rng))
        odd = _odd(rng, number)
        told = odd if rng.random() < 0.6 else [_event(rng), odd, _event(rng)]
        return self._sent(rng, number, "odd", "/v1/events", told)

    def _cloud(self, rng: Random, number: int) -> Asked:
        batch = rng.random() < 0.5
        event: dict[str, Any] = {
            "specversion": "1.0",
            "id": f"cloud {self.seed} {number}",
            "source": "/home/cam",
            "type": "org.example.seen",
            "data": _event(rng) | ({"type": 5} if rng.random() < 0.1 else {}),
        }
        if rng.random() < 0.3:
            # Its id stays its own, so that it can be told apart.
            name = rng.choice([each for each in event if each != "id"])
            event[name] = values.json_value(rng)
        body = [event] if batch else event
        media = "application/cloudevents" + ("-batch" if batch else "") + "+json"
        return self._sent(rng, number, "cloud", "/v1/events", body, media)

    def _vote(self, rng: Random, number: int) -> Asked:
        token = rng.choice(self.tokens)
        rating = rng.choice(("positive", "negative", "negative", "scaled", "odd"))
        body: dict[str, Any] = {
            "decision_id": self.decisions[token.agent],
            "rating": rating,
        }
        if rng.random() < 0.3:
            body[rng.choice(("value", "stars", "comment", "heuristic_id", "actor"))] = (
                values.json_value(rng)
            )
        return self._sent(rng, number, "vote", "/v1/feedback", body, token=token)

    def _outcome(self, rng: Random, number: int) -> Asked:
        token = rng.choice(self.tokens)
        body: dict[str, Any] = {
            "decision_id": self.decisions[token.agent],
            "outcome": rng.choice(("succeeded", "failed", "cancelled", "odd")),
        }
        if rng.random() < 0.4:
            name = rng.choice(("reason", "text", "type", "source", "in_reply_to"))
            body[name] = values.json_value(rng)
        return self._sent(rng, number, "outcome", "/v1/outcomes", body, token=token)

    def _read(self, rng: Random, number: int) -> Asked:
        token = rng.choice(self.tokens)
        agent = quote(rng.choice((token.agent, "someone", values.token(rng))), safe="")
        place = quote(values.text(rng)[:200], safe="")
        path = rng.choice(
            (
                f"{agent}/decisions?limit={rng.randrange(-1, 600)}&before={place}",
                f"{agent}/decisions?limit=3&session={place}",
                f"{agent}/decisions/{place}",
                f"{agent}/sessions",
                f"{agent}/state",
                f"{agent}/../{agent}/state",
                f"{agent}%2fstate",
            )
        )
        head = f"GET /v1/agents/{path} HTTP/1.1\r\nHost: a\r\n{_bearer(token.secret)}"
        return Asked(number, "read", head.encode() + b"\r\n", token)

    def _stranger(self, rng: Random, number: int) -> Asked:
        secret = rng.choice(("", "echoic_x", "x" * 5_000, "\x7f", "ö"))
        body = values.as_json(_event(rng) | {"event_id": f"{MARK} {number}"})
        head = f"POST /v1/events HTTP/1.1\r\nHost: a\r\n{_bearer(secret)}"
        length = f"Content-Length: {len(body)}\r\n\r\n"
        return Asked(number, "stranger", (head + length).encode("latin-1") + body)

    def _raw(self, rng: Random, number: int) -> Asked:
        token = rng.choice(self.tokens)
        hidden = values.as_json(_event(rng) | {"event_id": f"{MARK} {number}"})
        auth = _bearer(token.secret)
        inner = (
            f"POST /v1/events HTTP/1.1\r\nHost: a\r\n{auth}"
            f"Content-Length: {len(hidden)}\r\n\r\n"
        ).encode() + hidden
        head = f"POST /v1/events HTTP/1.1\r\nHost: a\r\n{auth}"
        shape = rng.choice(SHAPES)
        return Asked(number, "raw", head.encode() + shape(inner))

    def _sent(
        self,
        rng: Random,
        number: int,
        kind: str,
        path: str,
        body: object,
        media: str = "application/json",
        *,
        token: Token | None = None,
    ) -> Asked:
        """Return a request with a key, and perhaps with trouble."""
        token, key = token or rng.choice(self.tokens), f"{self.seed}-{number}"
        data = body if isinstance(body, bytes) else values.as_json(body)
        head = [
            f"POST {path} HTTP/1.1\r\nHost: a\r\n{_bearer(token.secret)}"
            f"Idempotency-Key: {key}\r\nContent-Type: {media}\r\n"
        ]
        if rng.random() < 0.1:
            size = rng.randrange(1, 200)
            parts = [data[at : at + size] for at in range(0, len(data), size)]
            framed = b"".join(b"%x\r\n%b\r\n" % (len(each), each) for each in parts)
            data = framed + b"0\r\n\r\n"
            head.append("Transfer-Encoding: chunked\r\n\r\n")
        else:
            head.append(f"Content-Length: {len(data)}\r\n\r\n")
        chance = rng.random()
        trouble: Trouble | None = None
        if chance < 0.12:
            trouble = "half" if chance < 0.03 else "deaf" if chance < 0.09 else "twice"
        wire = "".join(head).encode() + data
        return Asked(number, kind, wire, token, key, trouble)


def _bearer(secret: str) -> str:
    return f"Authorization: Bearer {secret}\r\n" if secret else ""


def _event(rng: Random) -> dict[str, Any]:
    found: dict[str, Any] = {
        "type": rng.choice(("seen", "heard", "felt")),
        "text": values.text(rng)[:200].strip() or "x",
    }
    if rng.random() < 0.4:
        found["fields"] = {"n": rng.choice(values.NUMBERS), "who": values.text(rng)}
    if rng.random() < 0.1:
        found["in_reply_to"] = {"source": "cam", "event_id": "nobody knows"}
        found["outcome"] = rng.choice(("succeeded", "failed"))
    return found


def _odd(rng: Random, number: int) -> Any:
    """Return what is nearly an event, or nothing of the sort."""
    event = _event(rng)
    fields = (
        "type", "text", "fields", "occurred_at", "salience", "intent", "urgency", "source",
        "sentiment", "entities", "immediate", "ttl_s", "in_reply_to", "outcome", "reason",
        "person", "evaluation_data", "agent", "event_id", "unheard_of",
    )  # fmt: skip
    for name in rng.sample(fields, rng.randrange(1, 4)):
        event[name] = _value(rng, name, number)
    return event if rng.random() < 0.95 else values.json_value(rng)


def _value(rng: Random, name: str, number: int) -> Any:
    if name == "event_id":
        # One of its own, so that it can be told apart whatever is in it.
        return f"{rng.choice(_BEGINNINGS)}own {number}{rng.choice(_ENDS)}"
    if name == "occurred_at":
        return rng.choice(values.TIMES)
    if name in ("type", "source", "agent", "person"):
        return values.token(rng)
    if name == "fields":
        return {values.token(rng): values.json_value(rng) for _ in range(3)}
    return values.json_value(rng)


_BEGINNINGS = ("", " ", "\u0085")
_ENDS = ("", "", "", "\r\nce-type: muted", "\n", "\0", "é", " " * 3, "x" * 300)


def events_of(body: bytes) -> Sequence[Any]:
    """Return what the answer to a request says of each of its events."""
    told = orjson.loads(body)
    several: Sequence[Any] = told.get("events", [told])
    return several
