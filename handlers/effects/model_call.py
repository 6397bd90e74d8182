"""Performing `ModelAsked`: the same request again while it may succeed in time."""

import asyncio
from collections.abc import Mapping
from datetime import UTC, datetime

from handlers.effects.models import Completion, Model, ModelError
from schemas.messages.asks import ModelAsked
from schemas.messages.results import ModelAnswered, ModelFailed

PAUSES_S = (0.25, 1.0)
"""Between attempts; so many repetitions, all inside the ask's one deadline."""

TEXT_LIMIT = 40_000
"""How much of an answer is kept, in characters: an input is at most 256 KiB."""

NAME_LIMIT = 200
DETAIL_LIMIT = 2_000


async def ask_model(
    model: Model | None,
    ask_id: str,
    asked: ModelAsked,
    *,
    within_s: float,
    headers: Mapping[str, str],
) -> ModelAnswered | ModelFailed:
    """Ask until there is an answer, the deadline or a failure that will not pass.

    Nobody is asked `within_s` seconds too late; an answer that turns stale under way is
    waited for and recorded all the same, and the mind does not say it.
    """
    started_at = datetime.now(UTC)
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
            completion = await _insist(model, asked, deadline, headers)
        return _answered(ask_id, asked, completion, started_at)
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
        detail=_kept(str(failure), DETAIL_LIMIT),
    )


async def _insist(
    model: Model,
    asked: ModelAsked,
    deadline: asyncio.Timeout,
    headers: Mapping[str, str],
) -> Completion:
    clock = asyncio.get_running_loop().time
    for pause_s in (*PAUSES_S, None):
        left_s = (deadline.when() or clock()) - clock()
        try:
            return await model.complete(asked, deadline_s=left_s, headers=headers)
        except ModelError as error:
            if pause_s is None or not error.is_passing or pause_s >= left_s:
                raise
            await asyncio.sleep(pause_s)
    raise AssertionError("unreachable")


def _answered(
    ask_id: str, asked: ModelAsked, completion: Completion, started_at: datetime
) -> ModelAnswered:
    return ModelAnswered(
        ask_id=ask_id,
        request_hash=asked.request_hash,
        model=_kept(completion.model, NAME_LIMIT),
        text=_kept(completion.text, TEXT_LIMIT),
        input_tokens=completion.input_tokens,
        output_tokens=completion.output_tokens,
        cost_usd=completion.cost_usd,
        started_at=started_at,
        latency_ms=completion.latency_ms,
    )


def _kept(text: str, limit: int) -> str:
    """Whatever a server sent, as text that the log can hold: cut, and valid UTF-8."""
    return text[:limit].encode("utf-8", "replace").decode()
