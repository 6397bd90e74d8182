"""Adapt strategies that await the model, `async decide(context, llm)`, without a loop.

Such a strategy runs until it asks the model. That is its choice of an arm: the ask goes
into the log with the strategy's own prompt, and the answer comes later, as an input. The
strategy is never resumed; the answer is concluded as with every other one.
"""

import hashlib
import inspect
from collections.abc import Generator
from dataclasses import dataclass
from typing import Any, Protocol, get_args

import orjson
from pydantic import JsonValue

from schemas.messages.arms import SILENT
from schemas.ports.decision_context import DecisionContext, Odds, Question
from schemas.values.reasons import Silence
from schemas.values.unicode_text import quoted


@dataclass(frozen=True, slots=True)
class LLMRequest:
    """A prompt for the model; any object with these attributes will do."""

    prompt: str
    system_prompt: str = ""


class AwaitingStrategy(Protocol):
    """A strategy in the form that awaits the model; `config` may be left out."""

    async def decide(self, context: DecisionContext, llm: Any) -> Any:
        """Choose; the result names its `path` and `matched_heuristic_id`."""


class AwaitingError(ValueError):
    """An awaiting strategy did what cannot be recorded."""


@dataclass(frozen=True)
class _Awaiting:
    """An awaiting strategy behind the interface of all others; `awaiting` makes it."""

    inner: AwaitingStrategy

    @property
    def version(self) -> int:
        """The strategy's own version, else 1."""
        return int(getattr(self.inner, "version", 1))

    @property
    def config(self) -> dict[str, JsonValue]:
        """The strategy's own settings, if it has any."""
        return dict(getattr(self.inner, "config", {}))

    @property
    def words(self) -> str:
        """A digest that stands for its prompts in the model's arm: class, version,
        settings.
        """
        kind = type(self.inner)
        settings = orjson.dumps(self.config, option=orjson.OPT_SORT_KEYS, default=str)
        known = f"{kind.__module__}.{kind.__qualname__}/{self.version}/".encode()
        return hashlib.blake2b(known + settings, digest_size=16).hexdigest()

    def decide(self, context: DecisionContext) -> Odds:
        """Run the strategy until it returns or asks; give its arm all the probability.

        Raises:
            AwaitingError: it awaits something else than the model, or takes an arm that
                is not on offer.
        """
        may_ask = context.llm_arm is not None and context.immediate
        # Stepped by hand: no event loop may run inside the pure mind.
        deciding = self.inner.decide(context, _Model(context) if may_ask else None)
        try:
            asked = deciding.send(None)
        # A coroutine hands its return value over in this exception.
        except StopIteration as end:
            return _taken(end.value, context)
        finally:
            # Closed, not kept: a suspended coroutine is no value that a state could hold.
            deciding.close()
        if not isinstance(asked, Question) or context.llm_arm is None:
            raise AwaitingError("it awaits something else than llm.generate(...)")
        return Odds(
            arms=((context.llm_arm, 1.0),),
            greedy=context.llm_arm,
            silence="strategy_silent",
            question=asked,
        )


def awaiting(strategy: AwaitingStrategy) -> _Awaiting:
    """Let a strategy with `async decide(context, llm)` be used like any other.

    Raises:
        TypeError: its `decide` is not async.
    """
    if not inspect.iscoroutinefunction(getattr(strategy, "decide", None)):
        raise TypeError(f"{quoted(strategy)} has no async decide(context, llm)")
    return _Awaiting(strategy)


class _Model:
    """The model as such a strategy sees it: to ask it is to be suspended."""

    def __init__(self, context: DecisionContext) -> None:
        self.model_name = (context.llm_arm or "").removeprefix("llm:").partition("@")[0]

    async def generate(self, request: Any) -> Any:
        """Suspend the strategy with its question; no answer is ever returned here."""
        prompt, system = request.prompt, getattr(request, "system_prompt", None)
        return await _Asked(Question(system=str(system or ""), prompt=str(prompt)))


class _Asked:
    """An awaitable that yields the question, and never completes."""

    def __init__(self, question: Question) -> None:
        self._question = question

    def __await__(self) -> Generator[Question, None, None]:
        yield self._question


def _taken(result: Any, context: DecisionContext) -> Odds:
    """Return the odds of a result that needed no model."""
    # An enumeration's member or its text: such strategies bring types of their own.
    path = getattr(result.path, "value", result.path)
    if path == "heuristic":
        for each in context.candidates:
            if each.eligible and each.heuristic_id == result.matched_heuristic_id:
                return Odds.certain(each.arm, "strategy_silent")
        raise AwaitingError(
            f"it answers by {quoted(result.matched_heuristic_id)}, which is not on offer"
        )
    if path not in ("rejected", "fallback"):
        raise AwaitingError(f"it took the path {quoted(path)} without asking the model")
    reason = (getattr(result, "metadata", None) or {}).get("reason")
    known = (each for each in get_args(Silence) if each == reason)
    return Odds.certain(SILENT, next(known, "strategy_silent"))
