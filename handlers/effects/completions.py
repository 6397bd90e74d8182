"""What a call of a model comes to: a completion as it was received, or a named failure."""

import json
from dataclasses import dataclass, replace
from types import ModuleType
from typing import Any, Literal

from schemas.messages.asks import ModelAsked

_TOKENS_AT_MOST = 1_000_000_000
"""No prompt or answer has more; a larger number from a server is not a count."""

_COST_AT_MOST_USD = 1_000_000.0

Price = tuple[float, float]
"""US dollars for a million tokens: of the prompt, and of the answer."""

_FailureReason = Literal["timeout", "no_response", "declined", "unavailable"]


class ModelError(Exception):
    """The model gave no usable answer; `reason` is what the log records."""

    def __init__(
        self,
        reason: _FailureReason,
        detail: str,
        *,
        is_passing: bool = False,
        retry_after_s: float = 0.0,
        status: int | None = None,
    ) -> None:
        super().__init__(detail)
        self.reason = reason
        self.is_passing = is_passing
        """Whether the same request may succeed a moment later."""
        self.retry_after_s = retry_after_s
        """After how many seconds, as the server says."""
        self.status = status
        """The HTTP status, if its server answered."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Completion:
    """A model's answer, with its latency, tokens and cost."""

    text: str
    model: str
    latency_ms: float
    input_tokens: int | None = None
    output_tokens: int | None = None
    cost_usd: float | None = None
    fingerprint: str | None = None
    """The provider's name of the version that answered, if it gives one."""
    reasoning: str | None = None
    """What it thought, where the server tells that apart."""
    finish_reason: str | None = None
    tool_calls: str | None = None
    """As JSON."""
    refusal: str | None = None
    response_id: str | None = None
    server: str | None = None
    """Host and port, if they are known."""
    first_part_ms: float | None = None
    """Until its first words or thoughts came, if it came in parts."""


def read(
    litellm: ModuleType, response: Any, asked: ModelAsked, latency_ms: float
) -> Completion:
    """Return what a response of litellm holds.

    Raises:
        ModelError: it holds nothing that could be an answer.
    """
    choices = getattr(response, "choices", None)
    if not choices:
        raise malformed("it holds no choice")
    message, finish = choices[0].message, choices[0].finish_reason
    usage = getattr(response, "usage", None)
    model, id_ = response.model, getattr(response, "id", None)
    return Completion(
        text=_content(message.content),
        model=model if model and isinstance(model, str) else asked.model,
        latency_ms=round(latency_ms, 3),
        input_tokens=_count(usage, "prompt_tokens"),
        output_tokens=_count(usage, "completion_tokens"),
        cost_usd=_cost(litellm, response),
        fingerprint=getattr(response, "system_fingerprint", None),
        reasoning=thought(message),
        finish_reason=finish if isinstance(finish, str) else None,
        tool_calls=_called(message),
        refusal=_refused(message),
        response_id=id_ if isinstance(id_, str) else None,
    )


def priced(completion: Completion, price: Price) -> Completion:
    """Return a completion at a price of one's own; one whose tokens nobody told as it is."""
    taken, given = completion.input_tokens, completion.output_tokens
    if taken is None or given is None:
        return completion
    cost = (taken * price[0] + given * price[1]) / 1_000_000
    return replace(completion, cost_usd=min(cost, _COST_AT_MOST_USD))


def thought(message: object) -> str | None:
    """Return what a model thought, by either name that servers have for it."""
    for name in ("reasoning_content", "reasoning"):
        thought = getattr(message, name, None)
        if isinstance(thought, str) and thought:
            return thought
    return None


def _content(content: object) -> str:
    """Return the content as it came: a text, or what is none as JSON."""
    if content is None or isinstance(content, str):
        return content or ""
    return json.dumps(content, default=str)


def _called(message: object) -> str | None:
    """Return the calls of tools in a message, as JSON; None if there are none."""
    calls = getattr(message, "tool_calls", None) or getattr(
        message, "function_call", None
    )
    return json.dumps(calls, default=_fields) if calls else None


def _fields(part: object) -> object:
    as_fields = getattr(part, "model_dump", None)
    return as_fields() if callable(as_fields) else str(part)


def _refused(message: object) -> str | None:
    """Return why a model refused, where its server tells that apart."""
    told = getattr(message, "refusal", None)
    if told is None:
        told = (getattr(message, "provider_specific_fields", None) or {}).get("refusal")
    return told if isinstance(told, str) and told else None


def malformed(why: str) -> ModelError:
    """Return the error of an answer that is there and cannot be read."""
    return ModelError("no_response", f"the answer is malformed: {why}")


def _count(usage: object, name: str) -> int | None:
    """Return a count of tokens; None if the server gave none.

    Raises:
        ModelError: it is no count that could be.
    """
    value = getattr(usage, name, None)
    if value is None:
        return None
    # Not `isinstance`: True would count as one token.
    if type(value) is not int or not 0 <= value <= _TOKENS_AT_MOST:
        raise malformed(f"{name} is {str(value)[:50]}")
    return value


def _cost(litellm: ModuleType, response: Any) -> float | None:
    """Return what the answer cost; None for a model without a price."""
    try:
        cost = float(litellm.completion_cost(completion_response=response))
    except Exception:  # noqa: BLE001  # a missing price is no reason to lose an answer
        return None
    return cost if 0.0 <= cost <= _COST_AT_MOST_USD else None
