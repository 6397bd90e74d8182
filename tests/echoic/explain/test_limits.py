"""Limits explained: who asked for quiet, what passes, and what a shorter cooldown makes."""

from pathlib import Path

from msgspec import structs

from echoic.explain.explain import explain
from echoic.explain.what_if import opening
from replay.recording.decisions import DecisionRecord, DecisionRecords
from schemas.messages.decisions import Decided, Gate
from schemas.values.reasons import GATES, Silence
from tests.echoic.samples import NAMES, gate, group, habituated, sensed


def record(message: Decided) -> DecisionRecord:
    """The record of one decision."""
    taken = sensed()
    (made,) = DecisionRecords().take(taken, group(taken, [message]))
    return made


def told(*gates: Gate, silence: Silence) -> Decided:
    """A decision that a limit kept silent."""
    own = habituated()
    return structs.replace(own, gates=(own.gates[0], *gates), silence=silence)


def test_quiet_names_who_asked_for_it_and_what_passes() -> None:
    """A gate without numbers tells by its note."""
    kept = Gate(name="quiet", passed=False, note="asked for by ana, for 9 min 0 s more")

    explanation = explain(record(told(kept, silence="quiet")), NAMES)

    assert explanation.verdict == (
        "Stayed silent: quiet was asked for (asked for by ana, for 9 min 0 s more)."
    )
    assert explanation.counterfactual == (
        "Would have passed but for quiet. Alerts and answers to"
        " the words of whoever asked for it pass, until it ends: `echoic quiet off`."
    )


def test_what_was_said_already_tells_by_its_own_gate() -> None:
    """Though what it is worth closes as well, and comes before: in seconds, or minutes."""
    closed = gate("relevance", 0.0, 0.5), gate("already_said", 5.5, 900.0)

    explanation = explain(record(told(*closed, silence="already_said")), NAMES)

    assert explanation.verdict == (
        "Stayed silent: it was said already, and stands as it did"
        " (already_said 5.5 s < 15 min)."
    )
    assert "time since it was said ≥ 15 min (was 5.5 s)" in str(
        explanation.counterfactual
    )


def test_a_cooldown_can_be_supposed_shorter() -> None:
    """Its setting is the threshold; the nearest one that opens it is offered."""
    decision = told(gate("cooldown", 1.25, 4.0), silence="cooldown")

    explanation = explain(record(decision), NAMES)
    supposed = explain(record(decision), NAMES, {"cooldown": 1.0})
    still = explain(record(decision), NAMES, {"cooldown": 2.0})

    assert explanation.verdict == (
        "Stayed silent: it spoke too recently (cooldown 1.25 s < 4 s)."
    )
    assert explanation.counterfactual == (
        "Would have passed if time since the last response ≥ 4 s"
        " (was 1.25 s). Alerts, answers to a person's own words and what is urgent pass."
    )
    assert supposed.supposed == ("would have passed; a replay tells what comes of it")
    assert (
        still.supposed == "would have stayed silent: cooldown (cooldown 1.25 s < 2 s)"
    )
    assert opening(decision) == ("cooldown", 1.25)


def test_the_page_of_when_it_speaks_names_who_passes_each_gate() -> None:
    """In words of its own, which say the same as the declaration."""
    page = Path(__file__).parents[3] / "docs" / "executive.md"
    rows = [line.split("|") for line in page.read_text().splitlines() if "|" in line]
    cells = {cells[1].strip(" `"): cells[3] for cells in rows if len(cells) == 5}
    words = {
        "threat": "alerts",
        "own_words": "to a person",
        "asker": "the one who asked",
        "urgent": "what is urgent",
        "trusted": "a trusted heuristic",
        "watched": "watche",
    }

    named = [name for name in GATES if name in cells and name != "budget"]

    assert len(named) >= 8
    for name in named:
        said = cells[name].replace("the same", cells["relevance"])
        found = {who for who, word in words.items() if word in said}
        assert found == set(GATES[name].passers or ()), name
