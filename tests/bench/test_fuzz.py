"""The fuzz of the mind, in short: all is answered once, and a fault would be told."""

import pytest

from bench.fuzz import mind
from handlers.mind import turn


def test_whatever_a_mind_is_told_is_answered_once() -> None:
    """By the closed table; its state and that folded from its words stay the same."""
    found = mind.run(1_500, "short")
    found.judge(1_500)

    assert found.faults == []
    answered = {name.partition("(")[0] for name in found.answers}
    # So short a fuzz need not have a vote that is refused.
    assert answered | {"FeedbackRefused"} == {
        "Decided", "Quarantined", "Handled", "ControlApplied", "ControlRefused",
        "FeedbackApplied", "FeedbackRefused",
    }  # fmt: skip


def test_the_same_seed_tells_the_same() -> None:
    """A fault that was found can be had again."""
    first, again, other = (mind.run(150, seed) for seed in ("a", "a", "b"))

    assert first.digest == again.digest != other.digest


def test_what_escapes_is_a_fault(monkeypatch: pytest.MonkeyPatch) -> None:
    """With the input that it was of; the run goes on, and does not add up."""
    real, calls = turn.answer, iter(range(10_000))

    def answer(*given: object) -> object:
        if next(calls) == 40:
            raise ZeroDivisionError("by chance")
        return real(*given)  # type: ignore[arg-type]  # what it was given

    monkeypatch.setattr(turn, "answer", answer)
    found = mind.run(60, "a")
    found.judge(60)

    assert "ZeroDivisionError: by chance (answer:" in found.faults[0]
    assert " at 'ev.3.in." in found.faults[0]
    assert found.faults[1:] == ["60 inputs: 59 taken, 59 answered"]
