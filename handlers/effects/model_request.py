"""The request of a call: what a model takes, by the names that it takes it by.

litellm drops what its list says a model lacks. That list does not know every server, so what
a server's error names is left out or renamed, and remembered for the calls after it.
"""

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from types import ModuleType
from typing import Any, Protocol

from schemas.messages.asks import ChatTurn

ROOM_TOKENS = 2_000
"""The least limit of a model that reasons: what it thinks counts, and comes first."""

_EAGER = ("openai", "azure", "gemini", "vertex_ai")
"""Providers whose models reason unasked, and less at effort `low`."""
_UNASKED_NOT = ("anthropic", "bedrock")
"""Providers whose models reason only where it is asked for."""
_WRITES_JSON = (*_EAGER, "mistral", "ollama", "ollama_chat", "deepseek", "groq")
"""Providers with a mode for JSON of their own."""

_NAMES: Mapping[str, tuple[str, ...]] = {
    "temperature": ("temperature",),
    "max_tokens": ("max_tokens", "maxOutputTokens", "num_predict", "n_predict"),
    "max_completion_tokens": ("max_completion_tokens",),
    "reasoning_effort": (
        "reasoning_effort",
        "reasoning",
        "thinking",
        "think",
        "thinkingConfig",
        "thinking_config",
        "thinkingBudget",
        "thinking_budget",
        "thinkingLevel",
        "effort",
    ),
    "response_format": (
        "response_format",
        "responseMimeType",
        "response_mime_type",
        "json_object",
        "json mode",
    ),
    "stream_options": ("stream_options", "include_usage"),
    "stream": ("stream", "streaming"),
    "system": (
        "system role",
        "role 'system'",
        "'system'",
        "system message",
        "system instruction",
        "developer instruction",
        "assistant roles",
        "conversation roles",
    ),
}
"""By which names an error may mean what was sent."""

_OTHER_LIMIT = {
    "max_tokens": "max_completion_tokens",
    "max_completion_tokens": "max_tokens",
}

_REFUSES = re.compile(
    r"support|unknown|unexpected|unrecogni[sz]ed|not (permitted|allowed|accepted)"
    r"|forbidden|invalid|verified|not enabled|must (be|alternate)|may only|deprecated",
    re.IGNORECASE,
)
"""What an error says that refuses a part of a request."""

_TOO_LONG = re.compile(
    r"context[_ ](length|window|size)|(prompt|input) is too long", re.IGNORECASE
)
"""What an error says of a prompt that is too long; it names limits that are not at fault."""

_THINKS = re.compile(r"</?(think|thinking|reasoning|thought)>", re.IGNORECASE)


class Asked(Protocol):
    """What of an ask makes its request."""

    @property
    def model(self) -> str:
        """The model, as litellm names it."""

    @property
    def system(self) -> str:
        """What it is told first."""

    @property
    def prompt(self) -> str:
        """What it is asked."""

    @property
    def turns(self) -> Sequence[ChatTurn] | None:
        """What was said before it is asked, if that is a chat."""

    @property
    def temperature(self) -> float:
        """How freely it chooses words."""

    @property
    def max_tokens(self) -> int:
        """How long its answer is at most."""


@dataclass(frozen=True, slots=True)
class Habits:
    """What was learnt of a model from its answers and errors."""

    reasons: bool = False
    """Whether it was seen to think before it answers."""
    limit: str = "max_tokens"
    """By which name it takes the limit."""
    left_out: tuple[str, ...] = ()
    """What it refused, and is not sent any more."""

    def heard(self, text: str | None, reasoning: str | None) -> "Habits":
        """Return them after an answer, which may show that the model reasons."""
        is_seen = bool(reasoning) or _THINKS.search(text or "") is not None
        return replace(self, reasons=True) if is_seen else self

    def without(self, detail: str, sent: Mapping[str, Any]) -> "Habits | None":
        """Return them after an error, without what it names; None if it names nothing."""
        if _REFUSES.search(detail) is None or _TOO_LONG.search(detail):
            return None
        named = {name: _place(detail, _NAMES[name]) for name in _parts(sent)}
        found = {name: place for name, place in named.items() if place >= 0}
        if not found:
            return None
        # The first is what is wrong; a later one is the advice ("use … instead").
        name = min(found, key=lambda each: found[each])
        other = _OTHER_LIMIT.get(name)
        left_out = (*self.left_out, name)
        if other is not None and other not in self.left_out:
            return replace(self, limit=other, left_out=left_out)
        return replace(self, left_out=left_out)


NOTHING_KNOWN = Habits()


def parameters(litellm: ModuleType, asked: Asked, habits: Habits) -> dict[str, Any]:
    """Return what a call sends besides where it goes, in litellm's names.

    A model that reasons gets room for it, and is asked to reason little where it has that
    choice; one with a mode for JSON is put into it if it is asked for JSON.
    """
    provider = _provider(litellm, asked.model)
    reasons = habits.reasons or (
        provider not in _UNASKED_NOT and _knows(litellm.supports_reasoning, asked.model)
    )
    room = max(asked.max_tokens, ROOM_TOKENS) if reasons else asked.max_tokens
    sends: dict[str, Any] = {"temperature": asked.temperature, habits.limit: room}
    if reasons and provider in _EAGER:
        sends["reasoning_effort"] = "low"
    if _is_for_json(asked) and _has_json(litellm, provider, asked.model):
        sends["response_format"] = {"type": "json_object"}
    kept = {name: sends[name] for name in sends if name not in habits.left_out}
    return {"messages": _messages(asked, habits), **kept, "drop_params": True}


def _messages(asked: Asked, habits: Habits) -> list[dict[str, str]]:
    before = [{"role": each.role, "content": each.text} for each in asked.turns or ()]
    chat = [*before, {"role": "user", "content": asked.prompt}]
    if "system" not in habits.left_out:
        return [{"role": "system", "content": asked.system}, *chat]
    # The first turn is the user's: templates without that role want it so.
    told = f"{asked.system}\n\n{chat[0]['content']}"
    return [{"role": "user", "content": told}, *chat[1:]]


def _is_for_json(asked: Asked) -> bool:
    """Tell whether JSON is asked for; the mode is refused where the word is missing."""
    return "JSON" in asked.system or "JSON" in asked.prompt


def _has_json(litellm: ModuleType, provider: str, model: str) -> bool:
    # Of a server with OpenAI's API, only what litellm knows by name is OpenAI's.
    if provider not in ("openai", "azure"):
        return provider in _WRITES_JSON
    return _knows(litellm.supports_response_schema, model)


def _provider(litellm: ModuleType, model: str) -> str:
    try:
        return str(litellm.get_llm_provider(model)[1])
    except Exception:  # noqa: BLE001  # an unknown name is refused by the call itself
        return ""


def _knows(question: Any, model: str) -> bool:
    try:
        return bool(question(model=model))
    except Exception:  # noqa: BLE001  # its list may lack the model, or the question
        return False


def _parts(sent: Mapping[str, Any]) -> list[str]:
    """Return the names of what was sent and may be left out."""
    parts = [name for name in _NAMES if name in sent]
    is_system = any(each["role"] == "system" for each in sent.get("messages", ()))
    return [*parts, "system"] if is_system else parts


def _place(detail: str, names: tuple[str, ...]) -> int:
    """Return where an error first has one of some names, as a whole word; -1: nowhere."""
    found = [
        match.start()
        for name in names
        if (
            match := re.search(
                rf"(?<!\w){re.escape(name)}(?!\w)", detail, re.IGNORECASE
            )
        )
    ]
    return min(found, default=-1)
