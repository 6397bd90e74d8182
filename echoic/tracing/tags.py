"""The attributes of a decision's spans: searchable tags and a one-line summary; pure.

What people wrote or were told is included only where `content` allows it.
"""

from echoic.tracing import conventions as names
from echoic.tracing.naming import NameOf, named_arm, nameless
from echoic.tracing.run import LIVE, Run
from echoic.tracing.spans import Scalar
from schemas.codec.envelope import Input
from schemas.messages.decisions import Completed, Decided, Dropped
from schemas.messages.feedback import FeedbackGiven
from schemas.messages.sensing import Sensed
from schemas.values import ids

_SUMMARY_MAX = 200
"""Characters of a summary at most."""

Tags = dict[str, Scalar]

# Upper limits. Jaeger finds equal values only, so numbers get a band to search by.
_SALIENCE_BANDS = ((0.34, "low"), (0.67, "mid"), (2.0, "high"))
_DELAY_BANDS = (
    (1.0, "under 1 ms"),
    (10.0, "under 10 ms"),
    (100.0, "under 100 ms"),
    (1_000.0, "under 1 s"),
    (float("inf"), "1 s or more"),
)


def decide_tags(
    agent: str,
    decision_id: str,
    decided: Decided,
    delay_ms: float,
    name_of: NameOf = nameless,
) -> Tags:
    """Return the attributes of `decide`: the searchable tags and a few more."""
    salience = decided.salience
    tags: Tags = {
        names.DECISION_ID: decision_id,
        names.EVENT_ID: decided.event_id,
        names.EVENT_TYPE: decided.type,
        names.EVENT_SOURCE: decided.source,
        names.AGENT_ID: agent,
        names.STRATEGY_ID: decided.strategy,
        # As text, like every tag that is searched for.
        names.STRATEGY_VERSION: str(decided.strategy_version),
        names.PACK_ID: decided.domain,
        names.DECISION_PATH: decided.path,
        names.DECISION_OUTCOME: _outcome(decided),
        names.DECISION_REASON: decided.silence or names.NONE,
        names.DECISION_PROBABILITY: decided.probability,
        names.ARM: decided.arm,
        names.SUMMARY: summary(decided, name_of),
        # Every value of a span has a button that copies it.
        names.EXPLAIN: f"echoic explain {decision_id}",
        names.SALIENCE_SCORE: salience.effective,
        names.SALIENCE_BAND: _band(salience.effective, _SALIENCE_BANDS),
        names.HEURISTIC_ID: decided.matched_heuristic_id or names.NONE,
        names.QUEUE_DELAY_MS: round(delay_ms, 3),
        names.QUEUE_DELAY_BAND: _band(delay_ms, _DELAY_BANDS),
    }
    for dimension in sorted(salience.dimensions):
        value = salience.dimensions[dimension]
        tags[names.salience_dimension(dimension)] = value
    return tags | _session(decided) | _heuristic(decided, name_of)


def run_tags(run: Run, decided: Decided) -> Tags:
    """Return which run it was; of a replay also where the recorded decision is."""
    tags: Tags = {
        names.RUN_ID: run.id,
        names.RUN_VARIANT: run.variant or decided.strategy,
    }
    if run.is_live:
        return tags
    recorded = LIVE.trace_id(decided.event_id)
    tags |= {names.REPLAY: True, names.ORIGINAL_TRACE_ID: recorded}
    url = run.compared_at(decided.event_id)
    return tags if url is None else tags | {names.COMPARE_URL: url}


def completed_tags(completed: Completed) -> Tags:
    """Return the tags that a completion changes."""
    said = f"spoke by {completed.path}, {completed.model}"
    if completed.path == "heuristic":
        said = f"spoke by heuristic, before {completed.model} had answered"
    tags: Tags = {
        names.DECISION_PATH: completed.path,
        names.DECISION_OUTCOME: "spoke",
        names.DECISION_REASON: names.NONE,
        names.SUMMARY: said[:_SUMMARY_MAX],
    }
    won = completed.winner
    return tags if won is None else tags | {names.WINNER: won}


def dropped_tags(dropped: Dropped) -> Tags:
    """Return the tags that change when a deferred decision ends in silence."""
    return {
        names.DECISION_OUTCOME: "dropped",
        names.DECISION_REASON: dropped.reason,
        names.SUMMARY: f"said nothing after all: {dropped.reason}",
    }


def undelivered_tags(reason: str) -> Tags:
    """Return the tags that change when none of a decision's words reached anybody."""
    return {
        names.DECISION_OUTCOME: "undelivered",
        names.DECISION_REASON: reason,
        names.SUMMARY: f"nobody was told: each delivery failed, {reason}",
    }


