"""What a comparison says in sentences."""

from dataclasses import replace
from typing import Any

import pytest

from evaluation.compare.document import Sensitivity, StrategyPart
from evaluation.compare.sentences import Judged, next_steps, would_change
from evaluation.ope.verdicts import CLAIMS, OPPOSED, SEVERAL
from tests.evaluation.ope.samples import explored


def tried(verdict: str) -> Sensitivity:
    """One other assumption, and the verdict under it."""
    return Sensitivity(
        what="silence worth 0.7", difference=None, ci=None, verdict=verdict
    )


def test_only_what_was_tried_is_said_to_change_nothing() -> None:
    """Where no session was left out to see, nothing is said of single sessions."""
    assert would_change("BETTER", [tried("BETTER")], ()) == (
        "None of what was tried: silence worth 0.7; and no single session.",
    )
    assert would_change("NOT_ENOUGH_OVERLAP", [tried("NOT_ENOUGH_OVERLAP")], None) == (
        "None of what was tried: silence worth 0.7.",
    )


def test_what_changes_the_verdict_is_named() -> None:
    """The assumption, and the session without which it would be another."""
    found = would_change("BETTER", [tried("INCONCLUSIVE")], [("s7", "EQUIVALENT")])

    assert found == (
        "With silence worth 0.7 it would be INCONCLUSIVE.",
        "Without session s7 it would be EQUIVALENT.",
    )


def part(label: str) -> StrategyPart:
    """A strategy that is known by its label alone."""
    return StrategyPart(
        label=label, name=label, version=1, config={}, config_hash=label
    )


def judged(verdict: str, *codes: str, **more: Any) -> Judged:
    """What next steps are named from, over rows in which the two differ."""
    known = Judged(
        verdict=verdict,
        codes=frozenset(codes),
        rows=explored(sessions=4),
        difference=(None, None),
        closed=None,
        baseline=part("ours"),
        challenger=part("theirs"),
    )
    return replace(known, **more)


@pytest.mark.parametrize(
    ("codes", "verdict", "said"),
    [
        ((), "BETTER", "how whole sessions would go"),
        ((), "EQUIVALENT", "how whole sessions would go"),
        ((), "WORSE", "keep ours for single decisions"),
        ((OPPOSED,), "BETTER", "do not go by this alone"),
        ((OPPOSED,), "WORSE", "do not go by this alone"),
        ((OPPOSED,), "EQUIVALENT", "do not go by this alone"),
        ((SEVERAL,), "INCONCLUSIVE", "compare theirs alone"),
        ((), "INCONCLUSIVE", "to decide it, record"),
        ((), "NOT_ENOUGH_OVERLAP", "to decide it, record"),
        ((), "INVALID", "`echoic replay verify`"),
    ],
)
def test_every_verdict_has_a_next_step(
    codes: tuple[str, ...], verdict: str, said: str
) -> None:
    """A claim sends one to play it, what is open to record, what is broken to verify."""
    steps = next_steps(judged(verdict, *codes))

    assert said in steps[0]
    if verdict in CLAIMS:
        assert "play it: `echoic ab start 'ours' 'theirs'`" in steps[0]


def test_characters_are_not_told_to_explore() -> None:
    """Where no decision asked a strategy, no exploration would ever tell the two apart."""
    (step,) = next_steps(judged("NOT_ENOUGH_OVERLAP", rows=()))

    assert "no decision asked a strategy" in step
    assert "exploration" not in step
