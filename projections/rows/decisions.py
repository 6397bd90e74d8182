"""Rows of decisions, of asks and their answers, and of the quarantine."""

from dataclasses import replace

from projections.rows.changes import Patch, Put, Row, json_text, storable_json
from projections.rows.folded_group import Folded
from schemas.codec.envelope import Output
from schemas.messages.asks import DeliveryAsked, ModelAsked, RecallAsked
from schemas.messages.decisions import Completed, Decided, Dropped
from schemas.messages.notes import Quarantined
from schemas.messages.results import (
    Delivered,
    DeliveryFailed,
    DeliveryInterrupted,
    ModelAnswered,
    ModelFailed,
    Recalled,
    RecallFailed,
)
from schemas.messages.sensing import Sensed
from schemas.values.reasons import NO_ROWS

MEMORY = "memory"
"""Who is asked for what is remembered."""

_BIGGEST = 2**63 - 1
"""The greatest BIGINT."""


def decided(folded: Folded, output: Output, message: Decided) -> Put:
    """Return the row of a decision at its occasion; most of it stays in its message."""
    input_, record = folded.input, output.record
    event = input_.message
    sensed = event if isinstance(event, Sensed) else None
    # A decision on a due timer comes with an input that is not its occasion.
    if message.event_id != input_.id:
        sensed = None
    row: Row = {
        "event_id": message.event_id,
        "session_id": message.session_id,
        "event_text": sensed.text if sensed else None,
        "event_fields": json_text(sensed.fields or None) if sensed else None,
        "occurred_at": sensed.occurred_at if sensed else None,
        "event_at": input_.at,
        "decided_at": output.at,
        "recorded_at": record.recorded_at,
        "status": _status(message),
        "message": storable_json(record.body),
        "completion": None,
        "completed_at": None,
        "completed_recorded_at": None,
        "sequence": input_.sequence,
        "output_sequence": record.sequence,
    }
    return Put("decisions", (folded.name, output.id), row)


def concluded(folded: Folded, output: Output, message: Completed | Dropped) -> Patch:
    """Return the completion of a pending decision."""
    values: Row = {
        "status": "spoke" if isinstance(message, Completed) else "dropped",
        "completion": storable_json(output.record.body),
        "completed_at": output.at,
        "completed_recorded_at": output.record.recorded_at,
    }
    return Patch("decisions", (folded.name, message.decision_id), values)


def asked(
    folded: Folded, output: Output, message: ModelAsked | DeliveryAsked | RecallAsked
) -> Put:
    """Return the row of an ask, open as yet."""
    if isinstance(message, ModelAsked):
        kind, recipient, text = "model", message.model, message.prompt
    elif isinstance(message, RecallAsked):
        kind, recipient, text = "recall", MEMORY, message.query
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
        "sequence": folded.input.sequence,
    }
    return Put("asks", (folded.name, output.id), row)


def answered(folded: Folded) -> list[Patch]:
    """Return the changes by the first answer to an ask; none for another input."""
    result = folded.input.message
    values: Row = {"answered_at": folded.now}
    match result:
        case ModelAnswered():
            values |= {
                "answer": "answered",
                "detail": None,
                "input_tokens": _bounded(result.input_tokens),
                "output_tokens": _bounded(result.output_tokens),
                "cost_usd": result.cost_usd,
            }
        case Delivered():
            values |= {"answer": "delivered", "detail": None}
        case Recalled():
            values |= {"answer": "recalled", "detail": "\n".join(result.texts) or None}
        case DeliveryInterrupted(reason=reason):
            values |= {"answer": "interrupted", "detail": reason}
        case ModelFailed() | DeliveryFailed() | RecallFailed():
            values |= {"answer": result.reason, "detail": result.detail or None}
        case _:
            return []
    return [Patch("asks", (folded.name, result.ask_id), values)]


def answered_late(folded: Folded) -> list[Patch]:
    """Return the changes by a late answer, whose tokens and cost count all the same."""
    return [
        replace(patch, values={**patch.values, "answer": "late"})
        for patch in answered(folded)
    ]


def quarantined(folded: Folded, output: Output, message: Quarantined) -> Put:
    """Return the row of an input that could not be read; the log keeps it."""
    return _kept_apart(
        folded, output.id, message.reason, message.detail, message.subject
    )


def without_rows(folded: Folded, fault: str) -> Put:
    """Return the row of an input whose other rows are missing; `fault` names the error."""
    subject = folded.input.record.subject
    return _kept_apart(folded, f"{folded.input.id}/rows", NO_ROWS, fault, subject)


def _kept_apart(
    folded: Folded, id_: str, reason: str, detail: str, subject: str
) -> Put:
    row: Row = {
        "reason": reason,
        "detail": detail,
        "subject": subject,
        "input_id": folded.input.id,
        "received_at": folded.input.at,
        "sequence": folded.input.sequence,
    }
    return Put("quarantine", (folded.name, id_), row)


def _bounded(count: int | None) -> int | None:
    """Return a count from a model's provider, limited to what the column holds."""
    return None if count is None else max(-_BIGGEST, min(count, _BIGGEST))


def _status(message: Decided) -> str:
    if message.silence is not None:
        return "silent"
    return "spoke" if message.final else "pending"
