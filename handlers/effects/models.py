"""Calling a language model: one request gives one completion or one named failure.

litellm reaches every provider. It takes seconds to import and long for its first call, so
both happen in a thread when a model is first needed. It never fetches its price list.
"""

import asyncio
import os
from collections.abc import Awaitable, Callable, Mapping
from contextlib import suppress
from dataclasses import replace
from email.utils import parsedate_to_datetime
from importlib import import_module
from types import ModuleType
from typing import Any, Protocol, runtime_checkable
from urllib.parse import urlsplit

from handlers.effects import completions
from handlers.effects.completions import Completion, ModelError
from handlers.effects.model_request import NOTHING_KNOWN, Habits, parameters
from schemas.messages.asks import ModelAsked

_NOBODY = "http://127.0.0.1:0/v1"
"""Port 0, where nothing can listen: connecting fails at once."""

_CLIENT_PATIENCE_S = 86_400.0
"""The time-out of every request, far beyond any deadline; the deadline is kept here.

litellm makes a client, with connections of its own, for each time-out that it is given, and
keeps up to 200 of them for an hour.
"""

_IN_PARTS = {"stream": True, "stream_options": {"include_usage": True}}
"""What asks for an answer in parts."""

_REFUSED = (400, 422)
"""Statuses of a request that a server does not take."""
_TEMPLATE = "Jinja Exception"
"""What llama.cpp's error 500 says where a model's template does not take a request."""

