"""Live model calls for a replay: within a budget, and recorded in a file.

A call that the file holds already is not made again, so that the same command gives the
same report twice.
"""

from pathlib import Path

import orjson

from echoic.errors import EchoicError
from handlers.effects.models import Completion, Model, ModelError
from replay.cassette import BudgetSpent, Spread, Take
from schemas.messages.asks import ModelAsked


class Requery:
    """A `ModelPort` that calls a model and appends its answers to a file of JSON lines."""

    def __init__(
        self,
        model: Model,
        path: Path,
        *,
        calls: int,
        cost_usd: float | None = None,
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

    async def _asked(self, asked: ModelAsked, key: str) -> dict[str, object]:
        is_poor = self._cost_usd is not None and self._spent_usd >= self._cost_usd
        if self._calls <= 0 or is_poor:
            raise BudgetSpent(f"nothing is left to ask {asked.model!r} with")
        # Before the call, so that one that fails counts, too.
        self._calls -= 1
        line: dict[str, object] = {"key": key, "asked": asked.model}
        try:
            said = await self._model.complete(
                asked, deadline_s=asked.deadline_s, headers={}
            )
            self._spent_usd += said.cost_usd or 0.0
            line |= _said(said)
        except ModelError as error:
            # Recorded like an answer, or a repeated command would try again and report
            # otherwise.
            line |= {"failure": error.reason, "detail": str(error)}
        self._known[key] = line
        # Written after each call, so that an interrupted run loses no answer that was paid
        # for.
        with self._path.open("ab") as file:
            file.write(orjson.dumps(line) + b"\n")
        return line


def _said(said: Completion) -> dict[str, object]:
    """Return an answer's fields, with the model's version if the provider reports it."""
    tokens = (said.input_tokens or 0) + (said.output_tokens or 0)
    return {
        "text": said.text,
        "model": said.model,
        "fingerprint": said.fingerprint,
        "latency_ms": said.latency_ms,
        "tokens": tokens or None,
        "cost_usd": said.cost_usd,
    }


def _take(line: dict[str, object]) -> Take:
    failure, text = line.get("failure"), line.get("text")
    return Take(
        source="asked",
        text=text if isinstance(text, str) else None,
        failure=failure if isinstance(failure, str) else None,
        detail=str(line.get("detail", "")),
        model=str(line.get("model") or line["asked"]),
        latency_ms=Spread.exactly(_number(line.get("latency_ms")) or 0.0),
        cost_usd=_spread(_number(line.get("cost_usd"))),
        tokens=round(_number(line.get("tokens")) or 0) or None,
    )


def _spread(value: float | None) -> Spread | None:
    return None if value is None else Spread.exactly(value)


def _number(value: object) -> float | None:
    return float(value) if isinstance(value, int | float) else None


def _read(path: Path) -> dict[str, dict[str, object]]:
    lines = path.read_bytes().splitlines() if path.exists() else []
    known = {}
    for number, text in enumerate(lines, start=1):
        try:
            line = orjson.loads(text)
            known[line["key"]] = line
        except (ValueError, KeyError, TypeError) as error:
            raise EchoicError(
                f"{str(path)!r}, line {number}: is no answer of a model ({error!r})",
                next_step=f"remove the line, or name another file than {path.name}",
            ) from error
    return known
