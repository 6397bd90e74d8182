"""What a decision came to: the world first, then people, then the value of silence."""

from datetime import UTC, datetime, timedelta

import pytest

from replay.recording.outcomes import Ledger, Outcome, OutcomeSettings
from schemas.messages.sensing import EventRef, Sensed
from schemas.packs.compiled import CompiledPack
from tests import factories

NOON = datetime(2026, 11, 20, 12, 0, tzinfo=UTC)


@pytest.fixture
def pack() -> CompiledPack:
    """Drink is restored within 120 s: good; the player dies within 60 s: bad."""
    return factories.pack(
        patterns=[
            factories.pattern("drink", "drink is restored", 120),
            factories.pattern("drink", "player died", 60, success=False),
        ]
    )


class Case:
    """A ledger with one decision on an event that speaks of drink."""

    def __init__(
        self, pack: CompiledPack | None, *, is_silent: bool = False, **settings: object
    ) -> None:
        self.ledger = Ledger(OutcomeSettings(**settings))  # type: ignore[arg-type]
        event = Sensed(source="game", type="vital", text="Your drink is low")
        self.ledger.sensed(event, "game", NOON)
        self.ledger.decided(
            "d1", event, "e1", domain="game", pack=pack, is_silent=is_silent, now=NOON
        )

    def later(
        self, seconds: float, text: str, domain: str = "game", **fields: object
    ) -> "Case":
        """Something happens so many seconds later."""
        event = Sensed(source="game", type="vital", text=text, **fields)  # type: ignore[arg-type]
        self.ledger.sensed(event, domain, NOON + timedelta(seconds=seconds))
        return self

    @property
    def outcome(self) -> Outcome:
        """What it came to."""
        return self.ledger.ended()["d1"]


def test_the_first_pattern_seen_decides(pack: CompiledPack) -> None:
    """A success that comes before the failure is the outcome, and the other way round."""
    good = Case(pack).later(10, "Drink is restored").later(20, "The player died")
    bad = Case(pack).later(10, "The player died").later(20, "Drink is restored")

    assert (good.outcome.value, good.outcome.source) == (1.0, "pattern")
    assert bad.outcome.value == 0.0


def test_a_pattern_counts_only_within_its_own_time(pack: CompiledPack) -> None:
    """What comes when the window is over is not seen: the answer was in vain."""
    late = Case(pack).later(121, "Drink is restored")

    assert (late.outcome.value, late.outcome.source) == (0.5, "unseen")


def test_what_another_clock_shows_is_no_outcome(pack: CompiledPack) -> None:
    """Time went back: nobody can know what would have come within its own time."""
    left = Case(pack).later(-3_600, "The wind blows").later(10, "Drink is restored")

    assert (left.outcome.value, left.outcome.source) == (None, "unknown")
    assert left.outcome.is_censored


def test_a_shorter_window_may_be_set(pack: CompiledPack) -> None:
    """With a window of 30 s nothing that comes later counts."""
    late = Case(pack, window_s=30.0).later(31, "Drink is restored")

    assert late.outcome.source == "unseen"


def test_what_is_unseen_may_count_as_unknown(pack: CompiledPack) -> None:
    """Who does not want to value it says so, and it is left out."""
    late = Case(pack, unseen=None).later(121, "Nothing")

    assert (late.outcome.value, late.outcome.source) == (None, "unknown")


def test_a_recording_that_ends_too_soon_censors(pack: CompiledPack) -> None:
    """As long as a window is open when the recording ends, nobody knows."""
    cut = Case(pack).later(100, "A cow grazes")

    assert cut.outcome.is_censored
    assert cut.outcome.value is None


def test_silence_is_worth_what_is_said_unless_the_world_shows_more(
    pack: CompiledPack,
) -> None:
    """The same patterns are waited for, whether anything was said or not."""
    helped_itself = Case(pack, is_silent=True, silence=0.3).later(
        10, "Drink is restored"
    )
    nothing = Case(pack, is_silent=True, silence=0.3).later(200, "A cow grazes")

    assert helped_itself.outcome.value == 1.0
    assert (nothing.outcome.value, nothing.outcome.source) == (0.3, "silence")


def test_a_report_outdoes_a_pattern_and_may_name_the_event(pack: CompiledPack) -> None:
    """A report that names the decision, or its event, is the outcome."""
    by_id = (
        Case(pack)
        .later(5, "Drink is restored")
        .later(9, "It failed", in_reply_to="d1", outcome="failed")
    )
    by_event = Case(None).later(
        9,
        "It worked",
        in_reply_to=EventRef(source="game", event_id="e1"),
        outcome="succeeded",
    )

    assert (by_id.outcome.value, by_id.outcome.source) == (0.0, "report")
    assert by_event.outcome.value == 1.0


def test_a_cancelled_advice_is_neither_good_nor_bad() -> None:
    """Overridden and cancelled say nothing of the advice."""
    case = Case(None).later(9, "Never mind", in_reply_to="d1", outcome="cancelled")

    assert case.outcome == Outcome(None, "unknown")


def test_another_domain_or_other_entities_show_nothing(pack: CompiledPack) -> None:
    """An event of elsewhere is no outcome here."""
    assert Case(pack).later(5, "Drink is restored", domain="home").outcome.is_censored


def test_votes_are_the_mean_of_each_persons_last(pack: CompiledPack) -> None:
    """Where the world is silent people are asked; a changed vote replaces the first."""
    case = Case(None)
    for actor, value in (("ann", -1.0), ("ann", 1.0), ("bob", 0.0)):
        case.ledger.voted("d1", actor, value)
    case.ledger.voted("unknown", "ann", 1.0)

    assert (case.outcome.value, case.outcome.source) == (0.75, "feedback")
    assert case.outcome.votes == 2


def test_people_may_be_asked_first(pack: CompiledPack) -> None:
    """With `prefer=feedback` a vote goes before what the world shows."""
    first = Case(pack, prefer="feedback").later(5, "Drink is restored")
    first.ledger.voted("d1", "ann", -1.0)

    assert (first.outcome.value, first.outcome.source) == (0.0, "feedback")


def test_an_undo_is_a_failure_whatever_was_seen(pack: CompiledPack) -> None:
    """Who takes the advice back says that it was none; a report goes before it."""
    undone = Case(pack).later(5, "Drink is restored")
    undone.ledger.undone("d1")
    undone.ledger.undone("another")
    reported = Case(pack).later(5, "Done", in_reply_to="d1", outcome="succeeded")
    reported.ledger.undone("d1")

    assert (undone.outcome.value, undone.outcome.source) == (0.0, "undo")
    assert reported.outcome.value == 1.0
