"""Patterns find whole words, wherever an event speaks."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from schemas.packs.word_patterns import event_words, matches, occurs

TEXT = "The player drank; health restored!"
FIELDS = {"vital": "drink", "note": "Straße gesperrt", "value": 3, "list": ["undo"]}


@pytest.mark.parametrize(
    ("pattern", "found"),
    [
        ("health restored", True),
        ("Health   Restored", True),
        ("player drank health", True),
        ("health", True),
        ("restore", False),
        ("health player", False),
        ("vital", True),
        ("vital changed", True),
        ("vital_changed", True),
        ("crafter", True),
        ("drink", True),
        ("STRASSE", True),
        ("gesperrt vital", False),
        ("changed crafter", False),
        ("note", False),
        ("undo", False),
        ("", False),
        ("!?", False),
    ],
)
def test_whole_words_in_order(pattern, found):
    """Text, type, source and field texts are searched, each for itself."""
    assert matches(pattern, TEXT, "vital_changed", "crafter-1", FIELDS) is found


def test_sundown_is_no_undo():
    """A word inside another word is not that word."""
    assert not matches("undo", "It is sundown.", "light", "home", {})
    assert matches("undo", "Please undo that.", "light", "home", {})


@pytest.mark.parametrize(
    ("pattern", "text", "is_found"),
    [
        ("कम", "कमी है", False),
        ("न", "नमस्ते", False),
        ("नमस", "नमस्ते", False),
        ("नमस्ते", "नमस्ते जी", True),
        ("undo", "undo\u0301ne", False),
        ("café", "cafe\u0301 ole", True),
        ("cafe\u0301", "CAFÉ", True),
        ("undo", "\uff35\uff2e\uff24\uff2f", True),
        ("kinect", "Kinect\u2122", True),
        ("क्ष", "क्\u200dष", True),
        ("undo", "\u0301undo", True),
    ],
)
def test_marks_belong_to_their_letters(pattern, text, is_found):
    """A pattern without the mark is another word, composed or not."""
    assert occurs(pattern, event_words(text, "t", "s", {})) is is_found


@given(st.text(), st.text())
def test_a_text_contains_its_own_words(before, after):
    """Whatever surrounds a phrase, the phrase is found, and nothing raises."""
    words = event_words(f"{before} player died {after}", "t", "s", {})

    assert occurs("player died", words)


@given(st.text(max_size=9), st.text(max_size=9))
def test_any_pattern_meets_any_text(pattern, text):
    """No pattern and no text raises."""
    assert matches(pattern, text, text, text, {text: text}) in (True, False)


@pytest.mark.parametrize(
    ("pattern", "text"),
    [
        ("İptal edildi", "Randevu iptal edildi."),
        ("iptal edildi", "RANDEVU İPTAL EDİLDİ"),
        ("küche", "In der Ku\u0308che brennt es"),
        ("straße", "Auf der STRASSE"),
        ("οδος", "ΟΔΟΣ 7"),
        ("office", "the o\ufb03ce is closed"),
    ],
)
def test_a_pattern_is_found_in_either_case_and_form(pattern: str, text: str) -> None:
    """Whichever of the two was written great, composed, or with a ligature."""
    assert matches(pattern, text, "note", "phone", {})
    assert matches(text, pattern + " " + text, "note", "phone", {})