_UNREADABLE = ("Invalid response object", "LiteLLM: provider returned")
"""How litellm's messages begin for an answer that it cannot read. It raises these as server
errors, which would be repeated; the same answer would come, and cost, again."""

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

    def __init__(
        self,
        api_base: str | None = None,
        api_key: str | None = None,
        price: completions.Price | None = None,
    ) -> None:
        """Reach models at `api_base`, if it is not their provider's own address."""
        self._price = price
        self._api_base = api_base
        self._api_key = api_key
        self._importing: asyncio.Task[ModuleType] | None = None
        self._habits: dict[str, Habits] = {}
        """What was learnt of each model that was asked."""

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
                response = await self._called(litellm, asked, headers)
        except Exception as error:
            raise _failure(litellm, error) from error
        return self._completed(litellm, response, asked, 1000 * (clock() - started))

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
        if "stream" in self._known(asked).left_out:
            return await self.complete(asked, deadline_s=deadline_s, headers=headers)
        clock = asyncio.get_running_loop().time
        started = clock()
        try:
            async with asyncio.timeout(deadline_s):
                stream = await self._called(litellm, asked, headers, **_IN_PARTS)
                is_whole = not hasattr(stream, "__aiter__")
                chunks, first = ([], None) if is_whole else await _heard(stream, hear)
            response = stream if is_whole else litellm.stream_chunk_builder(chunks)
        except Exception as error:
            raise _failure(litellm, error) from error
        # litellm ends a stream as if it were whole when the server only closes it.
        ended = getattr(stream, "received_finish_reason", "") is not None
        if not ended and not any(map(_words_of, chunks)):
            left_s = deadline_s - (clock() - started)
            return await self.complete(asked, deadline_s=left_s, headers=headers)
        if not ended:
            raise ModelError("no_response", "the answer broke off", is_passing=True)
        whole = self._completed(litellm, response, asked, 1000 * (clock() - started))
        first_ms = None if first is None else round(1000 * (first - started), 3)
        return replace(whole, first_part_ms=first_ms)

    def _completed(
        self, litellm: ModuleType, response: Any, asked: ModelAsked, latency_ms: float
    ) -> Completion:
        """Return the completion, and note whether the model is seen to reason."""
        completion = completions.read(litellm, response, asked, latency_ms)
        completion = replace(completion, server=_server(self._api_base))
        if self._price is not None:
            completion = completions.priced(completion, self._price)
        heard = self._known(asked).heard(completion.text, completion.reasoning)
        self._habits[asked.model] = heard
        return completion

    async def _called(
        self,
        litellm: ModuleType,
        asked: ModelAsked,
        headers: Mapping[str, str],
        **parts: object,
    ) -> Any:
        """Call the model, and again without what it refuses to take, as long as it does."""
        while True:
            habits = self._known(asked)
            sent = parameters(litellm, asked, habits)
            if "stream" not in habits.left_out:
                sent |= {
                    each: parts[each] for each in parts if each not in habits.left_out
                }
            try:
                return await litellm.acompletion(**sent, **self._place(asked, headers))
            except Exception as error:
                known = _without(litellm, error, sent, habits)
                # Each time one part less is sent, so that this ends.
                if known is None:
                    raise
                self._habits[asked.model] = known

    def _known(self, asked: ModelAsked) -> Habits:
        return self._habits.get(asked.model, NOTHING_KNOWN)

    def _place(self, asked: ModelAsked, headers: Mapping[str, str]) -> dict[str, Any]:
        """Return where a call goes, and how."""
        return {
            "model": asked.model,
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


def _server(api_base: str | None) -> str | None:
    """Return the host and port of an address: of the rest some may be a secret."""
    place = urlsplit(api_base or "")
    host = place.netloc.rpartition("@")[2]
    usual = "" if place.port else ":80" if place.scheme == "http" else ":443"
    return host + usual if host else None


async def _heard(stream: Any, hear: Hear) -> tuple[list[Any], float | None]:
    """Return all parts of a stream, and when the first with something written came, in
    seconds of the loop's clock; tell the words so far at each."""
    chunks, written, first = [], "", None
    try:
        async for chunk in stream:
            chunks.append(chunk)
            words = _words_of(chunk)
            if first is None and (words or completions.thought(_delta(chunk))):
                first = asyncio.get_running_loop().time()
            written += words
            if words:
                await hear(written)
    finally:
        # A call that is given up must not keep the server writing.
        await stream.aclose()
    return chunks, first


def _words_of(chunk: Any) -> str:
    """Return the words in a part of a stream; many have none."""
    words = getattr(_delta(chunk), "content", None)
    return words if isinstance(words, str) else ""


def _delta(chunk: Any) -> object:
    choices = getattr(chunk, "choices", None)
    return choices[0].delta if choices else None


def _without(
    litellm: ModuleType, error: Exception, sent: Mapping[str, Any], habits: Habits
) -> Habits | None:
    """Return how to call after an error that refuses part of a request; None: it does not."""
    known = litellm.exceptions
    # litellm takes some servers' refusals for a lost connection.
    kinds = (known.BadRequestError, known.APIConnectionError)
    is_refusal = (
        isinstance(error, kinds)
        or getattr(error, "status_code", 0) in _REFUSED
        or _TEMPLATE in str(error)
    )
    if not is_refusal or isinstance(error, known.ContentPolicyViolationError):
        return None
    return habits.without(str(error), sent)


def _retry_after_s(error: Exception) -> float:
    """Return how many seconds a server wants to be left alone; 0 if it does not say."""
    headers: Mapping[str, Any]
    headers = getattr(error, "litellm_response_headers", None) or {}
    for name, scale in (("retry-after-ms", 0.001), ("retry-after", 1.0)):
        with suppress(KeyError, ValueError):
            return max(0.0, scale * float(headers[name]))
    with suppress(KeyError, TypeError, ValueError):
        # A date is read by the server's own clock: those of two machines differ.
        until, now = (
            parsedate_to_datetime(headers[at]) for at in ("retry-after", "date")
        )
        return max(0.0, (until - now).total_seconds())
    return 0.0


def _failure(litellm: ModuleType, error: Exception) -> ModelError:
    detail = str(error)[:2_000]
    known = litellm.exceptions
    if isinstance(error, TimeoutError | known.Timeout):
        return ModelError("timeout", detail or "no answer by the deadline")
    if isinstance(error, known.ContentPolicyViolationError):
        return ModelError("declined", detail)
    # Tested by text, for litellm gives these no class of their own.
    if any(words in detail for words in _UNREADABLE):
        return completions.malformed("litellm cannot read it")
    passing = (
        known.APIConnectionError,
        known.BadGatewayError,
        known.InternalServerError,
        known.RateLimitError,
        known.ServiceUnavailableError,
    )
    return ModelError(
        "unavailable",
        detail,
        is_passing=isinstance(error, passing),
        retry_after_s=_retry_after_s(error),
        # Of a connection that failed litellm says 500, though nobody answered.
        status=None if isinstance(error, known.APIConnectionError) else _status(error),
    )


def _status(error: Exception) -> int | None:
    status = getattr(error, "status_code", None)
    return status if isinstance(status, int) else None
