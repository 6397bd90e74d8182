"""Live model calls for a replay: within a budget, and recorded in a file.

A call that the file holds already is not made again, so that the same command gives the
same report twice.
"""

from pathlib import Path
from time import perf_counter_ns
from typing import Literal

import msgspec

from echoic.errors import EchoicError
from handlers.effects.model_chain import ask_models
from handlers.effects.models import Model
from replay.cassette import BudgetSpent, Take
from replay.closed_loop.history import take_of
from schemas.messages.asks import ModelAsked
from schemas.messages.results import ModelAnswered, ModelFailed

_RESULTS = {each.token: each for each in (ModelAnswered, ModelFailed)}


class _Line(msgspec.Struct, frozen=True):
    """What came of one ask, as the file holds it."""

    key: str
    waited_ns: int
    token: Literal["model_answered", "model_failed"]
    body: msgspec.Raw
    """As the log would hold it."""

    @property
    def result(self) -> ModelAnswered | ModelFailed:
        """What the model said, or why it said nothing."""
        return _RESULTS[self.token].from_fields(msgspec.json.decode(self.body))


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
        line = self._known.get(key) or await self._asked(asked, key)
        return take_of(asked, line.result, line.waited_ns, "asked")

    async def close(self) -> None:
        """Close what the model keeps open in this event loop."""
        await self._model.close()

    async def _asked(self, asked: ModelAsked, key: str) -> _Line:
        is_poor = self._cost_usd is not None and self._spent_usd >= self._cost_usd
        if self._calls <= 0 or is_poor:
            raise BudgetSpent(f"nothing is left to ask {asked.model!r} with")
        # Before the call, so that one that fails counts, too.
        self._calls -= 1
        began_ns = perf_counter_ns()
        # A failure is recorded like an answer, or a repeated command would try again and
        # report otherwise.
        result = await ask_models(
            self._model, key, asked, within_s=asked.deadline_s, headers={}
        )
        waited_ns = perf_counter_ns() - began_ns
        body = msgspec.Raw(result.to_bytes())
        if isinstance(result, ModelAnswered):
            self._spent_usd += result.cost_usd or 0.0
            line = _Line(key, waited_ns, "model_answered", body)
        else:
            tried = result.attempts or ()
            self._spent_usd += sum(each.cost_usd or 0.0 for each in tried)
            line = _Line(key, waited_ns, "model_failed", body)
        self._known[key] = line
        # Written after each call, so that an interrupted run loses no answer that was paid
        # for.
        with self._path.open("ab") as file:
            file.write(msgspec.json.encode(line) + b"\n")
        return line


def _read(path: Path) -> dict[str, _Line]:
    lines = path.read_bytes().splitlines() if path.exists() else []
    known = {}
    for number, text in enumerate(lines, start=1):
        try:
            line = msgspec.json.decode(text, type=_Line)
            _ = line.result
        except ValueError as error:
            raise EchoicError(
                f"{str(path)!r}, line {number}: is no answer of a model ({error!r})",
                next_step=f"remove the line, or name another file than {path.name}",
            ) from error
        known[line.key] = line
    return known
