"""What was learnt of a model, in a line each."""

import pytest

from echoic.terminal.decisions import lesson
from schemas.codec.catalogue import OutputMessage
from schemas.messages.learning import (
    CandidateRefused,
    Endorsed,
    HeuristicFormed,
    HeuristicReinforced,
)
from schemas.messages.notes import Handled

NAMES = {"h": "rest"}
FORMED = HeuristicFormed(
    heuristic_id="n",
    name="low_1234",
    domain="garden",
    condition="low",
    response_type="alert",
    text="Rest.",
    confidence=0.3,
    decision_id="d",
)
REINFORCED = HeuristicReinforced(
    heuristic_id="h",
    content_hash="c",
    decision_id="d",
    similarity=0.95,
    action_similarity=0.8,
    confidence=0.5,
)


@pytest.mark.parametrize(
    ("message", "line"),
    [
        (FORMED, "formed low_1234, trusted 0.30"),
        (REINFORCED, "reinforced rest, now trusted 0.50"),
        (
            CandidateRefused(reason="type", detail="no such", decision_id="d"),
            "formed nothing: type, no such",
        ),
        (
            CandidateRefused(reason="crowded", decision_id="d"),
            "formed nothing: crowded",
        ),
        (
            Endorsed(
                heuristic_id="h",
                content_hash="c",
                decision_id="d",
                similarity=0.6,
                weight=0.3,
            ),
            "endorsed rest: the model said the same by itself, like 0.60",
        ),
        (Handled(reason="recorded"), None),
    ],
)
def test_each_step_is_told(message: OutputMessage, line: str | None) -> None:
    """Who it is about, and what it came to; what teaches nothing has no line."""
    assert lesson(message, NAMES) == line
