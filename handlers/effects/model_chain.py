"""Asking the models of a chain in order, until one sends what can be taken.

Each has its share of the one deadline: what is left, divided by the models that are left. What
a reply is worth is decided by the mind's own reader, so that the mind, and a replay, come to
the same; what was tried is recorded with the answer.
"""

import asyncio
from collections.abc import Mapping

from msgspec import structs
from msgspec.structs import replace

from handlers.effects.model_call import ask_model
from handlers.effects.models import Hear, Model
from handlers.mind.reply import reading
from handlers.mind.reply.reading import Unread
from schemas.messages.asks import ModelAsked
from schemas.messages.results import ModelAnswered, ModelFailed, TriedModel
from schemas.values.exact_math import total
from schemas.values.model_settings import links_of

_KEPT = 4_000
"""How much is kept of a reply that could not be taken, in characters."""

_Reply = ModelAnswered | ModelFailed


async def ask_models(
    model: Model | None,
    ask_id: str,
    asked: ModelAsked,
    *,
    within_s: float,
    headers: Mapping[str, str],
    hear: Hear | None = None,
) -> _Reply:
    """Ask the models that an ask names, as `ask_model` asks one; never raises.

    The last model's reply is returned as it is, also where it is a failure: the mind says so.
    What was heard of a model whose reply is not taken is begun anew by the next.
    """
    links = links_of(asked.model)
    if len(links) == 1 or within_s <= 0 or model is None:
        return await ask_model(
            model, ask_id, asked, within_s=within_s, headers=headers, hear=hear
        )
    clock = asyncio.get_running_loop().time
    ends, stale = clock() + asked.deadline_s, clock() + within_s
    tried: list[TriedModel] = []
    for number, link in enumerate(links):
        share_s = max(0.0, ends - clock()) / (len(links) - number)
        one = structs.replace(asked, model=link, deadline_s=share_s)
        begun = clock()
        reply = await ask_model(
            model, ask_id, one, within_s=within_s, headers=headers, hear=hear
        )
        fault = _fault(asked, reply)
        # Nobody is asked for what nobody can use any more.
        if fault is None or link == links[-1] or clock() >= stale:
            return _with_others(reply, link, tried)
        took_ms = round(1000 * (clock() - begun), 3)
        tried.append(_tried(reply, link, fault, took_ms))
    raise AssertionError("a chain has a last model")


def _fault(asked: ModelAsked, reply: _Reply) -> ModelFailed | Unread | None:
    """Return why a reply cannot be taken; None if it can, also if it says nothing."""
    acts = bool(asked.acts)
    content = reading.understood(reply, acts=acts)
    if isinstance(content, ModelFailed):
        return content
    # What else is asked has readers of its own, each with another form.
    read = reading.words(content, acts=acts) if asked.purpose == "answer" else None
    return read if isinstance(read, Unread) else None


def _tried(
    reply: _Reply, link: str, fault: ModelFailed | Unread, took_ms: float
) -> TriedModel:
    answered = reply if isinstance(reply, ModelAnswered) else None
    return TriedModel(
        model=link,
        reason=fault.reason,
        detail=fault.detail[:2_000],
        text=answered.text[:_KEPT] if answered is not None else None,
        # Here, since a failure is measured by nobody else; its pauses count too.
        latency_ms=took_ms,
        tokens=answered.tokens if answered is not None else 0,
        cost_usd=answered.cost_usd if answered is not None else None,
    )


def _with_others(reply: _Reply, link: str, tried: list[TriedModel]) -> _Reply:
    """Return a reply with its model's name, and what was tried before and cost."""
    update: dict[str, object] = {"link": link, "attempts": tuple(tried) or None}
    if isinstance(reply, ModelAnswered):
        spent = (*(each.cost_usd for each in tried), reply.cost_usd)
        costs = [each for each in spent if each is not None]
        update["cost_usd"] = total(costs) if costs else None
    return replace(reply, **update)
