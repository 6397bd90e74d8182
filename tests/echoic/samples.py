"""Groups as the log holds them, for tests of what is told about decisions."""

from collections.abc import Sequence
from datetime import UTC, datetime, timedelta
from typing import Any, Literal
from uuid import UUID

from schemas.codec.catalogue import OutputMessage
from schemas.codec.decode import read_input, read_output
from schemas.codec.encode import write_output
from schemas.codec.envelope import Input, Mark, Output
from schemas.messages.arms import SILENT, heuristic_arm, race_arm
from schemas.messages.asks import ModelAsked
from schemas.messages.decisions import Candidate, Completed, Decided, Gate, Salience
from schemas.messages.sensing import Sensed
from schemas.values.record import Record, nanoseconds
from schemas.values.subjects import partition_of

EPOCH = UUID("0193a5b0-1c2d-4e3f-8a4b-5c6d7e8f9012")
AT = datetime(2026, 11, 21, 12, 0, 3, tzinfo=UTC)
AGENT = "ada"
WARN = "8b0c3f0e-1111-5222-8333-944455556666"
NAMES = {WARN: "creeper-warn"}


def sensed(sequence: int = 1, text: str = "Creeper 6 m behind you") -> Input:
    """An event of the game, as the log holds it."""
    message = Sensed(text=text)
    return read_input(
        Record(
            subject=f"ev.{partition_of(AGENT)}.in.{AGENT}.sensor.game.creeper",
            headers={"ce-id": f"event-{sequence}"},
            body=message.to_bytes(),
            sequence=sequence,
            time_ns=nanoseconds(AT),
        )
    )


def group(
    taken: Input, messages: Sequence[OutputMessage], late_s: float = 0.011
) -> list[Output]:
    """The group that answers an input, stored a little later."""
    outputs = []
    for index, message in enumerate(messages):
        wire = write_output(
            message,
            agent=AGENT,
            partition=taken.partition,
            epoch=EPOCH,
            mark=Mark(taken.sequence, taken.id, index, len(messages)),
            at=AT,
        )
        time_ns = nanoseconds(AT + timedelta(seconds=late_s))
        place = taken.sequence + 1 + index
        outputs.append(
            read_output(Record(wire.subject, wire.headers, wire.body, place, time_ns))
        )
    return outputs


def gate(name: str, value: float, threshold: float) -> Gate:
    """A gate as the mind records it."""
    return Gate(
        name=name,
        passed=value >= threshold,
        value=value,
        threshold=threshold,
        margin=round(value - threshold, 6),
    )


def weighed(similarity: float, confidence: float, probability: float) -> Candidate:
    """The heuristic `creeper-warn` as a candidate."""
    return Candidate(
        arm=heuristic_arm(WARN, "cafe"),
        probability=probability,
        similarity=similarity,
        confidence=confidence,
    )


def decided(**changes: Any) -> Decided:
    """A decision to speak by `creeper-warn`, with changes."""
    fields: dict[str, Any] = {
        "event_id": "event-1",
        "source": "game",
        "type": "creeper",
        "domain": "survival",
        "path": "heuristic",
        "arm": heuristic_arm(WARN, "cafe"),
        "probability": 1.0,
        "greedy_arm": heuristic_arm(WARN, "cafe"),
        "final": True,
        "text": "Behind you!",
        "response_type": "alert",
        "matched_heuristic_id": WARN,
        "predicted_success": 0.82,
        "prediction_confidence": 0.82,
        "strategy": "heuristic_first",
        "strategy_version": 1,
        "config_hash": "cc",
        "candidates": (weighed(0.9, 0.82, 1.0), Candidate(arm=SILENT, probability=0.0)),
        "gates": (
            Gate(name="intent", passed=True, note="actionable"),
            gate("relevance", 0.9, 0.5),
            gate("habituation", 0.72, 0.5),
            gate("confidence", 0.82, 0.7),
        ),
        "salience": Salience(
            dimensions={"threat": 0.7, "novelty": 0.4},
            score=0.9,
            sensitivity=0.8,
            effective=0.72,
        ),
        "chain": "",
    }
    return Decided(**(fields | changes))


def model_asked(purpose: str = "answer", decision_id: str = "d") -> ModelAsked:
    """A request to the model about the event."""
    return ModelAsked(
        decision_id=decision_id,
        purpose=purpose,  # type: ignore[arg-type]  # a parameter of tests
        priority=0.9,
        expires_at=AT,
        ttl_s=30.0,
        model="m",
        system="You are a companion.",
        prompt="Event: Creeper 6 m behind you",
        temperature=0.7,
        max_tokens=300,
        deadline_s=30.0,
        channel="say",
        response_type="suggestion",
        request_hash="cafe",
    )


def rejected(**changes: Any) -> Decided:
    """A decision to stay silent: `creeper-warn` is not trusted, and there is no model."""
    return decided(
        **{
            "path": "rejected",
            "arm": SILENT,
            "greedy_arm": SILENT,
            "text": None,
            "response_type": None,
            "matched_heuristic_id": None,
            "predicted_success": 0.0,
            "prediction_confidence": 0.0,
            "silence": "llm_unavailable",
            "candidates": (
                weighed(0.9, 0.62, 0.0),
                Candidate(arm=SILENT, probability=1.0),
            ),
            "gates": (
                Gate(name="intent", passed=True, note="actionable"),
                gate("relevance", 0.9, 0.5),
                gate("habituation", 0.72, 0.5),
                gate("confidence", 0.62, 0.7),
            ),
        }
        | changes
    )


def habituated() -> Decided:
    """A decision to stay silent on an event that came too often."""
    return decided(
        path="none",
        arm=SILENT,
        greedy_arm=SILENT,
        text=None,
        response_type=None,
        matched_heuristic_id=None,
        silence="habituated",
        candidates=(),
        gates=(
            Gate(name="intent", passed=True, note="actionable"),
            gate("relevance", 0.9, 0.5),
            gate("habituation", 0.2, 0.5),
        ),
        salience=Salience(
            dimensions={"threat": 0.7, "novelty": 0.4},
            score=0.9,
            sensitivity=0.222222,
            effective=0.2,
        ),
    )


LLM = "llm:ollama/tiny@aaaa@bbbb"


def racing() -> Decided:
    """A decision to let the model and `creeper-warn` race."""
    heuristic = heuristic_arm(WARN, "cafe")
    race = race_arm(LLM, heuristic, 400)
    return decided(
        path="llm",
        arm=race,
        greedy_arm=race,
        final=False,
        text=None,
        response_type=None,
        predicted_success=0.0,
        prediction_confidence=0.0,
        strategy="hybrid",
        candidates=(
            weighed(0.9, 0.82, 0.0),
            Candidate(arm=LLM, probability=0.0),
            Candidate(arm=race, probability=1.0),
            Candidate(arm=SILENT, probability=0.0),
        ),
    )


def race_won(by: Literal["heuristic", "llm"], decision_id: str) -> Completed:
    """The end of that race."""
    is_model = by == "llm"
    return Completed(
        decision_id=decision_id,
        ask_id="ask",
        path=by,
        text="Turn around." if is_model else "Behind you!",
        response_type="alert",
        model="ollama/tiny",
        predicted_success=0.6 if is_model else 0.82,
        prediction_confidence=0.5 if is_model else 0.82,
        matched_heuristic_id=WARN,
        winner=LLM if is_model else heuristic_arm(WARN, "cafe"),
    )
