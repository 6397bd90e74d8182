"""Explanations: why a decision came out so, and what would have changed it."""

import re
from dataclasses import replace
from typing import Any, Literal, get_args

import pytest
from msgspec import structs

from echoic.errors import EchoicError
from echoic.explain.explain import explain
from echoic.explain.gates import REASONS
from echoic.explain.what_if import opening
from echoic.terminal.called import program
from echoic.terminal.explanation import explained
from echoic.terminal.screen import rendered
from replay.recording.decisions import DecisionRecord, DecisionRecords
from schemas.messages.arms import SILENT
from schemas.messages.decisions import Completed, Decided, Dropped, Gate, LayerVerdict
from schemas.values.reasons import Drop, Silence
from tests.echoic.samples import (
    NAMES,
    WARN,
    decided,
    gate,
    group,
    habituated,
    race_won,
    racing,
    rejected,
    sensed,
)


def record(message: Decided) -> DecisionRecord:
    """The record of one decision."""
    taken = sensed()
    (made,) = DecisionRecords().take(taken, group(taken, [message]))
    return made


def test_speech_names_the_heuristic_and_its_margin() -> None:
    """The verdict names who spoke; the counterfactual the gate that came closest."""
    explanation = explain(record(decided()), NAMES)

    assert explanation.verdict == (
        "Spoke by the heuristic creeper-warn (confidence 0.82 ≥ 0.70)."
    )
    assert explanation.counterfactual == (
        "Closest gate: confidence 0.82 ≥ 0.70, by 0.12."
    )


def test_silence_names_the_gate_that_closed() -> None:
    """The verdict says why; the counterfactual which number would have changed it."""
    explanation = explain(record(rejected()), NAMES)

    assert explanation.verdict == (
        "Stayed silent: nothing learnt answers it, and no model is configured"
        " (confidence 0.62 < 0.70)."
    )
    assert explanation.counterfactual == (
        "Would have spoken by creeper-warn if threshold ≤ 0.62 (was 0.70)."
    )


def test_a_kept_silence_names_who_kept_it() -> None:
    """With its trust, and how probable it was that the model would be asked."""
    quiet = gate("silence", 0.73, 0.7)
    kept = structs.replace(
        rejected(),
        silence="learned_silence",
        matched_heuristic_id=WARN,
        gates=(*rejected().gates, quiet),
        probability=0.9,
    )
    explanation = explain(record(kept), NAMES)

    assert explanation.verdict == (
        "Stayed silent by creeper-warn: it learnt that nothing is to be said at such"
        " times (silence 0.73 ≥ 0.70; the model was to be asked with probability 0.10)."
    )
    assert explanation.counterfactual == (
        "Would have asked the model if threshold > 0.73 (was 0.70)."
    )


def test_each_candidate_says_why_it_lost() -> None:
    """A candidate under the threshold says by how much."""
    candidates = explain(record(rejected()), NAMES).candidates

    assert [(each.name, each.why) for each in candidates] == [
        ("creeper-warn", "confidence 0.62 < 0.70"),
        ("silent", "taken"),
    ]


@pytest.mark.parametrize(
    ("message", "suppositions", "led_to"),
    [
        (rejected(), {"threshold": 0.6}, "would have spoken by creeper-warn"),
        (rejected(), {"threshold": 0.62}, "would have spoken by creeper-warn"),
        (rejected(), {"threshold": 0.65}, "would have stayed silent: llm_unavailable"),
        (rejected(), {"confidence": 0.7}, "would have spoken by creeper-warn"),
        (
            decided(),
            {"relevance": 0.95},
            "would have stayed silent: below_relevance (relevance 0.90 < 0.95)",
        ),
        (
            decided(),
            {"salience": 0.55},
            "would have stayed silent: habituated (habituation 0.44 < 0.50)",
        ),
        (
            habituated(),
            {"sensitivity": 1},
            "would have passed; a replay tells what comes of it",
        ),
        (
            decided(),
            {"threshold": 0.9, "confidence": 0.95},
            "would have spoken by creeper-warn",
        ),
    ],
)
def test_a_supposition_recomputes_the_gates(
    message: Decided, suppositions: dict[str, float], led_to: str
) -> None:
    """Other numbers lead to what the gates say, and no further."""
    assert explain(record(message), NAMES, suppositions).supposed == led_to


def test_a_supposed_threshold_stays_in_the_safe_range() -> None:
    """No threshold goes below 0.3, for a supposition as for the mind."""
    explanation = explain(record(rejected()), NAMES, {"threshold": 0.1})

    assert explanation.gates[-1].threshold == 0.3


