"""Flips are counted alike wherever they are counted, also of strategies that draw."""

import re

import pytest

from echoic.terminal import comparison
from echoic.terminal.screen import rendered
from evaluation.compare.document import Comparison, Document, Fact
from replay.recording.source import from_file
from tests.evaluation.compare.test_compare import EVENING, document_of, result


@pytest.fixture(scope="module")
def drawing() -> Document:
    """The explored session against a strategy that draws among its arms."""
    explored = from_file(EVENING / "explored.echoic")
    return document_of([result(explored, "thompson")], "thompson")


@pytest.fixture(scope="module")
def found(drawing: Document) -> Comparison:
    """The comparison with it."""
    return drawing.comparisons[0]


def test_list_overview_and_parts_count_the_same(found: Comparison) -> None:
    """A flip counts for its probability: in the list, its statuses, the matrix, the parts."""
    total = found.flips_total

    assert 0 < total < found.flip_decisions == len(found.flips)
    assert total == pytest.approx(sum(flip.share for flip in found.flips))
    assert total == pytest.approx(sum(found.flip_counts.values()))
    assert total == pytest.approx(sum(cell.flips for cell in found.matrix))
    assert total == pytest.approx(sum(part.flips for part in found.breakdown))
    share = next(fact for fact in found.facts if fact.name == "agreement").challenger
    asked = sum(part.decisions for part in found.breakdown)
    assert (1.0 - (share or 0.0)) * asked == pytest.approx(total)


def test_the_matrix_holds_every_decision_that_was_asked(
    drawing: Document, found: Comparison
) -> None:
    """As many as the sessions say."""
    asked = sum(session.asked for session in drawing.sessions)

    assert sum(cell.count for cell in found.matrix) == pytest.approx(asked)


def test_a_flip_says_whose_outcome_was_observed(
    drawing: Document, found: Comparison
) -> None:
    """By the arm that was taken; the screen says it, too."""
    for flip in found.flips:
        arms = {"baseline": flip.baseline.arm, "challenger": flip.challenger.arm}
        assert flip.outcome_of is None or arms[flip.outcome_of] == flip.logged.arm
    judged = [flip for flip in found.flips if flip.status in ("regressed", "improved")]
    assert judged
    assert all(flip.outcome_of for flip in judged)
    screen = rendered(comparison.screen(drawing))
    assert "baseline's outcome" in screen
    assert f"flips expected, in {found.flip_decisions} decisions:" in screen


def test_a_range_beside_a_difference_is_that_of_the_difference() -> None:
    """Not of the challenger's own figure."""
    fact = Fact(
        name="latency_p50", label="latency, median", kind="imputed", unit="ms",
        baseline=67.0, challenger=31.0, delta=-36.0, low=29.0, high=33.0,
    )  # fmt: skip

    assert "-36 ms (-38 ms to -34 ms)" in comparison.fact_row(fact)


def test_counts_say_of_what_they_are(found: Comparison) -> None:
    """Answers of all decisions, gated ones included; explored ones are counted apart."""
    notes = {fact.name: fact.note for fact in found.facts}

    same = r"in \d{3} decisions, had the world gone on the same"
    assert re.fullmatch(same, notes["spoke"] or "")
    assert str(notes["mixture"]).startswith("by the exploring mixture")
