"""The cassette: recorded model answers, found by the request that they answer.

A request is identified by session, request hash, and how often that hash came before. One
that was not recorded is, by the mode, an error, unknown, a stub, or asked live through a
port that the caller supplies; nothing in here can call a model by itself.
"""

import difflib
from collections import Counter, defaultdict
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Literal, Protocol

from schemas.messages.asks import ModelAsked

Mode = Literal["strict", "cassette", "requery", "stub"]

ASSUMED_LATENCY_MS = 1_000.0
"""The latency, in milliseconds, of a model that the recording has no answer of. A guess, and
marked `assumed` wherever it is used."""

UNKNOWN_TEXT = "(unknown)"
"""Stands in a replay for an answer whose text is not known."""

_QUANTILES = (0.1, 0.5, 0.9)
_NEAR_PROMPTS = 200
"""With how many recorded prompts a missing one is compared for the error message; each
comparison is slow."""


class ModelMiss(LookupError):
    """The recording has no answer to a request."""


class BudgetSpent(Exception):
    """Nothing more may be asked live."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Spread:
    """A figure that is only known roughly: its 10th, 50th and 90th percentiles."""

    low: float
    middle: float
    high: float

    @classmethod
    def exactly(cls, value: float) -> "Spread":
        """Return a figure that is known exactly."""
        return cls(low=value, middle=value, high=value)

    @classmethod
    def among(cls, values: Sequence[float]) -> "Spread | None":
        """Return the percentiles of values by nearest rank; None if there are none."""
        if not values:
            return None
        ordered = sorted(values)
        low, middle, high = (
            ordered[round(share * (len(ordered) - 1))] for share in _QUANTILES
        )
        return cls(low=low, middle=middle, high=high)


Source = Literal["recorded", "imputed", "assumed", "asked", "stub"]
"""Where an answer comes from. `imputed`: text unknown, latency and cost from the model's
recorded answers; `assumed`: not even the latency is known."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Take:
    """An answer to a request, as far as it is known."""

    source: Source
    text: str | None
    """None: the model failed, or nobody knows what it would have said."""
    finish_reason: str | None = None
    tool_calls: str | None = None
    refusal: str | None = None
    """What else the mind reads a reply by, as it was received."""
    failure: str | None = None
    """Why it said nothing, if that is known."""
    detail: str = ""
    model: str
    latency_ms: Spread
    """From the ask to its answer, by the broker's time."""
    cost_usd: Spread | None = None
    tokens: int | None = None

    @property
    def is_known(self) -> bool:
        """Whether it is known what the model said, or that it said nothing."""
        return self.text is not None or self.failure is not None


class ModelPort(Protocol):
    """Asks a model live within a budget; supplied by the caller."""

    async def ask(self, asked: ModelAsked, occurrence: int) -> Take:
        """Ask once.

        Raises:
            BudgetSpent: the granted calls or money are used up.
        """

    async def close(self) -> None:
        """Close what it keeps open in this event loop."""


@dataclass(frozen=True, slots=True)
class Recorded:
    """A request that was made, and its answer if one came."""

    session: str
    asked: ModelAsked
    take: Take | None


class Cassette:
    """The requests of a recording with their answers, and each model's usual figures."""

    def __init__(self, requests: Sequence[Recorded] = ()) -> None:
        """Take requests in the order in which they were made."""
        self._requests = tuple(requests)
        self._by_hash: dict[tuple[str, str], list[Recorded]] = defaultdict(list)
        for each in requests:
            self._by_hash[each.session, each.asked.request_hash].append(each)
        said = [
            (each.asked.model, each.take)
            for each in requests
            if each.take is not None and each.take.text is not None
        ]
        self._latencies = _by_model([(m, take.latency_ms.middle) for m, take in said])
        self._costs = _by_model(
            [(m, take.cost_usd.middle) for m, take in said if take.cost_usd]
        )
        self._tokens = _by_model(
            [(m, float(take.tokens)) for m, take in said if take.tokens is not None]
        )

    def find(self, session: str, asked: ModelAsked, occurrence: int) -> Recorded | None:
        """Return the request of this hash that was the `occurrence`-th of it, from 0."""
        # Equal requests may have got different answers, so the n-th
        # asking gets the n-th of them.
        same = self._by_hash.get((session, asked.request_hash), ())
        return same[occurrence] if occurrence < len(same) else None

    def imputed(self, asked: ModelAsked) -> Take:
        """Return an answer without text, with the model's usual latency, cost and tokens."""
        model = asked.model
        latency = self._latencies.get(model)
        tokens = self._tokens.get(model)
        return Take(
            source="imputed" if latency else "assumed",
            text=None,
            model=model,
            latency_ms=latency or _assumed(asked),
            cost_usd=self._costs.get(model),
            tokens=round(tokens.middle) if tokens else None,
        )

    def nearest(self, asked: ModelAsked) -> Recorded | None:
        """Return the recorded request most similar to one that is missing."""
        same = [each for each in self._requests if each.asked.model == asked.model]
        near = (same or self._requests)[:_NEAR_PROMPTS]
        return max(near, key=lambda each: _likeness(each.asked, asked), default=None)


