"""What a comparison says in sentences."""

from evaluation.compare.document import Sensitivity
from evaluation.compare.sentences import would_change


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
