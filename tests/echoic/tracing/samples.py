"""Answered inputs for the tests of tracing: one of each kind that leaves a trace."""

from collections.abc import Iterable, Mapping
from typing import Any, get_args

from echoic.tracing.observe import Answered
from handlers.worker.timing import Times
from schemas.codec.catalogue import OutputMessage
from schemas.codec.decode import read_input
from schemas.codec.envelope import Mark, Output
from schemas.messages.asks import DeliveryAsked, ModelAsked
from schemas.messages.decisions import (
    Candidate,
    Completed,
    Decided,
    Dropped,
    Gate,
    Salience,
)
from schemas.messages.learning import FeedbackApplied, OutcomeObserved
from schemas.messages.notes import Handled
from schemas.ports.probe import Stage
from schemas.values import subjects
from schemas.values.base import Message
from schemas.values.record import Record, moment

EVENT_ID = "01993c5e-7a10-7abc-8def-0123456789ab"
TRACE_ID = "01993c5e7a107abc8def0123456789ab"
START_NS = 1_795_000_000_000_000_000
MS = 1_000_000
HEURISTIC = "b3f0a1c2-0000-5000-8000-000000000001"
STAGES: tuple[Stage, ...] = get_args(Stage)
ARM = f"heuristic:{HEURISTIC}@abc123"


def times(start_ns: int = START_NS) -> Times:
    """Picked up after 1 ms, decided in 1, written in 2; a stage takes a tenth of one."""
    started_ns = start_ns + 2 * MS
    return Times(
        picked_up_ns=start_ns + MS,
        started_ns=started_ns,
        decided_ns=start_ns + 3 * MS,
        writing_ns=start_ns + 4 * MS,
        committed_ns=start_ns + 5 * MS,
        entered={
            stage: started_ns + number * MS // 10
            for number, stage in enumerate(STAGES, 1)
        },
    )


def answered(
    subject: str,
    body: bytes,
    outputs: Iterable[tuple[str, OutputMessage]],
    *,
    id_: str = EVENT_ID,
    headers: Mapping[str, str] | None = None,
    start_ns: int = START_NS,
) -> Answered:
    """An input as it stands in the log, with its group."""
    record = Record(subject, {"ce-id": id_, **(headers or {})}, body, 7, start_ns)
    entry = read_input(record)
    named = list(outputs)
    group = tuple(
        Output(
            record=Record(subject, {}, message.to_bytes(), 8 + index, start_ns),
            partition=entry.partition,
            agent=entry.agent,
            id=output_id,
            at=entry.at,
            mark=Mark(entry.sequence, entry.id, index, len(named)),
            message=message,
        )
        for index, (output_id, message) in enumerate(named)
    )
    return Answered(entry, group, times(start_ns))


def sensed(*outputs: tuple[str, OutputMessage], **changes: Any) -> Answered:
    """A thirsty player, answered with `outputs`."""
    partition = subjects.partition_of("mia")
    subject = subjects.input_subject(partition, "mia", "sensor", "crafter.thirst")
    body = b'{"text": "Water is 2 of 9", "fields": {"drink": 2}}'
    return answered(subject, body, outputs, **changes)


def result(message: Message, *outputs: tuple[str, OutputMessage], ms: int) -> Answered:
    """The answer to an ask, `ms` after the event."""
    partition = subjects.partition_of("mia")
    subject = subjects.input_subject(partition, "mia", "result", message.token)
    return answered(
        subject,
        message.to_bytes(),
        outputs or (("handled", Handled(reason="recorded")),),
        id_=f"result-{ms}",
        start_ns=START_NS + ms * MS,
    )


def feedback(decision_id: str, *, comment: str = "too late") -> Answered:
    """A thumb down that counted."""
    partition = subjects.partition_of("mia")
    subject = subjects.input_subject(partition, "mia", "feedback", "feedback_given")
    body = (
        f'{{"decision_id": "{decision_id}", "rating": "negative",'
        f' "comment": "{comment}"}}'
    ).encode()
    applied = FeedbackApplied(
        decision_id=decision_id, heuristic_id=HEURISTIC, actor="user", value=-1.0
    )
    return answered(
        subject,
        body,
        [("applied", applied)],
        id_="vote-1",
        start_ns=START_NS + 900_000 * MS,
    )