def test_a_threat_passes_under_any_supposed_threshold() -> None:
    """A gate that passed below its threshold had another reason, which still holds."""
    gates = decided().gates
    excused = structs.replace(
        gates[1], value=0.4, margin=-0.1, note="a threat always passes"
    )
    message = decided(gates=(gates[0], excused, *gates[2:]))

    explanation = explain(record(message), NAMES, {"relevance": 0.6})

    assert explanation.gates[1].passed


def doubly_closed() -> Decided:
    """A decision on something of little weight that came often besides."""
    intent, *_ = habituated().gates
    return decided(
        path="none",
        silence="below_relevance",
        text=None,
        gates=(intent, gate("relevance", 0.487, 0.5), gate("habituation", 0.064, 0.5)),
    )


@pytest.mark.parametrize(
    ("message", "opened"),
    [
        (habituated(), ("relevance", 0.2)),
        (doubly_closed(), ("relevance", 0.06)),
        (rejected(), ("threshold", 0.62)),
        (rejected(gates=(gate("confidence", 0.29, 0.7),)), ("confidence", 0.7)),
        (decided(), None),
        (decided(gates=(Gate(name="intent", passed=False),)), None),
    ],
)
def test_the_number_to_suppose_opens_every_gate(
    message: Decided, opened: tuple[str, float] | None
) -> None:
    """What a silence suggests to suppose does open it, however it is rounded."""
    assert opening(message) == opened


def test_every_closed_gate_is_told_of() -> None:
    """Who wants to know what it took hears of both gates that closed."""
    assert explain(record(doubly_closed()), NAMES).counterfactual == (
        "Would have passed if salience ≥ 0.50 (was 0.49)"
        " and salience after habituation ≥ 0.50 (was 0.06)."
    )


def test_a_silence_of_the_model_says_what_went_wrong() -> None:
    """The words of whoever failed stand in the verdict, not in the log alone."""
    dropped = Dropped(
        decision_id="d", ask_id="a", reason="llm_no_response", detail="no such key"
    )
    waiting = record(decided(path="llm", final=False, text=None))

    ended = replace(waiting, ending=dropped)

    assert explain(ended, NAMES).verdict == (
        "Stayed silent: the model gave no answer (no such key)."
    )


@pytest.mark.parametrize(
    ("changes", "verdict"),
    [
        (
            {"greedy_arm": "llm:m@t@s"},
            "Spoke by the heuristic creeper-warn (confidence 0.82 ≥ 0.70). Tried out"
            " (challenger exploration, probability 0.20): the strategy itself would have"
            " asked the model.",
        ),
        (
            {
                "arm": SILENT,
                "path": "rejected",
                "text": None,
                "silence": "strategy_silent",
            },
            "Stayed silent, to see what comes of it. Tried out (challenger exploration,"
            " probability 0.20): the strategy itself would have spoken by creeper-warn.",
        ),
        (
            {"greedy_arm": SILENT},
            "Spoke by the heuristic creeper-warn (confidence 0.82 ≥ 0.70). Tried out"
            " (challenger exploration, probability 0.20): the strategy itself would have"
            " stayed silent.",
        ),
    ],
    ids=["not the model", "silence", "speech"],
)
def test_what_was_tried_out_is_said_to_be(
    changes: dict[str, Any], verdict: str
) -> None:
    """With its probability, and with what the strategy would have done instead."""
    tried = decided(**{"exploration": "challenger", "probability": 0.2} | changes)

    explanation = explain(record(tried), NAMES)

    assert explanation.verdict == verdict
    assert "did not count" not in (explanation.counterfactual or "")


def test_a_tried_model_is_not_said_to_be_the_last_resort() -> None:
    """What was learnt was trusted; the model was asked to see what it says."""
    asked = decided(
        path="llm", arm="llm:m@t@s", final=False, text=None, exploration="uniform"
    )
    answered = Completed(
        decision_id="d",
        ask_id="a",
        path="llm",
        text="Run!",
        response_type="alert",
        model="m",
        predicted_success=0.5,
        prediction_confidence=0.5,
    )
    made = replace(record(asked), ending=answered)

    assert explain(made, NAMES).verdict.startswith("Spoke by the model m. Tried out")


