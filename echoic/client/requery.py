"""Live model calls for a replay: within a budget, and recorded in a file.

A call that the file holds already is not made again, so that the same command gives the
same report twice.
"""

from contextlib import suppress
from pathlib import Path

import msgspec
from msgspec import structs

from echoic.errors import EchoicError
from handlers.effects.completions import Completion, ModelError
from handlers.effects.models import Model
from replay.cassette import BudgetSpent, Spread, Take
from schemas.messages.asks import ModelAsked
from schemas.values.model_settings import links_of


class _Line(msgspec.Struct, frozen=True, omit_defaults=True):
    """An answer, or why there was none, as the file holds it."""

    key: str
    asked: str = ""
    """The model as it was asked for."""
    text: str | None = None
    finish_reason: str | None = None
    tool_calls: str | None = None
    refusal: str | None = None
    model: str | None = None
    """The model's version, if the provider reports it."""
    fingerprint: str | None = None
    latency_ms: float = 0.0
    tokens: int | None = None
    cost_usd: float | None = None
    failure: str | None = None
    detail: str = ""


class Requery:
    """A `ModelPort` that calls a model and appends its answers to a file of JSON lines."""

    def __init__(
        self, model: Model, path: Path, *, calls: int, cost_usd: float | None = None
    ) -> None:
        """Use a model within a budget; answers that `path` holds already cost nothing."""
        self._model = model
        self._path = path
        self._calls = calls
        self._cost_usd = cost_usd
        self._spent_usd = 0.0
        self._known = _read(path)

    async def ask(self, asked: ModelAsked, occurrence: int) -> Take:
        """Return the recorded answer, or call the model once.

        Raises:
            BudgetSpent: the calls or the money that were granted are used up.
        """
        # The same request may occur several times, each with an answer of its own.
        key = f"{asked.request_hash}/{occurrence}"
        line = self._known.get(key)
        if line is None:
            line = await self._asked(asked, key)
        return _take(line)

    async def close(self) -> None:
        """Close what the model keeps open in this event loop."""
        await self._model.close()

    async def _asked(self, asked: ModelAsked, key: str) -> _Line:
        is_poor = self._cost_usd is not None and self._spent_usd >= self._cost_usd
        if self._calls <= 0 or is_poor:
            raise BudgetSpent(f"nothing is left to ask {asked.model!r} with")
        # Before the call, so that one that fails counts, too.
        self._calls -= 1
        try:
            said = await self._completed(asked)
            self._spent_usd += said.cost_usd or 0.0
            line = _said(key, asked.model, said)
        except ModelError as error:
            # Recorded like an answer, or a repeated command would try again and report
            # otherwise.
            line = _Line(key, asked.model, failure=error.reason, detail=str(error))
        self._known[key] = line
        # Written after each call, so that an interrupted run loses no answer that was paid
        # for.
        with self._path.open("ab") as file:
            file.write(msgspec.json.encode(line) + b"\n")
        return line

    async def _completed(self, asked: ModelAsked) -> Completion:
        """Call the model; of a chain the next where one fails.

        Raises:
            ModelError: the last one failed.
        """
        *before, last = links_of(asked.model)
        for link in before:
            with suppress(ModelError):
                return await self._called(asked, link)
        return await self._called(asked, last)

    async def _called(self, asked: ModelAsked, link: str) -> Completion:
        one = structs.replace(asked, model=link)
        return await self._model.complete(one, deadline_s=asked.deadline_s, headers={})


def _said(key: str, asked: str, said: Completion) -> _Line:
    tokens = (said.input_tokens or 0) + (said.output_tokens or 0)
    return _Line(
        key,
        asked,
        text=said.text,
        finish_reason=said.finish_reason,
        tool_calls=said.tool_calls,
        refusal=said.refusal,
        model=said.model,
        fingerprint=said.fingerprint,
        latency_ms=said.latency_ms,
        tokens=tokens or None,
        cost_usd=said.cost_usd,
    )


def _take(line: _Line) -> Take:
    return Take(
        source="asked",
        text=line.text,
        finish_reason=line.finish_reason,
        tool_calls=line.tool_calls,
        refusal=line.refusal,
        failure=line.failure,
        detail=line.detail,
        model=line.model or line.asked,
        latency_ms=Spread.exactly(line.latency_ms),
        cost_usd=None if line.cost_usd is None else Spread.exactly(line.cost_usd),
        tokens=line.tokens,
    )


def _read(path: Path) -> dict[str, _Line]:
    lines = path.read_bytes().splitlines() if path.exists() else []
    known = {}
    for number, text in enumerate(lines, start=1):
        try:
            line = msgspec.json.decode(text, type=_Line)
        except ValueError as error:
            raise EchoicError(
                f"{str(path)!r}, line {number}: is no answer of a model ({error!r})",
                next_step=f"remove the line, or name another file than {path.name}",
            ) from error
        known[line.key] = line
    return known
