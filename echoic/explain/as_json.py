"""An explanation as JSON, for programs."""

from dataclasses import asdict

from msgspec import to_builtins

from echoic.client.decision_json import as_fields
from echoic.explain.explain import Explanation
from replay.recording.decisions import DecisionRecord


def explained(record: DecisionRecord, explanation: Explanation) -> dict[str, object]:
    """Return a decision as fields for JSON, with why it came out so."""
    why = asdict(explanation) | {
        "gates": to_builtins(explanation.gates),
        "salience": to_builtins(record.decided.salience),
    }
    return {**as_fields(record), "explanation": why}
