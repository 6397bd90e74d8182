"""Every name that a trace uses, of spans, attributes, events and links.

Echoic's own begin with `echoic.`; the others are OpenTelemetry's semantic conventions, and
a test compares them with its package. A span's name never holds an id, because Jaeger
compares traces by names.
"""

import re
from typing import Final

# Spans.
PROCESS: Final = "process"
"""All that was done of an event or a timer, but for what its source and the tables did."""
QUEUE: Final = "queue"
"""From the broker's time of the event to the moment the mind began with it."""
DECIDE: Final = "decide"
"""The mind's function; all searchable tags are on this span."""
_SALIENCE: Final = "salience"
_GATE: Final = "gate"
"""Whether the event matters enough; its events are the gates before the strategy."""
_MATCH: Final = "match"
"""Which heuristics are like the event; its events are the candidates."""
_CHOOSE: Final = "choose"
"""The strategy's odds and the draw; its events are the arms and the strategy's gates."""
_MESSAGES: Final = "messages"
"""The decision's messages are made, folded and encoded."""
COMMIT: Final = "commit"
"""From the decision to the acknowledged write of its group."""
WAIT: Final = "wait"
RECALL: Final = "recall"
"""From the ask's write to the beginning of what was asked: a model or a channel is busy."""
PROJECTION: Final = "projection"
"""From the decision's place in the log to its rows in the read models."""
OUTCOME: Final = "outcome"
"""The event showed how an earlier decision turned out."""
COMPLETE: Final = "complete"
"""From the broker's time of what ended a decision, such as a model's answer, to the write of
its end; a trace of its own if the decision's has gone out already."""
FEEDBACK: Final = "feedback"
LEARN: Final = "learn"


def chat_name(model: str) -> str:
    """Return the name of the span of a model call."""
    return f"chat {model}"


def publish_name(channel: str) -> str:
    """Return the name of the span of a delivery."""
    return f"publish out.{channel}"


SPAN_NAMES: Final = re.compile(
    r"process|queue|decide|salience|gate|match|choose|messages|commit|wait|projection|outcome"
    r"|complete|feedback|learn|recall|chat \S+|publish out\.[A-Za-z0-9_-]+"
)
"""The names that a span of the engine may have; a test matches every span against it. The
root of a decision's trace is its event: the service is its source, the name its type."""

# Events of spans, and what a link points to.
CANDIDATE_EVENT: Final = "candidate"
ARM_EVENT: Final = "arm"
PICKED_UP_EVENT: Final = "picked up"
WRITE_EVENT: Final = "write begun"
MODEL_TRIED: Final = "model tried"
"""A model of a chain was asked, and its answer could not be taken."""
CALL_FAILED: Final = "call failed"
"""One call of a model failed for a moment; it began then, and another followed."""
FIRST_PART: Final = "first part"
"""The first words or thoughts of an answer that comes in parts."""
MODEL_FAULT: Final = "echoic.model.fault"
MODEL_ATTEMPT: Final = "echoic.model.attempt"
"""Which attempt it was: 1 is the first."""
MODEL_COST: Final = "echoic.model.cost_usd"
SAMPLING_RATIO: Final = "echoic.sampling.ratio"
"""The share of such decisions that is traced: each stands for one by it."""
LINK: Final = "echoic.link"
LINK_SENSOR: Final = "sensor"
LINK_DECISION: Final = "decision"
LINK_ORIGINAL: Final = "original"
"""From a replayed decision to the recorded one."""

