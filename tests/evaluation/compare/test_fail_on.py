"""Conditions for a build: what trips, of whom, and what cannot be asked."""

import pytest

from evaluation.compare.document import Comparison
from evaluation.compare.fail_on import FailOnError, parse, tripped
from replay.recording.source import from_file
from tests.evaluation.compare.test_compare import DARING, EVENING, document_of, result


@pytest.fixture(scope="module")
def daring() -> Comparison:
    """The shipped session against a lower threshold."""
    evening = from_file(EVENING / "evening.echoic")
    return document_of([result(evening, DARING)], DARING).comparisons[0]


def test_what_trips_says_of_which_challenger(daring: Comparison) -> None:
    """With several of them one has to know."""
    (reason,) = tripped(parse("flips>0"), daring)

    assert reason == f"flips>0: {DARING} has {daring.flips_total}"


def test_facts_of_the_two_together_are_compared_as_they_are(daring: Comparison) -> None:
    """Agreement and drift have no change; a condition on them holds all the same."""
    assert tripped(parse("agreement<0.99"), daring)
    assert tripped(parse("drift>=0"), daring)
    assert not tripped(parse("agreement<0.1,drift>0.5"), daring)


def test_a_verdict_is_compared_with_a_word(daring: Comparison) -> None:
    """By = and by !=, in any case."""
    assert tripped(parse("verdict=not_enough_overlap"), daring)
    assert tripped(parse("verdict!=BETTER"), daring)
    assert not tripped(parse("verdict=WORSE"), daring)


@pytest.mark.parametrize(
    ("text", "named"),
    [
        ("regressed>", "is no condition"),
        ("flips>many", "is no number"),
        ("verdict>BETTER", "by = or !="),
        ("verdict=WORSER", "there is no verdict 'WORSER', there are BETTER, WORSE"),
    ],
)
def test_what_cannot_be_asked_is_an_error(text: str, named: str) -> None:
    """A condition that could never hold would let every build pass."""
    with pytest.raises(FailOnError, match=named):
        parse(text)


def test_an_unknown_name_is_an_error_that_helps(daring: Comparison) -> None:
    """It lists what there is, and what was meant."""
    with pytest.raises(FailOnError, match="did you mean 'regressed'"):
        tripped(parse("regresed>0"), daring)