class Player:
    """Answers requests from a cassette, by a mode; one for each replay.

    It counts how often each request was made, so two replays must not share one.
    """

    def __init__(
        self,
        cassette: Cassette,
        mode: Mode = "cassette",
        *,
        port: ModelPort | None = None,
        stub: str = "",
    ) -> None:
        """Answer from `cassette`; `port` is for `requery`, `stub` the text of mode `stub`."""
        if mode == "requery" and port is None:
            raise ValueError("the mode 'requery' needs a port to ask through")
        self._cassette = cassette
        self._mode = mode
        self._port = port
        self._stub = stub
        self._asked: Counter[tuple[str, str]] = Counter()
        self.hits = 0
        self.misses = 0

    @property
    def watermark(self) -> str | None:
        """The note on every result that rests on stubbed answers; None for other modes."""
        return f"stub: models say {self._stub!r}" if self._mode == "stub" else None

    async def take(self, session: str, asked: ModelAsked) -> Take:
        """Return the answer to a request, as far as the mode knows one.

        Raises:
            ModelMiss: mode `strict`, and the recording does not hold it.
        """
        key = (session, asked.request_hash)
        occurrence = self._asked[key]
        self._asked[key] += 1
        imputed = self._cassette.imputed(asked)
        # Before the recording is searched: a stub takes the place of recorded answers, too.
        if self._mode == "stub":
            return _said(imputed, "stub", self._stub)
        recorded = self._cassette.find(session, asked, occurrence)
        if recorded is not None:
            self.hits += 1
            # A request that was never answered in the recording gets no answer here.
            return recorded.take or _silent(imputed)
        self.misses += 1
        if self._mode == "strict":
            raise ModelMiss(_missing(asked, self._cassette.nearest(asked)))
        if self._port is not None:
            try:
                return await self._port.ask(asked, occurrence)
            except BudgetSpent:
                # The replay goes on with an unknown answer, which its results report.
                return imputed
        return imputed


def _by_model(values: Sequence[tuple[str, float]]) -> Mapping[str, Spread]:
    grouped: dict[str, list[float]] = defaultdict(list)
    for model, value in values:
        grouped[model].append(value)
    spreads = {model: Spread.among(grouped[model]) for model in grouped}
    return {model: spread for model, spread in spreads.items() if spread is not None}


def _assumed(asked: ModelAsked) -> Spread:
    # All that is certain of an unknown model: it answers before its deadline or not at all.
    deadline_ms = asked.deadline_s * 1000.0
    middle = min(ASSUMED_LATENCY_MS, deadline_ms)
    return Spread(low=0.0, middle=middle, high=deadline_ms)


def _said(take: Take, source: Source, text: str) -> Take:
    return Take(source=source, text=text, model=take.model, latency_ms=take.latency_ms)


def _silent(take: Take) -> Take:
    return Take(
        source="recorded",
        text=None,
        failure="unanswered",
        model=take.model,
        latency_ms=take.latency_ms,
    )


def _likeness(one: ModelAsked, other: ModelAsked) -> float:
    same_system = one.system == other.system
    matcher = difflib.SequenceMatcher(None, one.prompt, other.prompt, autojunk=False)
    # An equal system prompt outweighs any likeness, as `quick_ratio` is at most 1. It is an
    # upper bound of the exact ratio, and much cheaper.
    return matcher.quick_ratio() + same_system


def _missing(asked: ModelAsked, nearest: Recorded | None) -> str:
    said = (
        f"the recording holds no answer to the request {asked.request_hash!r} to"
        f" {asked.model!r}"
    )
    if nearest is None:
        return f"{said}, nor to any other: use --model cassette"
    return (
        f"{said}\n  asked    {_shown(asked)}\n  nearest  {_shown(nearest.asked)}"
        "\nuse --model cassette to go on without"
    )


def _shown(asked: ModelAsked) -> str:
    return f"{asked.request_hash} {asked.model!r}: {' '.join(asked.prompt.split())!r}"
