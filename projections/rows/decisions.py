"""Rows of what was decided, asked for, answered and quarantined."""

from projections.changes import Change, Patch, Put, Row, json_text, storable_json
from projections.rows.folded import Folded
from schemas.asks import DeliveryAsked, ModelAsked
from schemas.decisions import Completed, Decided, Dropped
from schemas.envelope import Output
from schemas.notes import Quarantined
from schemas.results import Delivered, DeliveryFailed, ModelAnswered, ModelFailed
from schemas.sensing import Sensed


def decided(folded: Folded, output: Output, message: Decided) -> Put:
    """A decision as it was made at its occasion."""
    taken, record = folded.taken, output.record
    took_ns = record.time_ns - taken.record.time_ns
    row: Row = {
        "event_id": message.event_id,
        "session_id": message.session_id,
        "source": message.source,
        "type": message.type,
        "domain": message.domain,
        "event_text": None,
        "event_fields": None,
        "occurred_at": None,
        "event_at": taken.at,
        "decided_at": output.at,
        "recorded_at": record.recorded_at,
        "latency_ms": round(took_ns / 1_000_000, 3),
        "status": _status(message),
        "path": message.path,
        "arm": message.arm,
        "silence": message.silence,
        "text": message.text,
        "response_type": message.response_type,
        "urgency": message.urgency,
        "salience_effective": message.salience.effective,
        "matched_heuristic_id": message.matched_heuristic_id,
        "predicted_success": message.predicted_success,
        "prediction_confidence": message.prediction_confidence,
        "strategy": message.strategy,
        "completed_at": None,
        "completed_recorded_at": None,
        "completed_by": None,
        "model": None,
        "drop_reason": None,
        "drop_detail": None,
        "chain": message.chain,
        "sequence": taken.sequence,
        "output_sequence": record.sequence,
        "message": storable_json(record.body),
    }
    event = taken.message
    if isinstance(event, Sensed) and message.event_id == taken.id:
        row["event_text"] = event.text
        row["event_fields"] = json_text(event.fields) if event.fields else None
        row["occurred_at"] = event.occurred_at
    return Put("decisions", (folded.name, output.id), row)


def completed(folded: Folded, output: Output, message: Completed) -> Patch:
    """The answer that a decision waited for."""
    values: Row = {
        "status": "spoke",
        "path": message.path,
        "text": message.text,
        "response_type": message.response_type,
        "matched_heuristic_id": message.matched_heuristic_id,
        "predicted_success": message.predicted_success,
        "prediction_confidence": message.prediction_confidence,
        "completed_at": output.at,
        "completed_recorded_at": output.record.recorded_at,
        "completed_by": message.ask_id,
        "model": message.model,
    }
    return Patch("decisions", (folded.name, message.decision_id), values)


def dropped(folded: Folded, output: Output, message: Dropped) -> Patch:
    """A decision that waited and came to nothing."""
    values: Row = {
        "status": "dropped",
        "path": "fallback",
        "completed_at": output.at,
        "completed_recorded_at": output.record.recorded_at,
        "completed_by": message.ask_id,
        "drop_reason": message.reason,
        "drop_detail": message.detail or None,
    }
    return Patch("decisions", (folded.name, message.decision_id), values)


def asked(folded: Folded, output: Output, message: ModelAsked | DeliveryAsked) -> Put:
    """Something asked of an effect."""
    if isinstance(message, ModelAsked):
        kind, recipient, text = "model", message.model, message.prompt
    else:
        kind, recipient, text = "delivery", message.channel, message.text
    row: Row = {
        "kind": kind,
        "decision_id": message.decision_id,
        "recipient": recipient,
        "text": text,
        "priority": message.priority,
        "expires_at": message.expires_at,
        "asked_at": output.at,
        "answered_at": None,
        "answer": None,
        "detail": None,
        "input_tokens": None,
        "output_tokens": None,
        "cost_usd": None,
        "sequence": folded.taken.sequence,
    }
    return Put("asks", (folded.name, output.id), row)


def answered(folded: Folded) -> list[Change]:
    """The first answer to an ask."""
    result = folded.taken.message
    values: Row = {"answered_at": folded.now}
    match result:
        case ModelAnswered():
            values |= {
                "answer": "answered",
                "detail": None,
                "input_tokens": result.input_tokens,
                "output_tokens": result.output_tokens,
                "cost_usd": result.cost_usd,
            }
        case Delivered():
            values |= {"answer": "delivered", "detail": None}
        case ModelFailed() | DeliveryFailed():
            values |= {"answer": result.reason, "detail": result.detail or None}
        case _:
            return []
    return [Patch("asks", (folded.name, result.ask_id), values)]


def quarantined(folded: Folded, output: Output, message: Quarantined) -> Put:
    """An input that could not be read; the log keeps it at its sequence."""
    row: Row = {
        "reason": message.reason,
        "detail": message.detail,
        "subject": message.subject,
        "input_id": folded.taken.id,
        "received_at": folded.taken.at,
        "sequence": folded.taken.sequence,
    }
    return Put("quarantine", (folded.name, output.id), row)


def _status(message: Decided) -> str:
    if message.silence is not None:
        return "silent"
    return "spoke" if message.final else "pending"
