"""Calling a language model: one request gives one completion or one named failure.

litellm reaches every provider. It takes seconds to import and long for its first call, so
both happen in a thread when a model is first needed. It never fetches its price list.
"""

import asyncio
import os
from collections.abc import Awaitable, Callable, Mapping
from contextlib import suppress
from dataclasses import dataclass
from importlib import import_module
from types import ModuleType
from typing import Any, Literal, Protocol, runtime_checkable

from schemas.messages.asks import ModelAsked

_NOBODY = "http://127.0.0.1:0/v1"
"""Port 0, where nothing can listen: connecting fails at once."""

_CLIENT_PATIENCE_S = 86_400.0
"""The time-out of every request, far beyond any deadline; the deadline is kept here.

litellm makes a client, with connections of its own, for each time-out that it is given, and
keeps up to 200 of them for an hour.
"""

TOKENS_AT_MOST = 1_000_000_000
"""No prompt or answer has more; a larger number from a server is not a count."""

COST_AT_MOST_USD = 1_000_000.0

_UNREADABLE = ("Invalid response object", "LiteLLM: provider returned")
"""How litellm's messages begin for an answer that it cannot read. It raises these as server
errors, which would be repeated; the same answer would come, and cost, again."""

FailureReason = Literal["timeout", "no_response", "declined", "unavailable"]


class ModelError(Exception):
    """The model gave no usable answer; `reason` is what the log records."""

    def __init__(
        self, reason: FailureReason, detail: str, *, is_passing: bool = False
    ) -> None:
        super().__init__(detail)
        self.reason = reason
        self.is_passing = is_passing
        """Whether the same request may succeed a moment later."""


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


Hear = Callable[[str], Awaitable[None]]
"""Takes all that a model has written so far."""


class Model(Protocol):
    """Something that answers prompts."""

    async def prepare(self) -> None:
        """Get ready for the first prompt, if that takes time."""

    async def close(self) -> None:
        """Close what it keeps open in this event loop; it may be called again."""

    async def complete(
        self, asked: ModelAsked, *, deadline_s: float, headers: Mapping[str, str]
    ) -> Completion:
        """Answer one prompt; `headers` go out with the request.

        Raises:
            ModelError: there is no answer.
        """


@runtime_checkable
class StreamingModel(Model, Protocol):
    """One that can tell its words as they come."""

    async def stream(
        self,
        asked: ModelAsked,
        hear: Hear,
        *,
        deadline_s: float,
        headers: Mapping[str, str],
    ) -> Completion:
        """Answer one prompt; `hear` takes what is written so far, each time it grows.

        Raises:
            ModelError: there is no whole answer.
        """


class LiteLLM:
    """Any model that litellm can reach."""

    def __init__(self, api_base: str | None = None, api_key: str | None = None) -> None:
        """Reach models at `api_base`, if it is not their provider's own address."""
        self._api_base = api_base
        self._api_key = api_key
        self._importing: asyncio.Task[ModuleType] | None = None

    async def prepare(self) -> None:
        """Import litellm before it is needed."""
        await self._litellm()

    async def close(self) -> None:
        """Close the connections that litellm keeps open in this process."""
        if self._importing is not None:
            # Without litellm there is none, which each call has told.
            with suppress(ModelError):
                await close_connections(await self._litellm())

    async def complete(
        self, asked: ModelAsked, *, deadline_s: float, headers: Mapping[str, str]
    ) -> Completion:
        """Call the model once; repeating is up to the caller.

        Raises:
            ModelError: there is no answer.
        """
        litellm = await self._litellm()
        clock = asyncio.get_running_loop().time
        started = clock()
        try:
            async with asyncio.timeout(deadline_s):
                response = await litellm.acompletion(**self._request(asked, headers))
        except Exception as error:
            raise _failure(litellm, error) from error
        return _completion(litellm, response, asked, 1000 * (clock() - started))

    async def stream(
        self,
        asked: ModelAsked,
        hear: Hear,
        *,
        deadline_s: float,
        headers: Mapping[str, str],
    ) -> Completion:
        """Call the model once, and tell its words as they come.

        A server that does not know how is asked for the whole.

        Raises:
            ModelError: there is no whole answer.
        """
        litellm = await self._litellm()
        clock = asyncio.get_running_loop().time
        started = clock()
        try:
            async with asyncio.timeout(deadline_s):
                stream = await litellm.acompletion(
                    **self._request(asked, headers),
                    stream=True,
                    stream_options={"include_usage": True},
                )
                chunks = await _heard(stream, hear)
            response = litellm.stream_chunk_builder(chunks)
        except Exception as error:
            raise _failure(litellm, error) from error
        # litellm ends a stream as if it were whole when the server only closes it.
        ended = getattr(stream, "received_finish_reason", "") is not None
        if not ended and not any(map(_words_of, chunks)):
            left_s = deadline_s - (clock() - started)
            return await self.complete(asked, deadline_s=left_s, headers=headers)
        if not ended:
            raise ModelError("no_response", "the answer broke off", is_passing=True)
        return _completion(litellm, response, asked, 1000 * (clock() - started))

    def _request(self, asked: ModelAsked, headers: Mapping[str, str]) -> dict[str, Any]:
        return {
            "model": asked.model,
            "messages": [
                {"role": "system", "content": asked.system},
                {"role": "user", "content": asked.prompt},
            ],
            "temperature": asked.temperature,
            "max_tokens": asked.max_tokens,
            "timeout": _CLIENT_PATIENCE_S,
            "api_base": self._api_base,
            "api_key": self._api_key,
            "extra_headers": dict(headers),
            # Repeating is up to `model_call`: litellm does not know how much of the
            # deadline is left.
            "max_retries": 0,
        }

    async def _litellm(self) -> ModuleType:
        """Import litellm in a thread, once, and return the module.

        Raises:
            ModelError: it is not installed, or does not work here.
        """
        if self._importing is None:
            self._importing = asyncio.create_task(asyncio.to_thread(_import_litellm))
        try:
            # Shielded: a cancelled ask must not cancel the import that others wait for.
            return await asyncio.shield(self._importing)
        except ImportError as error:
            raise ModelError(
                "unavailable", "litellm is not installed: pip install 'echoic[model]'"
            ) from error
        # litellm raises far more than it declares; each becomes a recorded reason.
        except Exception as error:
            raise ModelError(
                "unavailable", f"litellm cannot be imported: {error!r}"
            ) from error


