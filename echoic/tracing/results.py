"""The steps of a trace that others made for it, model calls and deliveries; pure.

Prompts and answers of models are included only where `content` allows it.
"""

from collections.abc import Iterable

import orjson
from msgspec.structs import replace

from echoic.tracing import conventions as names
from echoic.tracing.spans import Scalar, SpanEvent, Step
from echoic.tracing.tags import Tags
from schemas.codec.envelope import Input
from schemas.messages.asks import DeliveryAsked, ModelAsked, RecallAsked
from schemas.messages.results import (
    Delivered,
    DeliveryFailed,
    ModelAnswered,
    ModelFailed,
    Recalled,
    RecallFailed,
    Repeated,
    TriedModel,
)
from schemas.values import ids
from schemas.values.model_settings import links_of
from schemas.values.record import nanoseconds

_FAULT_MAX = 200
"""How much of why a model's answer could not be taken is on a span, in characters."""

Asked = ModelAsked | DeliveryAsked | RecallAsked
Result = (
    ModelAnswered | ModelFailed | Delivered | DeliveryFailed | Recalled | RecallFailed
)


def answered_step(
    entry: Input, ask: Asked, result: Result, *, asked_ns: int, content: bool
) -> Step | None:
    """Return the step that answered an ask; None if the result is of another kind."""
    step = _step(entry, ask, result, asked_ns=asked_ns, content=content)
    return step and replace(step, id=ids.ask_span_id(result.ask_id))


def undelivered(steps: Iterable[Step]) -> str | None:
    """Return why the last delivery failed; None if one arrived, or there was none."""
    told = [each for each in steps if names.MESSAGING_SYSTEM in each.attributes]
    # Of an `unknown` one nobody knows whether it arrived.
    if not told or any(each.error in (None, "unknown") for each in told):
        return None
    return told[-1].error


def _step(
    entry: Input, ask: Asked, result: Result, *, asked_ns: int, content: bool
) -> Step | None:
    if isinstance(ask, ModelAsked) and isinstance(result, ModelAnswered | ModelFailed):
        step = _chat(entry, ask, result, asked_ns)
        return _with_content(step, ask, result) if content else step
    if isinstance(ask, DeliveryAsked) and isinstance(
        result, Delivered | DeliveryFailed
    ):
        return _publish(entry, ask, result, asked_ns)
    if isinstance(ask, RecallAsked) and isinstance(result, Recalled | RecallFailed):
        return _search(entry, result, asked_ns)
    return None


def _chat(
    entry: Input, ask: ModelAsked, result: ModelAnswered | ModelFailed, asked_ns: int
) -> Step:
    start_ns, end_ns = _times(entry, result, asked_ns)
    # LiteLLM's names: `provider/model`, and a name without provider is OpenAI's.
    asked = result.link or links_of(ask.model)[0]
    provider, slash, model = asked.partition("/")
    model = model or provider
    attributes: Tags = {
        names.GEN_AI_OPERATION_NAME: "chat",
        names.GEN_AI_PROVIDER_NAME: provider if slash else "openai",
        names.GEN_AI_REQUEST_MODEL: model,
        names.GEN_AI_AGENT_ID: entry.agent,
        names.GEN_AI_REQUEST_TEMPERATURE: ask.temperature,
        names.GEN_AI_REQUEST_MAX_TOKENS: ask.max_tokens,
    }
    error, first = None, list[SpanEvent]()
    if isinstance(result, ModelFailed):
        error = f"{result.reason}: {result.detail}".removesuffix(": ")
        attributes[names.ERROR_TYPE] = result.reason
    else:
        attributes |= _answer(result)
        if result.first_part_ms is not None:
            first_ns = start_ns + round(1e6 * result.first_part_ms)
            first.append(SpanEvent(names.FIRST_PART, first_ns))
    tried: list[SpanEvent] = []
    # What was measured is the last model's call; the span begins with the first one's.
    attempts = result.attempts or ()
    for number in range(len(attempts), 0, -1):
        each = attempts[number - 1]
        start_ns -= round(1e6 * (each.latency_ms or 0.0))
        tried.append(_tried(each, number, start_ns))
    repeats = [
        _repeated(each, number) for number, each in enumerate(result.repeated or (), 1)
    ]
    start_ns = min([start_ns, *(each.at_ns for each in repeats)])
    return Step(
        name=names.chat_name(model),
        kind="client",
        start_ns=start_ns,
        end_ns=end_ns,
        attributes=attributes,
        events=(*reversed(tried), *repeats, *first),
        error=error,
    )


