"""What a comparison says in sentences."""

from evaluation.compare.document import Sensitivity, StrategyPart
from evaluation.compare.sentences import next_steps, would_change


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


def test_characters_are_not_told_to_explore() -> None:
    """Where no decision asked a strategy, no exploration would ever tell the two apart."""
    ours, theirs = (
        StrategyPart(label=mode, name="layers", version=1, config={}, config_hash=mode)
        for mode in ("layers:mode=split", "layers:mode=scripted")
    )

    (step,) = next_steps(
        "NOT_ENOUGH_OVERLAP",
        (),
        (None, None),
        closed=None,
        short_term_only=False,
        baseline=ours,
        challenger=theirs,
    )

    assert "no decision asked a strategy" in step
    assert "exploration" not in step
