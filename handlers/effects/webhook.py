"""Delivering to a webhook: a signed POST, repeated with the response's id until it is taken.

Headers and signature are those of Standard Webhooks (standardwebhooks.com): the receiver
drops repeats by `webhook-id`, and what is old by `webhook-timestamp`.
"""

import asyncio
import base64
import hashlib
import hmac
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from functools import partial
from http.client import HTTPException, HTTPMessage
from itertools import chain, repeat
from time import time
from typing import IO
from urllib.error import HTTPError
from urllib.request import HTTPRedirectHandler, Request, build_opener

from handlers.effects.delivery import spoken
from schemas.messages.asks import DeliveryAsked
from schemas.messages.results import Delivered, DeliveryFailed

WEBHOOK = "webhook"
"""The channel whose responses are posted."""

PAUSES_S = (0.25, 1.0, 4.0, 15.0)
"""Seconds between attempts; the last is repeated while the response is worth having."""
ATTEMPT_S = 10.0
"""How long one attempt may take."""
_POSTS_AT_ONCE = 8
"""How many attempts may be under way, with those that nobody waits for any more."""
_DETAIL_LIMIT = 500

_PASSING = (408, 425, 429)
"""Refusals that may be over in a moment, beside all errors of the server."""


class _NotTaken(Exception):
    """It was not taken; `is_final` if it will not be however often it is sent."""

    def __init__(self, detail: str, *, is_final: bool = False) -> None:
        super().__init__(detail[:_DETAIL_LIMIT])
        self.is_final = is_final


class Webhook:
    """A receiver of responses."""

    def __init__(
        self, url: str, secret: str, *, clock: Callable[[], float] = time
    ) -> None:
        """Post to `url`, signed with `secret`; `clock` gives the seconds since 1970."""
        self._url = url
        self._secret = key_of(secret)
        self._clock = clock
        # Its own: a receiver that never answers keeps a thread for longer than its response is
        # waited for, and would take the loop's few from embeddings and checkpoints.
        self._threads = ThreadPoolExecutor(_POSTS_AT_ONCE, "webhook")

    async def deliver(
        self, ask_id: str, asked: DeliveryAsked, *, within_s: float
    ) -> Delivered | DeliveryFailed:
        """Post a response until it is taken, refused, or `within_s` seconds have passed."""
        failed = partial(DeliveryFailed, ask_id=ask_id, channel=asked.channel)
        if within_s <= 0:
            detail = f"it was worth saying for {asked.ttl_s} s"
            return failed(reason="expired", detail=detail)
        last = "no attempt came to its end"
        loop = asyncio.get_running_loop()
        try:
            async with asyncio.timeout(within_s):
                for pause_s in chain(PAUSES_S, repeat(PAUSES_S[-1])):
                    try:
                        await loop.run_in_executor(self._threads, self._post, asked)
                        return Delivered(ask_id=ask_id, channel=asked.channel)
                    except _NotTaken as problem:
                        last = str(problem)
                        if problem.is_final:
                            return failed(reason="refused", detail=last)
                    await asyncio.sleep(pause_s)
        except TimeoutError:
            # An attempt that is still under way may be taken: nobody knows.
            return failed(reason="unknown", detail=last)
        raise AssertionError("unreachable")

    def _post(self, asked: DeliveryAsked) -> None:
        body, now = spoken(asked), str(int(self._clock()))
        request = Request(
            self._url,
            data=body,
            headers={
                "Content-Type": "application/json",
                "User-Agent": "echoic",
                "webhook-id": asked.decision_id,
                "webhook-timestamp": now,
                "webhook-signature": signature(
                    self._secret, asked.decision_id, now, body
                ),
                "Idempotency-Key": asked.decision_id,
            },
        )
        try:
            with _OPENER.open(request, timeout=ATTEMPT_S):
                pass
        except HTTPError as error:
            with error:
                is_passing = error.code >= 500 or error.code in _PASSING
                detail = f"{error.code} {error.reason}"
                raise _NotTaken(detail, is_final=not is_passing) from error
        except (OSError, HTTPException) as error:
            raise _NotTaken(f"{type(error).__name__}: {error}") from error


def key_of(secret: str) -> bytes:
    """Return the key of a secret; one that begins with `whsec_` goes on in base64.

    Raises:
        ValueError: it does not.
    """
    name, found, encoded = secret.partition("whsec_")
    if name or not found:
        return secret.encode()
    return base64.b64decode(encoded, validate=True)


def signature(secret: bytes, id_: str, timestamp: str, body: bytes) -> str:
    """Return the signature of a request: HMAC-SHA256 over id, time and body, in base64."""
    signed = b".".join((id_.encode(), timestamp.encode(), body))
    digest = hmac.new(secret, signed, hashlib.sha256).digest()
    return "v1," + base64.b64encode(digest).decode()


class _NoRedirects(HTTPRedirectHandler):
    """Follows no redirect: the words are for the address that the operator gave."""

    def redirect_request(
        self,
        req: Request,
        fp: IO[bytes],
        code: int,
        msg: str,
        headers: HTTPMessage,
        newurl: str,
    ) -> None:
        """Return no further request."""


_OPENER = build_opener(_NoRedirects)