def test_a_supposition_about_nothing_recorded_is_refused() -> None:
    """An unknown number is named, with those that would do."""
    with pytest.raises(EchoicError) as caught:
        explain(record(rejected()), NAMES, {"mood": 0.6})

    assert "'mood'" in caught.value.what
    assert "threshold" in (caught.value.next_step or "")


def test_every_reason_has_words() -> None:
    """Each reason of the closed lists can be explained to a person."""
    assert set(get_args(Silence)) | set(get_args(Drop)) <= set(REASONS)


def test_a_page_shows_gates_salience_candidates_and_the_next_command() -> None:
    """The page of a silence reads as a whole."""
    made = record(rejected())

    page = rendered(explained(made, explain(made, NAMES))).split("\n")
    squeezed = [" ".join(line.split()) for line in page]

    assert page[0].startswith(f"{made.id[:8]}  SILENT  llm_unavailable")
    assert "✗ confidence 0.62 < 0.70 -0.08" in squeezed
    assert "threat ▇▇▇▇▇▄▁▁ .70" in squeezed
    candidate = "creeper-warn like 0.90 trust 0.62 confidence 0.62 < 0.70"
    assert candidate in squeezed
    assert (
        page[-2] == f"Try: {program()} explain {made.id[:8]} --what-if threshold=0.62"
    )
    assert re.fullmatch("trace [0-9a-f]{32}", page[-1])


def race(by: Literal["heuristic", "llm"] | None) -> DecisionRecord:
    """The record of a race, as it was won or still goes on."""
    ledger, taken = DecisionRecords(), sensed()
    (made,) = ledger.take(taken, group(taken, [racing()]))
    if by is not None:
        end = group(sensed(sequence=10), [race_won(by, made.id)], late_s=0.411)
        (made,) = ledger.take(taken, end)
    return made


def test_a_race_says_who_won_it_and_how() -> None:
    """By whom the words are, and what the other arm did; both as they stand by."""
    assert [explain(race(by), NAMES).verdict for by in (None, "heuristic", "llm")] == [
        "Waits for the model's answer; the heuristic creeper-warn answers if that takes"
        " too long.",
        "Spoke by the heuristic creeper-warn (confidence 0.82 ≥ 0.70): the model"
        " ollama/tiny had not answered in time.",
        "Spoke by the model ollama/tiny, in time before the heuristic creeper-warn had"
        " to.",
    ]
    weighed = explain(race("llm"), NAMES).candidates
    assert [(each.name, each.why) for each in weighed] == [
        ("creeper-warn", "runs in the race"),
        ("llm:ollama/tiny", "runs in the race"),
        ("race of the two", "taken"),
        ("silent", "not taken: an answer was available"),
    ]


def test_suppositions_on_a_race() -> None:
    """A lower threshold lets the same two race; a higher one leaves the model alone."""
    made = race("heuristic")

    assert [explain(made, NAMES, {"threshold": at}).supposed for at in (0.5, 0.9)] == [
        "nothing changes: the race would be run all the same",
        "would have asked the model",
    ]


def test_a_race_on_a_page() -> None:
    """The page shows the words and who said them."""
    page = rendered(explained(race("heuristic"), explain(race("heuristic"), NAMES)))

    assert "SPOKE  heuristic" in page
    assert "“Behind you!”" in page
    assert "→ race of the two" in page


def test_what_the_model_may_have_copied_is_said() -> None:
    """Agreement with a shown candidate is named, and that it earns nothing."""
    waits = record(racing())
    end = structs.replace(race_won("llm", waits.id), agrees_with=("h1",))

    assert explain(replace(waits, ending=end), {"h1": "low"}).verdict.endswith(
        " It was shown low and said the same, which earns nothing."
    )


def test_a_withheld_candidate_says_so() -> None:
    """It was not out of the running: the model was to say something by itself."""
    message = decided()
    first, *others = message.candidates
    kept = structs.replace(first, withheld=True, arm="heuristic:kept@c")
    message = structs.replace(message, candidates=(kept, *others))

    assert explain(record(message), NAMES).candidates[0].why == (
        "kept from the model, so that it could not copy it"
    )


def test_a_layer_without_a_reason_has_no_empty_brackets() -> None:
    """What a place had nothing to say to, and what no salience weighed, leaves no gap."""
    verdict = LayerVerdict(layer="place", verdict="nothing_due")
    salience = structs.replace(decided().salience, dimensions={})
    message = rejected(layers=(verdict,), gates=(), candidates=(), salience=salience)
    made = record(message)

    page = rendered(explained(made, explain(made, NAMES)))

    assert "layer place: nothing due\n\n  salience" in page