async def close_connections(litellm: ModuleType) -> None:
    """Close the connections that litellm keeps for further calls of the process."""
    await litellm.close_litellm_async_clients()
    # It would hand out the closed ones again.
    litellm.in_memory_llm_clients_cache.flush_cache()


def _import_litellm() -> ModuleType:
    # Set before the import, which otherwise fetches the price list from the network.
    os.environ["LITELLM_LOCAL_MODEL_COST_MAP"] = "True"
    litellm = import_module("litellm")
    settings: dict[str, Any] = {
        "telemetry": False,
        "suppress_debug_info": True,
        "disable_aiohttp_transport": True,  # its sessions outlive the event loop
    }
    for name, value in settings.items():
        setattr(litellm, name, value)
    # In a loop of its own: this is a thread, and the main loop must not wait.
    asyncio.run(_rehearse(litellm))
    return litellm


async def _rehearse(litellm: ModuleType) -> None:
    """Make the first call to an address where nobody answers.

    What litellm sets up in its first call would block the event loop for half a second.
    """
    # Failing is the purpose; how it fails differs by version.
    with suppress(Exception):
        await litellm.acompletion(
            model="openai/nobody",
            messages=[{"role": "user", "content": "Is anybody there?"}],
            timeout=1.0,
            api_base=_NOBODY,
            api_key="none",
            max_retries=0,
        )


async def _heard(stream: Any, hear: Hear) -> list[Any]:
    """Return all parts of a stream; tell the words so far at each."""
    chunks, written = [], ""
    try:
        async for chunk in stream:
            chunks.append(chunk)
            words = _words_of(chunk)
            written += words
            if words:
                await hear(written)
    finally:
        # A call that is given up must not keep the server writing.
        await stream.aclose()
    return chunks


def _words_of(chunk: Any) -> str:
    """Return the words in a part of a stream; many have none."""
    choices = getattr(chunk, "choices", None)
    words = choices[0].delta.content if choices else None
    return words if isinstance(words, str) else ""


def _failure(litellm: ModuleType, error: Exception) -> ModelError:
    detail = str(error)[:2_000]
    known = litellm.exceptions
    if isinstance(error, TimeoutError | known.Timeout):
        return ModelError("timeout", detail or "no answer by the deadline")
    if isinstance(error, known.ContentPolicyViolationError):
        return ModelError("declined", detail)
    # Tested by text, for litellm gives these no class of their own.
    if any(words in detail for words in _UNREADABLE):
        return malformed("litellm cannot read it")
    passing = (
        known.APIConnectionError,
        known.BadGatewayError,
        known.InternalServerError,
        known.RateLimitError,
        known.ServiceUnavailableError,
    )
    return ModelError("unavailable", detail, is_passing=isinstance(error, passing))


def _completion(
    litellm: ModuleType, response: Any, asked: ModelAsked, latency_ms: float
) -> Completion:
    choices = getattr(response, "choices", None)
    if not choices:
        raise malformed("it holds no choice")
    choice = choices[0]
    text = choice.message.content
    if choice.finish_reason == "content_filter":
        raise ModelError("declined", "the provider withheld the answer")
    if text is not None and not isinstance(text, str):
        raise malformed(f"its content is a {type(text).__name__}, no text")
    if text is None or not text.strip():
        raise ModelError("declined", "the model answered with nothing")
    usage = getattr(response, "usage", None)
    model = response.model
    return Completion(
        text=text,
        model=model if model and isinstance(model, str) else asked.model,
        latency_ms=round(latency_ms, 3),
        input_tokens=_count(usage, "prompt_tokens"),
        output_tokens=_count(usage, "completion_tokens"),
        cost_usd=_cost(litellm, response),
        fingerprint=getattr(response, "system_fingerprint", None),
    )


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
    if type(value) is not int or not 0 <= value <= TOKENS_AT_MOST:
        raise malformed(f"{name} is {str(value)[:50]}")
    return value


def _cost(litellm: ModuleType, response: Any) -> float | None:
    """Return what the answer cost; None for a model without a price."""
    try:
        cost = float(litellm.completion_cost(completion_response=response))
    except Exception:  # noqa: BLE001  # a missing price is no reason to lose an answer
        return None
    return cost if 0.0 <= cost <= COST_AT_MOST_USD else None
