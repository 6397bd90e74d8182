"""Health of what an instance depends on: asked over NATS, tried by the instance itself.

Only the running process has the right settings, keys and network, so it really calls the
model for one word, and sends an empty batch to the collector.
"""

import asyncio
import json
import os
from collections.abc import Awaitable, Callable
from dataclasses import asdict, dataclass
from datetime import UTC, datetime, timedelta
from typing import Any, Literal

from nats.aio.client import Client
from nats.aio.msg import Msg

from echoic.config.load import Settings
from echoic.tracing.collector import Collector, CollectorError, endpoint
from handlers.effects.completions import ModelError
from handlers.effects.models import Model
from schemas.messages.asks import ModelAsked
from schemas.values.model_settings import links_of

_SUBJECT = "svc._.health"
"""Only our own account may call it: each call costs a few tokens."""
_LONGEST_S = 30.0
"""Seconds that a model may take for one word."""

Works = Literal["works", "fails", "none", "unpriced"]
"""`unpriced`: it answers, and what that costs nobody knows, though there is a budget."""


@dataclass(frozen=True, slots=True)
class Tried:
    """The result of one trial."""

    works: Works
    found: str


async def serve(client: Client, settings: Settings, model: Model | None) -> None:
    """Answer requests for the instance's health until the connection ends."""
    trials: dict[str, Callable[[], Awaitable[Tried]]] = {
        "model": lambda: model_works(settings, model),
        "traces": lambda: asyncio.to_thread(_collector, settings),
    }

    async def answer(message: Msg) -> None:
        found = await asyncio.gather(*(trial() for trial in trials.values()))
        reply = {name: asdict(each) for name, each in zip(trials, found, strict=True)}
        await message.respond(json.dumps(reply).encode())

    await client.subscribe(_SUBJECT, cb=answer)


async def ask(client: Client) -> dict[str, Tried]:
    """Ask a running instance; return its results by what was tried.

    Raises:
        nats.errors.Error: it does not answer.
    """
    # Five seconds beyond the model's limit, so that the instance reports a slow model
    # itself.
    reply = await client.request(_SUBJECT, b"", timeout=_LONGEST_S + 5.0)
    fields: dict[str, Any] = json.loads(reply.data)
    return {name: Tried(**each) for name, each in fields.items()}


async def model_works(settings: Settings, model: Model | None) -> Tried:
    """Call the model once, for one word, and say what came of it."""
    if model is None or settings["model.name"] is None:
        return Tried("none", "none: only what was learnt answers")
    links = links_of(settings["model.name"])
    found = await asyncio.gather(*(_one_works(settings, model, each) for each in links))
    # Of a chain one that works is enough, but each that does not is named.
    works = {each.works for each in found}
    order: tuple[Works, ...] = ("unpriced", "works", "fails")
    return Tried(
        next(each for each in order if each in works),
        "; ".join(each.found for each in found),
    )


async def _one_works(settings: Settings, model: Model, name: str) -> Tried:
    deadline_s = min(_LONGEST_S, settings["model.deadline_s"])
    try:
        # The model has the deadline too, but a library may take longer to give up.
        async with asyncio.timeout(_LONGEST_S):
            said = await model.complete(
                _a_word(name, settings, deadline_s), deadline_s=deadline_s, headers={}
            )
    except (ModelError, TimeoutError) as error:
        why = str(error).splitlines()[0][:200] if str(error) else "no answer in time"
        return Tried("fails", f"{name} does not answer: {why}")
    if said.cost_usd is None and settings["budget.cost_per_day"]:
        why = "has no known price, so that budget.cost_per_day stops nothing"
        return Tried("unpriced", f"{name} {why}")
    found = f"{said.model} answers in {said.latency_ms:,.0f} ms"
    if settings["budget.tokens_per_day"] and not (
        said.input_tokens or said.output_tokens
    ):
        found += "; it counts no tokens: for budget.tokens_per_day they are estimated"
    return Tried("works", found)


def _a_word(name: str, settings: Settings, deadline_s: float) -> ModelAsked:
    return ModelAsked(
        decision_id="health",
        priority=0.0,
        expires_at=datetime.now(UTC) + timedelta(seconds=deadline_s),
        ttl_s=deadline_s,
        model=name,
        system="Answer with one word.",
        prompt="Say yes.",
        temperature=settings["model.temperature"],
        max_tokens=settings["model.max_tokens"],
        deadline_s=deadline_s,
        channel="health",
        response_type="observation",
        request_hash="health",
    )


def _collector(settings: Settings) -> Tried:
    if os.environ.get("OTEL_TRACES_EXPORTER", "otlp") == "none":
        return Tried("none", "switched off by OTEL_TRACES_EXPORTER")
    collector = Collector(endpoint(settings.trace_endpoint, os.environ))
    if not collector.answers():
        return Tried("none", f"no collector at {collector.name}: they go into a file")
    try:
        # A request without spans is valid OTLP, and leaves nothing behind.
        collector.send({}, [])
    except CollectorError as error:
        found = f"the collector at {collector.name} takes no batch ({error})"
        return Tried("fails", found)
    finally:
        collector.close()
    return Tried("works", f"the collector at {collector.name} receives")