# Attributes of ours.
DECISION_ID: Final = "echoic.decision.id"
DECISION_PATH: Final = "echoic.decision.path"
DECISION_OUTCOME: Final = "echoic.decision.outcome"
DECISION_REASON: Final = "echoic.decision.reason"
DECISION_PROBABILITY: Final = "echoic.decision.probability"
EVENT_ID: Final = "echoic.event.id"
EVENT_TYPE: Final = "echoic.event.type"
EVENT_SOURCE: Final = "echoic.event.source"
EVENT_TEXT: Final = "echoic.event.text"
AGENT_ID: Final = "echoic.agent.id"
USER_ID: Final = "user.id"
USER_HASH: Final = "user.hash"
RUN_ID: Final = "echoic.run.id"
RUN_VARIANT: Final = "echoic.run.variant"
REPLAY: Final = "echoic.replay"
"""True: made again in a replay; its times are those of the recorded decision."""
ORIGINAL_TRACE_ID: Final = "echoic.original.trace_id"
COMPARE_URL: Final = "echoic.compare.url"
"""Where Jaeger shows a replayed decision beside the recorded one."""
STRATEGY_ID: Final = "echoic.strategy.id"
STRATEGY_VERSION: Final = "echoic.strategy.version"
PACK_ID: Final = "echoic.pack.id"
PACK_VERSION: Final = "echoic.pack.version"
SUMMARY: Final = "echoic.summary"
EXPLAIN: Final = "echoic.explain"
"""The command that explains the decision from the log."""
REPLY_TEXT: Final = "echoic.reply.text"
SALIENCE_SCORE: Final = "echoic.salience"
SALIENCE_BAND: Final = "echoic.salience.band"
SALIENCE_SENSITIVITY: Final = "echoic.salience.sensitivity"
HEURISTIC_ID: Final = "echoic.heuristic.id"
HEURISTIC_NAME: Final = "echoic.heuristic.name"
"""Left out where it is not known: the log alone does not say it."""
HEURISTIC_CONFIDENCE: Final = "echoic.heuristic.confidence"
HEURISTIC_MARGIN: Final = "echoic.heuristic.margin"
QUEUE_DELAY_MS: Final = "echoic.queue.delay_ms"
QUEUE_DELAY_BAND: Final = "echoic.queue.delay_ms.band"
STREAM_SEQUENCE: Final = "echoic.nats.stream_seq"
STAGE_TIMED: Final = "echoic.stage.timed"
"""False: the stage was not timed; the span has the time of the whole. Else left out."""
ARM: Final = "echoic.arm"
WINNER: Final = "echoic.race.winner"
PROBABILITY: Final = "echoic.probability"
SIMILARITY: Final = "echoic.similarity"
CONFIDENCE: Final = "echoic.confidence"
ELIGIBLE: Final = "echoic.eligible"
LEFT_OUT: Final = "echoic.left_out"
"""What a stage found beyond its events, counted: `3 when, 1 eligible`."""
REASON: Final = "echoic.reason"
GATE_NAME: Final = "echoic.gate.name"
GATE_PASSED: Final = "echoic.gate.passed"
GATE_VALUE: Final = "echoic.gate.value"
GATE_THRESHOLD: Final = "echoic.gate.threshold"
GATE_MARGIN: Final = "echoic.gate.margin"
FIRE_ID: Final = "echoic.fire.id"
FIRE_HEURISTIC_ID: Final = "echoic.fire.heuristic.id"
"""Whose outcome it is. Not the tag of `decide`: on disk Jaeger searches for tags in a trace,
and would find the decision that came later by the heuristic of the earlier one."""
FIRE_OUTCOME: Final = "echoic.fire.outcome"
FEEDBACK_ACTOR: Final = "echoic.feedback.actor"
FEEDBACK_APPLIED: Final = "echoic.feedback.applied"
LIFECYCLE: Final = "echoic.heuristic.lifecycle"


def salience_dimension(dimension: str) -> str:
    """Return the attribute of one dimension of salience."""
    return f"{SALIENCE_SCORE}.{dimension}"


NONE: Final = "none"
"""The value of a searchable tag that has none: Jaeger cannot search for its absence."""