def decided(**changes: Any) -> Decided:
    """A decision by a heuristic, unless changed."""
    values: dict[str, Any] = {
        "event_id": EVENT_ID,
        "source": "crafter",
        "type": "thirst",
        "domain": "survival",
        "path": "heuristic",
        "arm": ARM,
        "probability": 1.0,
        "greedy_arm": ARM,
        "final": True,
        "text": "Drink something.",
        "matched_heuristic_id": HEURISTIC,
        "strategy": "heuristic_first",
        "strategy_version": 1,
        "config_hash": "c0ffee",
        "candidates": (
            Candidate(arm=ARM, probability=1.0, similarity=0.91, confidence=0.8),
            Candidate(arm="silent", probability=0.0),
        ),
        "gates": (
            Gate(name="relevance", passed=True, value=0.7, threshold=0.5, margin=0.2),
            Gate(name="confidence", passed=True, value=0.8, threshold=0.7, margin=0.1),
        ),
        "salience": Salience(
            dimensions={"threat": 0.6, "novelty": 0.9},
            score=0.7,
            sensitivity=1.0,
            effective=0.7,
        ),
        "chain": "00",
        "session_id": "game-1",
    }
    return Decided(**(values | changes))


def silent(reason: str = "below_relevance", **changes: Any) -> Decided:
    """A decision to say nothing, because the first gate closed."""
    gate = Gate(name="relevance", passed=False, value=0.2, threshold=0.5, margin=-0.3)
    values: dict[str, Any] = {
        "path": "none",
        "arm": "silent",
        "greedy_arm": "silent",
        "silence": reason,
        "text": None,
        "matched_heuristic_id": None,
        "gates": (gate,),
        "candidates": (),
    }
    return decided(**(values | changes))


def deferred() -> Decided:
    """A decision that waits for a model."""
    arm = "llm:ollama/tiny@t@s"
    return decided(path="llm", arm=arm, greedy_arm=arm, final=False, text=None)


def model_asked(decision_id: str) -> ModelAsked:
    """The question that goes with `deferred`."""
    return ModelAsked(
        decision_id=decision_id,
        priority=0.7,
        expires_at=moment(START_NS + 30_000 * MS),
        ttl_s=30.0,
        channel="console",
        response_type="suggestion",
        model="ollama/tiny",
        system="You are Mia.",
        prompt="Water is 2 of 9",
        temperature=0.2,
        max_tokens=100,
        deadline_s=30.0,
        request_hash="beef",
    )


def delivery_asked(decision_id: str) -> DeliveryAsked:
    """The words of `decided`, to be said on the console."""
    return DeliveryAsked(
        decision_id=decision_id,
        priority=0.7,
        expires_at=moment(START_NS + 30_000 * MS),
        ttl_s=30.0,
        event_id=EVENT_ID,
        channel="console",
        text="Drink something.",
        response_type="suggestion",
        urgency=0.5,
        path="heuristic",
    )


def completed(decision_id: str) -> Completed:
    """The model's answer, taken."""
    return Completed(
        decision_id=decision_id,
        ask_id="ask-model",
        path="llm",
        text="There is a lake to the west.",
        response_type="suggestion",
        model="ollama/tiny",
        predicted_success=0.7,
        prediction_confidence=0.6,
    )


def dropped(decision_id: str) -> Dropped:
    """The model's answer came too late."""
    return Dropped(decision_id=decision_id, ask_id="ask-model", reason="stale")


def outcome(decision_id: str) -> OutcomeObserved:
    """An earlier decision turned out well."""
    return OutcomeObserved(
        fire_id="fire-1",
        decision_id=decision_id,
        heuristic_id=HEURISTIC,
        content_hash="abc123",
        outcome="success",
        by="pattern",
        event_id=EVENT_ID,
    )


def ask_of(record: Record) -> str:
    """The ask that a result answers."""
    answered_ = read_input(record).message
    return str(getattr(answered_, "ask_id", ""))
