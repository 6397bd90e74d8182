"""The steps of a trace, built from the messages that record them; pure.

Prompts and answers of models are included only where `content` allows it.
"""

from collections.abc import Iterable, Iterator
from dataclasses import replace
from itertools import islice

import orjson

from echoic.tracing import conventions as names
from echoic.tracing.spans import Link, Scalar, SpanEvent, Step
from echoic.tracing.tags import Tags
from handlers.mind.stages.salience import GATES
from handlers.worker.timing import Times
from schemas.codec.catalogue import OutputMessage
from schemas.codec.envelope import Input, Output
from schemas.messages.asks import DeliveryAsked, ModelAsked
from schemas.messages.decisions import Candidate, Decided, Gate
from schemas.messages.learning import (
    FeedbackApplied,
    FeedbackRefused,
    LifecycleChanged,
    OutcomeObserved,
)
from schemas.messages.results import (
    Delivered,
    DeliveryFailed,
    ModelAnswered,
    ModelFailed,
)
from schemas.ports.probe import Stage
from schemas.values.record import nanoseconds

EVENTS_MAX = 25
"""Events per span at most; Jaeger's page gets slow with more."""

Event = tuple[str, Tags]
"""An event of a span before it has a time: its name and attributes."""
Result = ModelAnswered | ModelFailed | Delivered | DeliveryFailed


def stages(decided: Decided, times: Times) -> tuple[Step, ...]:
    """Return the stages of a decision; one that was not timed has the time of the whole."""
    salience: Tags = {
        names.SALIENCE_SCORE: decided.salience.score,
        names.SALIENCE_SENSITIVITY: decided.salience.sensitivity,
    }
    own = [each for each in decided.gates if each.name not in GATES]
    before = [each for each in decided.gates if each.name in GATES]
    shown = [
        _stage("salience", times, salience),
        _stage("gate", times, {}, _gates(before)),
    ]
    # Every choice records its arms; what a gate stopped was neither matched nor chosen.
    if decided.candidates:
        chosen = (*_arms(decided.candidates), *_gates(own))
        shown.append(_stage("match", times, {}, _matched(decided.candidates)))
        shown.append(_stage("choose", times, {}, chosen))
    shown.append(_stage("messages", times, {}))
    return tuple(_placed(step, place) for place, step in enumerate(shown))


def _placed(step: Step, place: int) -> Step:
    """Return a stage that was not timed a microsecond behind the one before it.

    By that much Jaeger's page shows them in their order.
    """
    if names.STAGE_TIMED not in step.attributes:
        return step
    return replace(step, start_ns=min(step.start_ns + 1_000 * place, step.end_ns))


def _stage(
    stage: Stage, times: Times, attributes: Tags, found: Iterable[Event] = ()
) -> Step:
    """Return the step of a stage; what it found is known at its end."""
    period = times.of(stage)
    start_ns, end_ns = period or (times.started_ns, times.decided_ns)
    untimed: Tags = {names.STAGE_TIMED: False} if period is None else {}
    return Step(
        # A span is called what the mind calls the stage, see `conventions`.
        name=stage,
        start_ns=start_ns,
        end_ns=end_ns,
        attributes={**attributes, **untimed},
        events=tuple(
            SpanEvent(name, end_ns, tags) for name, tags in islice(found, EVENTS_MAX)
        ),
    )


def _gates(gates: Iterable[Gate]) -> Iterator[Event]:
    return ((names.GATE_EVENT, _gate(each)) for each in gates)


def _matched(candidates: Iterable[Candidate]) -> Iterator[Event]:
    """Yield the heuristics among the candidates, which alone are like the event."""
    for each in candidates:
        if each.similarity is not None:
            yield names.CANDIDATE_EVENT, _candidate(each)


def _arms(candidates: Iterable[Candidate]) -> Iterator[Event]:
    """Yield the arms that could be chosen, with their odds."""
    for each in candidates:
        if each.probability:
            tags: Tags = {names.ARM: each.arm, names.PROBABILITY: each.probability}
            yield names.ARM_EVENT, tags


def outcome_step(
    outcome: OutcomeObserved, links: tuple[Link, ...], times: Times
) -> Step:
    """Return the step of an outcome that this event showed of an earlier decision."""
    start_ns, end_ns = times.of("outcomes") or (times.started_ns, times.decided_ns)
    return Step(
        name=names.OUTCOME,
        start_ns=start_ns,
        end_ns=end_ns,
        attributes={
            names.DECISION_ID: outcome.decision_id,
            names.FIRE_ID: outcome.fire_id,
            names.HEURISTIC_ID: outcome.heuristic_id,
            names.FIRE_OUTCOME: outcome.outcome,
        },
        links=links,
    )