def summary(decided: Decided, name_of: NameOf) -> str:
    """Return a line without people's words: `crafter.thirst: silent, low_confidence`."""
    what = f"{decided.source}.{decided.type}: "
    # Gates are in order, so the first closed one decided.
    closed = next((gate for gate in decided.gates if not gate.passed), None)
    if decided.silence is None:
        what += (
            f"{_outcome(decided)} by {decided.path}, {named_arm(decided.arm, name_of)}"
        )
    else:
        what += f"silent, {decided.silence}"
        if closed is not None and closed.value is not None:
            what += f" ({closed.name} {closed.value:.3g}, needs {closed.threshold})"
    return what[:_SUMMARY_MAX]


def root_attributes(entry: Input, decided: Decided, *, content: bool) -> Tags:
    """Return the root's attributes, by OpenTelemetry's conventions for messaging."""
    record = entry.record
    # Of an event what its sensor published to, as the template has it; the log renames it.
    # What a timer made the mind decide meanwhile is not what came in.
    is_event = isinstance(entry.message, Sensed) and decided.event_id == entry.id
    published = f"in.{entry.agent}.{decided.source}.{decided.type}"
    attributes: Tags = {
        names.MESSAGING_SYSTEM: "nats",
        names.MESSAGING_OPERATION_NAME: "publish",
        names.MESSAGING_OPERATION_TYPE: "send",
        names.MESSAGING_DESTINATION_NAME: published if is_event else record.subject,
        names.MESSAGING_DESTINATION_TEMPLATE: (
            f"in.{{agent}}.{decided.source}.{decided.type}"
        ),
        names.MESSAGING_MESSAGE_ID: entry.id,
        names.MESSAGING_BODY_SIZE: len(record.body),
        names.STREAM_SEQUENCE: record.sequence,
        names.AGENT_ID: entry.agent,
    }
    if content and isinstance(entry.message, Sensed):
        attributes[names.EVENT_TEXT] = entry.message.text
    return attributes | person_tags(entry, content=content)


def person_tags(entry: Input, *, content: bool) -> Tags:
    """Return who says an event, or whom it is about: by a hash where traces leave the house."""
    event = entry.message
    person = event.person if isinstance(event, Sensed) else None
    if person is None:
        return {}
    if content:
        return {names.USER_ID: person}
    return {names.USER_HASH: ids.digest(f"{entry.agent}/{person}".encode())}


def feedback_tags(given: FeedbackGiven, *, content: bool) -> Tags:
    """Return a vote, by OpenTelemetry's conventions for evaluations of generative AI."""
    label = "thumbs_up" if given.signed >= 0 else "thumbs_down"
    tags: Tags = {
        names.GEN_AI_EVALUATION_NAME: "user_feedback",
        names.GEN_AI_EVALUATION_LABEL: label,
        names.GEN_AI_EVALUATION_VALUE: given.signed,
        names.FEEDBACK_ACTOR: given.actor,
        names.DECISION_ID: given.decision_id or names.NONE,
        names.HEURISTIC_ID: given.heuristic_id or names.NONE,
    }
    if content and given.comment:
        tags[names.GEN_AI_EVALUATION_EXPLANATION] = given.comment
    return tags


def _outcome(decided: Decided) -> str:
    if decided.silence == "error":
        return "error"
    if decided.silence is not None:
        return "silent"
    return "spoke" if decided.final else "deferred"


def _session(decided: Decided) -> Tags:
    return {} if decided.session_id is None else {names.SESSION_ID: decided.session_id}


def _heuristic(decided: Decided, name_of: NameOf) -> Tags:
    """Return the matched heuristic's name, confidence and margin to the threshold."""
    matched = decided.matched_heuristic_id
    if matched is None:
        return {}
    name = name_of(matched)
    tags: Tags = {} if name is None else {names.HEURISTIC_NAME: name}
    # An arm is a heuristic of one content, so its name ends in a content hash.
    arm = f"heuristic:{matched}@"
    for candidate in decided.candidates:
        if candidate.arm.startswith(arm) and candidate.confidence is not None:
            tags[names.HEURISTIC_CONFIDENCE] = candidate.confidence
            margin = _margin(decided, "confidence")
            return tags | ({} if margin is None else {names.HEURISTIC_MARGIN: margin})
    return tags


def _margin(decided: Decided, gate_name: str) -> float | None:
    return next((g.margin for g in decided.gates if g.name == gate_name), None)


def _band(value: float, bands: tuple[tuple[float, str], ...]) -> str:
    # The last band takes what exceeds its limit, too.
    return next(name for limit, name in bands if value < limit or limit == bands[-1][0])
