"""DecisionRecords: decisions told from groups, whole and in order."""

from typing import Any

from msgspec import structs

from echoic.client.decision_json import as_fields, as_response
from replay.recording.decisions import DecisionRecord, DecisionRecords
from schemas.codec.envelope import Input, Output
from schemas.messages.asks import ModelAsked
from schemas.messages.decisions import Completed, Dropped, HeuristicFired
from schemas.messages.notes import Handled
from tests.echoic.samples import WARN, decided, group, model_asked, rejected, sensed


def waiting() -> tuple[Input, list[Output]]:
    """An event and the group that asks the model about it."""
    taken = sensed()
    outputs = group(
        taken,
        [
            decided(path="llm", arm="llm:m@a@b", final=False, text=None),
            model_asked(decision_id=decision_of(taken)),
        ],
    )
    return taken, outputs


def answer_to(opened: DecisionRecord, **fields: Any) -> Completed:
    """What the model says to an open decision."""
    return Completed(
        decision_id=opened.id,
        ask_id="ask",
        path="llm",
        response_type="suggestion",
        model="m",
        predicted_success=0.6,
        prediction_confidence=0.5,
        **fields,
    )


def decision_of(taken: Input) -> str:
    """The id of the first output that answers an input."""
    return group(taken, [Handled(reason="recorded")])[0].id


def test_a_heuristics_answer_is_final_at_once() -> None:
    """What a heuristic says is told with the group that decided it."""
    taken = sensed()
    fired = HeuristicFired(
        decision_id=decision_of(taken),
        event_id="event-1",
        heuristic_id=WARN,
        content_hash="cafe",
        mode="shown",
        similarity=0.9,
        confidence=0.82,
    )
    outputs = group(taken, [decided(), fired])

    (record,) = DecisionRecords().take(taken, outputs)

    assert record.is_final
    assert record.said == "Behind you!"
    assert record.heuristic_id == WARN
    assert record.shown_fire == outputs[1].id
    assert record.text == "Creeper 6 m behind you"
    assert round(record.latency_ms) == 11


def test_a_models_answer_ends_the_decision_later() -> None:
    """An open decision is told again when its completion comes."""
    ledger = DecisionRecords()
    (opened,) = ledger.take(*waiting())
    later = sensed(sequence=10)
    completed = answer_to(opened, text="Turn around.", matched_heuristic_id=WARN)

    (ended,) = ledger.take(later, group(later, [completed], late_s=0.4))

    assert not opened.is_final
    assert opened.said is None
    assert ended.is_final
    assert (ended.said, ended.path) == ("Turn around.", "llm")
    assert ended.heuristic_id is None
    assert round(ended.latency_ms) == 400
    assert as_response(ended) == {
        "accepted": True,
        "response_id": opened.id,
        "response_text": "Turn around.",
        "predicted_success": 0.6,
        "prediction_confidence": 0.5,
        "prompt_text": "Event: Creeper 6 m behind you",
        "decision_path": "llm",
        "matched_heuristic_id": WARN,
        "silence": None,
        "metadata": {"threshold": 0.7, "model": "m"},
    }


def test_a_dropped_decision_is_silent_by_the_reason() -> None:
    """A failure of the model shows as path `fallback`, with nothing said."""
    ledger = DecisionRecords()
    (opened,) = ledger.take(*waiting())
    later = sensed(sequence=10)
    dropped = Dropped(decision_id=opened.id, reason="llm_timeout")

    (ended,) = ledger.take(later, group(later, [dropped]))

    assert (ended.path, ended.silence, ended.said) == ("fallback", "llm_timeout", None)
    assert ledger.take(later, group(later, [dropped])) == []


def test_the_fields_of_an_account_are_versioned() -> None:
    """What a program reads says which version it has."""
    taken = sensed()
    (record,) = DecisionRecords().take(taken, group(taken, [rejected()]))

    fields = as_fields(record)

    assert fields["v"] == 1
    assert fields["silence"] == "llm_unavailable"
    assert fields["path"] == "rejected"
    assert fields["salience"] == 0.72


def test_a_response_is_accepted_unless_its_path_is_rejected() -> None:
    """A strategy that finds nobody to answer rejects; a gate that closes does not."""
    taken = sensed()
    paths = {}
    for message in (rejected(), decided(path="none", arm="silent", text=None)):
        (record,) = DecisionRecords().take(taken, group(taken, [message]))
        response = as_response(record)
        paths[response["decision_path"]] = response["accepted"]

    assert paths == {"rejected": False, "none": True}


def test_the_prompt_of_a_decision_is_that_of_its_answer() -> None:
    """What the model is asked about its own words later is another matter."""
    ledger = DecisionRecords()
    taken, outputs = waiting()
    (opened,) = ledger.take(taken, outputs)
    ask = outputs[1].message
    assert isinstance(ask, ModelAsked)
    again = structs.replace(ask, purpose="prediction", prompt="How?")

    assert ledger.take(taken, group(sensed(sequence=10), [again])) == []
    assert as_response(opened)["prompt_text"] == "Event: Creeper 6 m behind you"


def test_a_response_tells_what_led_to_it() -> None:
    """The threshold in force, the model, the reason, and whose words the model's are."""
    ledger = DecisionRecords()
    (opened,) = ledger.take(*waiting())
    later = sensed(sequence=10)
    completed = answer_to(
        opened, text="Behind you.", agrees_with=(WARN,), agreement=(0.82,)
    )
    (ended,) = ledger.take(later, group(later, [completed]))
    (silent,) = DecisionRecords().take(sensed(), group(sensed(), [rejected()]))
    gates = {gate.name: gate.threshold for gate in silent.decided.gates}

    assert as_response(ended)["metadata"] == {
        "threshold": 0.7,
        "model": "m",
        "convergence": {"converged_heuristic_id": WARN, "similarity": 0.82},
    }
    assert as_response(silent)["metadata"] == {
        "threshold": gates["confidence"],
        "reason": "llm_unavailable",
    }