# Attributes of OpenTelemetry.
MESSAGING_SYSTEM: Final = "messaging.system"
MESSAGING_OPERATION_NAME: Final = "messaging.operation.name"
MESSAGING_OPERATION_TYPE: Final = "messaging.operation.type"
MESSAGING_DESTINATION_NAME: Final = "messaging.destination.name"
MESSAGING_DESTINATION_TEMPLATE: Final = "messaging.destination.template"
MESSAGING_MESSAGE_ID: Final = "messaging.message.id"
MESSAGING_BODY_SIZE: Final = "messaging.message.body.size"
OF_THE_MESSAGE: Final = frozenset(
    {
        MESSAGING_SYSTEM,
        MESSAGING_DESTINATION_NAME,
        MESSAGING_DESTINATION_TEMPLATE,
        MESSAGING_MESSAGE_ID,
        AGENT_ID,
    }
)
"""What the spans of who sent a message and of who processes it both say of it."""
GEN_AI_OPERATION_NAME: Final = "gen_ai.operation.name"
GEN_AI_PROVIDER_NAME: Final = "gen_ai.provider.name"
GEN_AI_REQUEST_MODEL: Final = "gen_ai.request.model"
GEN_AI_AGENT_ID: Final = "gen_ai.agent.id"
GEN_AI_REQUEST_TEMPERATURE: Final = "gen_ai.request.temperature"
GEN_AI_REQUEST_MAX_TOKENS: Final = "gen_ai.request.max_tokens"
GEN_AI_REQUEST_STREAM: Final = "gen_ai.request.stream"
GEN_AI_RESPONSE_MODEL: Final = "gen_ai.response.model"
GEN_AI_RESPONSE_ID: Final = "gen_ai.response.id"
GEN_AI_RESPONSE_FIRST_CHUNK: Final = "gen_ai.response.time_to_first_chunk"
"""In seconds."""
GEN_AI_RESPONSE_FINISH_REASONS: Final = "gen_ai.response.finish_reasons"
GEN_AI_CONVERSATION_ID: Final = "gen_ai.conversation.id"
GEN_AI_USAGE_INPUT_TOKENS: Final = "gen_ai.usage.input_tokens"
GEN_AI_USAGE_OUTPUT_TOKENS: Final = "gen_ai.usage.output_tokens"
GEN_AI_SYSTEM_INSTRUCTIONS: Final = "gen_ai.system_instructions"
GEN_AI_INPUT_MESSAGES: Final = "gen_ai.input.messages"
GEN_AI_OUTPUT_MESSAGES: Final = "gen_ai.output.messages"
GEN_AI_EVALUATION_NAME: Final = "gen_ai.evaluation.name"
GEN_AI_EVALUATION_LABEL: Final = "gen_ai.evaluation.score.label"
GEN_AI_EVALUATION_VALUE: Final = "gen_ai.evaluation.score.value"
GEN_AI_EVALUATION_EXPLANATION: Final = "gen_ai.evaluation.explanation"
DB_SYSTEM_NAME: Final = "db.system.name"
SERVER_ADDRESS: Final = "server.address"
SERVER_PORT: Final = "server.port"
HTTP_STATUS_CODE: Final = "http.response.status_code"
ERROR_TYPE: Final = "error.type"
SESSION_ID: Final = "session.id"
SERVICE_NAME: Final = "service.name"
SERVICE_VERSION: Final = "service.version"
SERVICE_INSTANCE_ID: Final = "service.instance.id"
TELEMETRY_SDK_NAME: Final = "telemetry.sdk.name"
TELEMETRY_SDK_LANGUAGE: Final = "telemetry.sdk.language"
TELEMETRY_SDK_VERSION: Final = "telemetry.sdk.version"
HOST_NAME: Final = "host.name"
HOST_ID: Final = "host.id"
DEPLOYMENT_ENVIRONMENT_NAME: Final = "deployment.environment.name"

ENGINE: Final = "echoic"
"""The service's name: one for each role of the program, never one for each agent."""
PROJECTOR: Final = "echoic-projector"
SCHEMA_URL: Final = "https://opentelemetry.io/schemas/1.44.0"
