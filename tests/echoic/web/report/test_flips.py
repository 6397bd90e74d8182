"""Flips: each with both arms, how likely it was, what came of it, and why."""

from dataclasses import replace

from echoic.web.report import flips
from echoic.web.report.page import render
from evaluation.compare.document import Flip
from tests.echoic.web.report import sample
from tests.echoic.web.report.page import taken_apart


def test_a_flip_tells_all_of_a_decision() -> None:
    """Both arms and texts, the logged probabilities, the outcome and each gate."""
    found = flips.row(_flip(status="improved"))

    assert found["status"] == "improved"
    assert found["classes"] == "heuristic llm"
    assert (found["a"]["class"], found["b"]["class"]) == ("heuristic", "model")
    assert found["taken"] == "B's arm"
    assert found["logged"] == ["0.2", "0.2"]
    assert found["outcome"] == "1 (from outcome)"
    whose, passed, gate, test, margin = found["why"][0]
    assert (whose, gate) == ("baseline", "Confidence")
    assert ("≥" in test) is passed
    assert (margin[0] == "+") is passed


def test_what_was_never_observed_has_no_outcome() -> None:
    """Nor does a text that nobody asked for have words."""
    found = flips.row(_flip(status="unobserved"))

    assert found["outcome"] is None
    assert found["taken"] == "A's arm"


def test_a_third_arm_is_named() -> None:
    """Exploration may take an arm that is neither's."""
    flip = _flip(status="unobserved")
    logged = replace(flip.logged, arm="heuristic:other@99")

    assert flips.row(replace(flip, logged=logged))["taken"] == "another arm (other@99)"


def test_each_status_has_a_filter_with_its_count() -> None:
    """And each cell of the matrix that holds flips is a button."""
    page = taken_apart(render(sample.better(60, 4)))

    assert ["", *flips.STATUSES, "unknown"] == page.having("data-status")
    assert {"heuristic llm", "silent llm"} == set(page.having("data-classes"))
    assert "60 decisions differ" in page.words
    assert len(page.data["c0-flips-data"]) == 60


def test_a_list_that_was_cut_says_so() -> None:
    """The count is of all, the list of the worst."""
    document = sample.better(30, 2)
    cut = replace(document.comparisons[0], flips_total=12_000, flip_decisions=12_000)
    words = taken_apart(render(replace(document, comparisons=(cut,)))).words

    assert "12,000 decisions differ the worst 30 are listed" in words


def _flip(status: str) -> Flip:
    every = sample.better().comparisons[0].flips
    return next(
        flip
        for flip in every
        if flip.status == status and flip.baseline.arm_class == "heuristic"
    )
