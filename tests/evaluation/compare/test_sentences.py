"""What a comparison says in sentences."""

from dataclasses import replace
from typing import Any

import pytest

from evaluation.compare.document import Sensitivity, StrategyPart
from evaluation.compare.rows import Closed
from evaluation.compare.sentences import Judged, next_steps, would_change
from evaluation.ope.verdicts import CLAIMS, OPPOSED, SEVERAL
from tests.evaluation.ope.samples import explored, row


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


def test_what_is_critical_is_named_with_its_number() -> None:
    """Two causes at most, each with an occasion; then the experiment that tells."""
    causes = tuple(
        f"salience actionability 0.9 >= 0.9 in {n}, such as “{n}”" for n in (9, 4, 1)
    )
    steps = next_steps(judged("NOT_ENOUGH_OVERLAP", closed=Closed(0.064, causes)))

    assert steps[0].startswith("no recording decides it: 6.4% of what theirs would do")
    assert "0.9 >= 0.9 in 9, such as “9”; salience actionability" in steps[0]
    assert "such as “1”" not in steps[0]
    assert "echoic ab start 'ours' 'theirs'" in steps[1]


def test_learning_that_made_them_agree_is_not_recorded_away() -> None:
    """Where nothing flips any more no number is named, and three ways on are."""
    rows = [
        row("b" if flips else "a", 0.5 if flips else 1.0, 1.0, "b" if flips else "a",
            session=f"s{session}")
        for session in range(30)
        for flips in [session < 18] * 5
    ]  # fmt: skip
    first, why, instead = next_steps(judged("NOT_ENOUGH_OVERLAP", rows=rows))

    assert first == "recording more will not decide it"
    assert "in 4.5 decisions a session before, and in 0 in the last 10" in why
    assert "(from s20 on)" in instead
    assert "constraints: {locked: true}" in instead
    assert "play it: `echoic ab start 'ours' 'theirs'`" in instead


def test_the_exploration_in_force_is_not_proposed_again() -> None:
    """Half of the flips are tried already: no command lowers that to a fifth."""
    steps = next_steps(judged("INCONCLUSIVE"))

    assert len(steps) == 1
    assert steps[0].endswith("at the current exploration")
