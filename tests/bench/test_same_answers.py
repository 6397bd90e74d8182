"""The same session gets the same answers, byte for byte, whoever made the mind faster.

A change that is meant to answer otherwise renews the digests here and says why.
"""

from collections import Counter

from handlers.mind.turn import Turn
from schemas.codec.encode import wire_digest
from schemas.values.ids import digest
from tests.bench.session import AGENT
from tests.replay.scenarios import everything

EVENTS = 300
OUTPUTS = "1d747591d41b4484ee3436e2"
CHAIN = "c456035c92e8fab60a7fa282"


def test_a_session_of_everything_is_answered_as_ever() -> None:
    """Every output and the agent's chain are what they were when this was written."""
    session = everything(EVENTS)

    said = Counter(
        output.message.token for turn in session.turns for output in turn.outputs
    )
    assert said.keys() >= EXPECTED_KINDS, said
    assert session.outcomes()
    assert digest(*map(_bytes, session.turns)) == OUTPUTS
    assert session.state.agents[AGENT].chain == CHAIN


def _bytes(turn: Turn) -> bytes:
    records = [output.record for output in turn.outputs]
    return b"".join(
        wire_digest(each.subject, each.headers, each.body) for each in records
    )


EXPECTED_KINDS = {
    "decided", "completed", "dropped", "heuristic_fired", "model_asked",
    "delivery_asked", "outcome_observed", "outcome_expired", "feedback_applied",
    "control_applied", "control_refused", "handled", "lifecycle_changed",
}  # fmt: skip