def _answer(result: ModelAnswered) -> Tags:
    """Return the attributes of an answer, as far as they are known."""
    host, _, port = (result.server or "").rpartition(":")
    first_ms = result.first_part_ms
    told: dict[str, Scalar | None] = {
        names.GEN_AI_RESPONSE_MODEL: result.model,
        names.GEN_AI_RESPONSE_ID: result.response_id,
        names.SERVER_ADDRESS: host.strip("[]") or None,
        names.SERVER_PORT: int(port) if port.isdecimal() else None,
        names.GEN_AI_REQUEST_STREAM: first_ms is not None or None,
        names.GEN_AI_RESPONSE_FIRST_CHUNK: first_ms and first_ms / 1000,
        names.GEN_AI_RESPONSE_FINISH_REASONS: result.finish_reason
        and (result.finish_reason,),
        names.GEN_AI_USAGE_INPUT_TOKENS: result.input_tokens,
        names.GEN_AI_USAGE_OUTPUT_TOKENS: result.output_tokens,
        names.MODEL_COST: result.cost_usd,
    }
    return {name: value for name, value in told.items() if value is not None}


def _tried(tried: TriedModel, number: int, at_ns: int) -> SpanEvent:
    """Return the event of a chain's model whose answer could not be taken."""
    told: Tags = {
        names.GEN_AI_REQUEST_MODEL: tried.model,
        names.MODEL_ATTEMPT: number,
        names.ERROR_TYPE: tried.reason,
        names.MODEL_FAULT: tried.detail[:_FAULT_MAX],
    }
    return SpanEvent(names.MODEL_TRIED, at_ns, told)


def _repeated(each: Repeated, number: int) -> SpanEvent:
    """Return the event of a call that failed, after which the model was called again."""
    told: Tags = {
        names.MODEL_ATTEMPT: number,
        names.ERROR_TYPE: each.reason,
        names.MODEL_FAULT: each.detail[:_FAULT_MAX],
    }
    if each.status is not None:
        told[names.HTTP_STATUS_CODE] = each.status
    return SpanEvent(names.CALL_FAILED, nanoseconds(each.at), told)


def _with_content(
    step: Step, ask: ModelAsked, result: ModelAnswered | ModelFailed
) -> Step:
    said: Tags = {
        names.GEN_AI_SYSTEM_INSTRUCTIONS: _parts(ask.system),
        names.GEN_AI_INPUT_MESSAGES: _messages(
            *((each.role, each.text) for each in ask.turns or ()), ("user", ask.prompt)
        ),
    }
    if isinstance(result, ModelAnswered):
        said[names.GEN_AI_OUTPUT_MESSAGES] = _messages(("assistant", result.text))
    return replace(step, attributes={**step.attributes, **said})


def _parts(text: str) -> str:
    # OpenTelemetry's GenAI conventions put messages into attributes as JSON text.
    return orjson.dumps([{"type": "text", "content": text}]).decode()


def _messages(*turns: tuple[str, str]) -> str:
    told = [
        {"role": role, "parts": [{"type": "text", "content": text}]}
        for role, text in turns
    ]
    return orjson.dumps(told).decode()


def _times(entry: Input, result: Result, asked_ns: int) -> tuple[int, int]:
    """Return start and end in ns: as measured by the caller, else from ask to answer.

    Results of other programs and of older logs need not have been measured.
    """
    if result.started_at is None or result.latency_ms is None:
        return asked_ns, entry.record.time_ns
    start_ns = nanoseconds(result.started_at)
    return start_ns, start_ns + round(result.latency_ms * 1e6)


def _search(entry: Input, result: Recalled | RecallFailed, asked_ns: int) -> Step:
    start_ns, end_ns = _times(entry, result, asked_ns)
    attributes: Tags = {names.DB_SYSTEM_NAME: "postgresql"}
    error = None
    if isinstance(result, RecallFailed):
        error = f"{result.reason}: {result.detail}".removesuffix(": ")
        attributes[names.ERROR_TYPE] = result.reason
    return Step(
        name=names.RECALL,
        kind="client",
        start_ns=start_ns,
        end_ns=end_ns,
        attributes=attributes,
        error=error,
    )


def _publish(
    entry: Input, ask: DeliveryAsked, result: Delivered | DeliveryFailed, asked_ns: int
) -> Step:
    start_ns, end_ns = _times(entry, result, asked_ns)
    attributes: Tags = {
        names.MESSAGING_SYSTEM: "nats",
        names.MESSAGING_OPERATION_NAME: "publish",
        names.MESSAGING_OPERATION_TYPE: "send",
        names.MESSAGING_DESTINATION_NAME: f"out.{entry.agent}.{ask.channel}",
        # Low cardinality, to group by; the name above it holds the agent.
        names.MESSAGING_DESTINATION_TEMPLATE: f"out.{{agent}}.{ask.channel}",
        names.DECISION_ID: ask.decision_id,
    }
    error = None
    if isinstance(result, DeliveryFailed):
        error = result.reason
        attributes[names.ERROR_TYPE] = result.reason
    return Step(
        name=names.publish_name(ask.channel),
        kind="producer",
        start_ns=start_ns,
        end_ns=end_ns,
        attributes=attributes,
        error=error,
    )