def answered_step(
    entry: Input,
    ask: ModelAsked | DeliveryAsked,
    result: Result,
    *,
    asked_ns: int,
    content: bool,
) -> Step | None:
    """Return the step that answered an ask; None if the result is of another kind."""
    if isinstance(ask, ModelAsked) and isinstance(result, ModelAnswered | ModelFailed):
        step = _chat(entry, ask, result, asked_ns)
        return _with_content(step, ask, result) if content else step
    if isinstance(ask, DeliveryAsked) and isinstance(
        result, Delivered | DeliveryFailed
    ):
        return _publish(entry, ask, result, asked_ns)
    return None


def learned_steps(
    outputs: Iterable[Output], start_ns: int, end_ns: int
) -> Iterator[Step]:
    """Yield a step for each message in which a vote was applied or refused."""
    for output in outputs:
        attributes = _learned(output.message)
        if attributes:
            yield Step(
                name=names.LEARN,
                start_ns=start_ns,
                end_ns=end_ns,
                attributes=attributes,
            )


def _learned(said: OutputMessage) -> Tags:
    if isinstance(said, FeedbackApplied):
        credited = said.heuristic_id or names.NONE
        return {names.FEEDBACK_APPLIED: True, names.HEURISTIC_ID: credited}
    if isinstance(said, FeedbackRefused):
        return {names.FEEDBACK_APPLIED: False, names.REASON: said.reason}
    if isinstance(said, LifecycleChanged):
        return {
            names.HEURISTIC_ID: said.heuristic_id,
            names.LIFECYCLE: said.after,
            names.CONFIDENCE: said.confidence,
        }
    return {}


def _chat(
    entry: Input, ask: ModelAsked, result: ModelAnswered | ModelFailed, asked_ns: int
) -> Step:
    start_ns, end_ns = _times(entry, result, asked_ns)
    # LiteLLM's names: `provider/model`, and a name without provider is OpenAI's.
    provider, slash, model = ask.model.partition("/")
    model = model or provider
    attributes: Tags = {
        names.GEN_AI_OPERATION_NAME: "chat",
        names.GEN_AI_PROVIDER_NAME: provider if slash else "openai",
        names.GEN_AI_REQUEST_MODEL: model,
        names.GEN_AI_AGENT_ID: entry.agent,
        names.GEN_AI_REQUEST_TEMPERATURE: ask.temperature,
        names.GEN_AI_REQUEST_MAX_TOKENS: ask.max_tokens,
    }
    error = None
    if isinstance(result, ModelFailed):
        error = f"{result.reason}: {result.detail}".removesuffix(": ")
        attributes[names.ERROR_TYPE] = result.reason
    else:
        attributes[names.GEN_AI_RESPONSE_MODEL] = result.model
        if result.input_tokens is not None:
            attributes[names.GEN_AI_USAGE_INPUT_TOKENS] = result.input_tokens
        if result.output_tokens is not None:
            attributes[names.GEN_AI_USAGE_OUTPUT_TOKENS] = result.output_tokens
    return Step(
        name=names.chat_name(model),
        kind="client",
        start_ns=start_ns,
        end_ns=end_ns,
        attributes=attributes,
        error=error,
    )


def _with_content(
    step: Step, ask: ModelAsked, result: ModelAnswered | ModelFailed
) -> Step:
    said: Tags = {
        names.GEN_AI_SYSTEM_INSTRUCTIONS: _parts(ask.system),
        names.GEN_AI_INPUT_MESSAGES: _message("user", ask.prompt),
    }
    if isinstance(result, ModelAnswered):
        said[names.GEN_AI_OUTPUT_MESSAGES] = _message("assistant", result.text)
    return replace(step, attributes={**step.attributes, **said})


def _parts(text: str) -> str:
    # OpenTelemetry's GenAI conventions put messages into attributes as JSON text.
    return orjson.dumps([{"type": "text", "content": text}]).decode()


def _message(role: str, text: str) -> str:
    parts = [{"type": "text", "content": text}]
    return orjson.dumps([{"role": role, "parts": parts}]).decode()


def _times(entry: Input, result: Result, asked_ns: int) -> tuple[int, int]:
    """Return start and end in ns: as measured by the caller, else from ask to answer.

    Results of other programs and of older logs need not have been measured.
    """
    if result.started_at is None or result.latency_ms is None:
        return asked_ns, entry.record.time_ns
    start_ns = nanoseconds(result.started_at)
    return start_ns, start_ns + int(result.latency_ms * 1e6)


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


def _candidate(candidate: Candidate) -> Tags:
    return _known(
        {
            names.ARM: candidate.arm,
            names.ELIGIBLE: candidate.eligible,
            names.REASON: candidate.reason,
            names.SIMILARITY: candidate.similarity,
            names.CONFIDENCE: candidate.confidence,
        }
    )


def _gate(gate: Gate) -> Tags:
    return _known(
        {
            names.GATE_NAME: gate.name,
            names.GATE_PASSED: gate.passed,
            names.GATE_VALUE: gate.value,
            names.GATE_THRESHOLD: gate.threshold,
            names.GATE_MARGIN: gate.margin,
        }
    )


def _known(attributes: dict[str, Scalar | None]) -> Tags:
    # OTLP has no null: an attribute without a value is left out.
    return {name: value for name, value in attributes.items() if value is not None}
