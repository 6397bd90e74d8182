"""Performing `ModelAsked`: call the model, and repeat what may still succeed in time."""

import asyncio
from collections.abc import Mapping
from datetime import UTC, datetime

from msgspec.structs import replace

from handlers.effects.completions import Completion, ModelError
from handlers.effects.models import Hear, Model, StreamingModel
from schemas.messages.asks import ModelAsked
from schemas.messages.results import ModelAnswered, ModelFailed, Repeated

PAUSES_S = (0.25, 1.0)
"""Seconds between attempts: two repetitions, all within the ask's one deadline."""

TEXT_LIMIT = 40_000
"""How much of an answer is kept, in characters: an input is at most 512 KiB, and a
character takes up to four bytes."""

_NAME_LIMIT = 200
_DETAIL_LIMIT = 2_000
_REPEATED_LIMIT = 500


async def ask_model(
    model: Model | None,
    ask_id: str,
    asked: ModelAsked,
    *,
    within_s: float,
    headers: Mapping[str, str],
    hear: Hear | None = None,
) -> ModelAnswered | ModelFailed:
    """Call a model until it answers, the deadline passes, or it fails for good.

    `hear` takes what it has written so far, if it can tell; repeated calls begin anew.

    With `within_s` (seconds left) at 0 or less no call is made. An answer that turns stale
    meanwhile is waited for and recorded all the same; the mind does not deliver it. Never
    raises but for a cancellation: every failure is a `ModelFailed`.
    """
    repeated: list[Repeated] = []
    try:
        if model is None:
            raise ModelError(
                "unavailable", "no model is configured: set ECHOIC_MODEL_NAME"
            )
        if within_s <= 0:
            raise ModelError(
                "timeout", "the answer would come too late: nobody was asked"
            )
        async with asyncio.timeout(asked.deadline_s) as deadline:
            # One deadline around all attempts: a race or a person waits for the sum of
            # them.
            started_at, completion = await _insist(
                model, asked, deadline, headers, hear, repeated=repeated
            )
        answered = _answered(ask_id, asked, completion, started_at)
        return replace(answered, repeated=tuple(repeated) or None)
    except TimeoutError:
        failure = ModelError("timeout", f"no answer within {asked.deadline_s} s")
    except ModelError as error:
        failure = error
    except Exception as error:  # noqa: BLE001  # asked again it would cost again
        detail = f"the answer cannot be read: {type(error).__name__}"
        failure = ModelError("no_response", detail)
    return ModelFailed(
        ask_id=ask_id,
        request_hash=asked.request_hash,
        reason=failure.reason,
        detail=_kept(str(failure), _DETAIL_LIMIT),
        repeated=tuple(repeated) or None,
    )


async def _insist(
    model: Model,
    asked: ModelAsked,
    deadline: asyncio.Timeout,
    headers: Mapping[str, str],
    hear: Hear | None,
    *,
    repeated: list[Repeated],
) -> tuple[datetime, Completion]:
    """Return when the call that succeeded began, and its answer; note those before it."""
    clock = asyncio.get_running_loop().time
    for least_s in (*PAUSES_S, None):
        left_s = (deadline.when() or clock()) - clock()
        at = datetime.now(UTC)
        try:
            if hear is None or not isinstance(model, StreamingModel):
                call = model.complete(asked, deadline_s=left_s, headers=headers)
            else:
                call = model.stream(asked, hear, deadline_s=left_s, headers=headers)
            return at, await call
        except ModelError as error:
            if least_s is None or not error.is_passing:
                raise
            pause_s = max(least_s, error.retry_after_s)
            # A pause that would outlast the deadline only hides the reason behind a
            # timeout.
            if pause_s >= (deadline.when() or clock()) - clock():
                raise
            detail = _kept(str(error), _REPEATED_LIMIT)
            repeated.append(
                Repeated(at=at, reason=error.reason, detail=detail, status=error.status)
            )
            await asyncio.sleep(pause_s)
    raise AssertionError("unreachable")


def _answered(
    ask_id: str, asked: ModelAsked, completion: Completion, started_at: datetime
) -> ModelAnswered:
    text = _kept(completion.text, TEXT_LIMIT)
    # Cut off by us it is no more whole than cut off by the server.
    is_cut = len(completion.text) > TEXT_LIMIT
    finish = "length" if is_cut else completion.finish_reason
    return ModelAnswered(
        ask_id=ask_id,
        request_hash=asked.request_hash,
        model=_kept(completion.model, _NAME_LIMIT),
        text=text,
        # Together they are no longer than a text may be.
        reasoning=_kept_or_none(completion.reasoning, TEXT_LIMIT - len(text)),
        finish_reason=_kept_or_none(finish, _NAME_LIMIT),
        tool_calls=_kept_or_none(completion.tool_calls, _DETAIL_LIMIT),
        refusal=_kept_or_none(completion.refusal, _DETAIL_LIMIT),
        input_tokens=completion.input_tokens,
        output_tokens=completion.output_tokens,
        estimated_tokens=_estimated(asked, completion),
        cost_usd=completion.cost_usd,
        response_id=_kept_or_none(completion.response_id, _NAME_LIMIT),
        server=_kept_or_none(completion.server, _NAME_LIMIT),
        started_at=started_at,
        latency_ms=completion.latency_ms,
        first_part_ms=completion.first_part_ms,
    )


def _estimated(asked: ModelAsked, completion: Completion) -> int | None:
    """Return an estimate of a call's tokens; None where they are counted."""
    if completion.input_tokens or completion.output_tokens:
        return None
    thought, called = completion.reasoning or "", completion.tool_calls or ""
    return asked.estimated_tokens(completion.text, thought, called)


def _kept_or_none(text: str | None, limit: int) -> str | None:
    return _kept(text, limit) or None if text else None


def _kept(text: str, limit: int) -> str:
    """Return what a server sent as text that the log can hold: cut, and valid UTF-8."""
    # JSON may carry lone surrogates, which Python reads and UTF-8 cannot write.
    return text[:limit].encode("utf-8", "replace").decode()
