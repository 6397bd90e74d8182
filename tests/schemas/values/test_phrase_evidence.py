"""What fits no pattern is heard by what each of its words speaks for, if that is plain."""

import pytest

from bench.hearing import understood
from echoic.packs.phrases import shipped
from schemas.values.phrase_evidence import Evidence
from schemas.values.phrase_matching import heard

ASKED = (
    ("the baby dropped off, so not a peep for half an hour", "mute", "", 1800.0),
    ("time to crack on with some work, mate", "context", "work", None),
    ("what on earth made you pipe up like that", "why", "", None),
    ("ok meeting's over, you may speak again", "unmute", "", None),
)
"""Requests that no pattern holds, what they mean, what they name, and for how long."""

APART = (
    "Leo, why did you say that to your teacher?",
    'she wrote "be quiet for half an hour" on the board, would you believe it',
    "she told the kids to pipe down for ten minutes after lunch",
    "set me going on that countdown thing, would you",
    "the parcel came, and I bought milk",
)
"""To somebody else, quoted, reported, a timer without its time, and nothing at all."""

TINY = Evidence(
    labels={"a": "none", "b": "quiet", "c": "stop"},
    weights={"": "a20", "hush": "b30c10", "pipe down": "b40", "hush _ dear": "a20"},
)


@pytest.mark.parametrize(("text", "means", "named", "span_s"), ASKED)
def test_what_is_plainly_asked_for_is_heard(
    text: str, means: str, named: str, span_s: float | None
) -> None:
    """With what it names, and its time wherever it stands."""
    found = understood(text)

    assert found is not None
    assert (found.means, found.named, found.span_s) == (means, named, span_s)


@pytest.mark.parametrize("text", APART)
def test_what_only_sounds_like_it_is_left_alone(text: str) -> None:
    """Whoever is spoken to, and whatever is told of."""
    assert understood(text) is None


@pytest.mark.parametrize(
    ("text", "meant"),
    [
        ("hush", None),  # 30 against 20: too near
        ("hush, pipe down", "quiet"),
        ("hush my dear", None),
        ("hello", None),
    ],
)
def test_one_meaning_has_to_outweigh_all_others(text: str, meant: str | None) -> None:
    """Nothing is a meaning, too, and weights add up over clauses."""
    assert TINY.meant(text) == meant


def test_runs_do_not_reach_over_marks() -> None:
    """A word, its stem, and up to three in a row, with the ends of their clause."""
    found = Evidence.runs("Please, be 10 quieter")

    assert {"please", "be", "#", "quie*", "be # quieter", "^ please $"} <= {*found}
    assert not any("please be" in each for each in found)


def test_without_evidence_or_beside_a_model_patterns_alone_count() -> None:
    """As in phrases that were recorded before there was any."""
    phrases = shipped(("en",))[0].model_copy(update={"evidence": None})

    for text, *_ in ASKED[1:]:
        assert heard(text, (phrases,), supposes=True) is None
        assert heard(text, shipped(("en",))) is None
    assert heard("be quiet", (phrases,)) is not None
