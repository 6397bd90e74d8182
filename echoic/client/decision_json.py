"""Decisions as JSON: as fields for programs, and as replies to `process`."""

from replay.recording.decisions import DecisionRecord
from schemas.messages.decisions import Completed
from schemas.messages.results import Recalled
from schemas.values.ids import trace_id


def as_fields(record: DecisionRecord) -> dict[str, object]:
    """Return a decision as fields for JSON; `v` grows when a field changes its meaning."""
    decided = record.decided
    return {
        "v": 1,
        "id": record.id,
        "event_id": decided.event_id,
        "agent": record.agent,
        "at": record.at.isoformat(),
        "source": decided.source,
        "type": decided.type,
        "text": record.text,
        "salience": decided.salience.effective,
        "path": record.path,
        "final": record.is_final,
        "said": record.said,
        "silence": record.silence,
        "undelivered": record.undelivered,
        "asks_first": None if record.is_final else record.asks_first,
        "heuristic_id": record.heuristic_id,
        "winner": record.winner,
        "predicted_success": record.answer.predicted_success,
        "prediction_confidence": record.answer.prediction_confidence,
        "latency_ms": round(record.latency_ms, 3),
        "session_id": decided.session_id,
        # Derived from the event's id, so it is known even if nothing was traced.
        "trace_id": trace_of(record),
    }


def trace_of(record: DecisionRecord) -> str:
    """Return the id of a decision's trace: its event's, else its own."""
    # What a timer made the mind decide has no event that it alone belongs to.
    return trace_id(record.decided.event_id if record.event else record.id)


def trace_url(ui: str, record: DecisionRecord) -> str:
    """Return the address of a decision's trace in Jaeger's pages."""
    return f"{ui.rstrip('/')}/trace/{trace_of(record)}"


def as_response(record: DecisionRecord) -> dict[str, object]:
    """Return a decision in the shape of a `process` reply."""
    decided, ending = record.decided, record.ending
    matched = ending.matched_heuristic_id if isinstance(ending, Completed) else None
    return {
        "accepted": record.path != "rejected",
        "response_id": record.id,
        "response_text": record.said or record.asks_first or "",
        "predicted_success": record.answer.predicted_success,
        "prediction_confidence": record.answer.prediction_confidence,
        "prompt_text": record.ask.prompt if record.ask else "",
        "decision_path": record.path,
        "matched_heuristic_id": matched or decided.matched_heuristic_id or "",
        "silence": record.silence,
        "metadata": _metadata(record),
    }


def _metadata(record: DecisionRecord) -> dict[str, object]:
    """Return what else led to the response, as far as it did."""
    decided, ending = record.decided, record.ending
    gate = next((each for each in decided.gates if each.name == "confidence"), None)
    found: dict[str, object] = {
        "threshold": gate.threshold if gate else None,
        "model": record.ask.model if record.ask else None,
        "reason": record.silence,
    }
    if isinstance(record.recalled, Recalled):
        found["memories"] = list(record.recalled.texts)
    if isinstance(ending, Completed) and ending.agrees_with:
        similarity = ending.agreement[0] if ending.agreement else None
        converged = {"converged_heuristic_id": ending.agrees_with[0]}
        found["convergence"] = {**converged, "similarity": similarity}
    return {name: value for name, value in found.items() if value is not None}
