"""Characters are of the same sort under every Python."""

import re
import sys
import unicodedata
from itertools import groupby

import pytest
from hypothesis import given
from hypothesis import strategies as st

from schemas.packs import condition_parser
from schemas.values import unicode_text
from schemas.values.unicode14 import RUNS

UNICODE_14 = unicodedata.unidata_version == "14.0.0"
SPACES = (
    *range(0x09, 0x0E), *range(0x1C, 0x21), 0x85, 0xA0, 0x1680, *range(0x2000, 0x200B),
    0x2028, 0x2029, 0x202F, 0x205F, 0x3000,
)  # fmt: skip
TEXT = st.text(st.characters(exclude_categories=["Cs"]))


def sort_of(number: int) -> str:
    """What sort a character is to this Python."""
    each = chr(number)
    category = unicodedata.category(each)
    if category == "Cn":
        return "u"
    if each.isalnum():
        return "n" if each.isdecimal() else "w"
    if category in ("Mn", "Mc"):
        return "m"
    return "p" if each.isprintable() else "q"


def runs() -> str:
    """What `RUNS` would be by this Python; it was made by Python 3.11."""
    sorts = groupby(map(sort_of, range(sys.maxunicode + 1)))
    return "".join(f"{len(list(run)):x}{sort}" for sort, run in sorts)


def expanded() -> list[str]:
    """The sort of each character, by its number."""
    found = re.findall("([0-9a-f]+)([a-z])", RUNS)
    return [sort for length, sort in found for _ in range(int(length, 16))]


@pytest.mark.skipif(not UNICODE_14, reason="another Python made the table")
def test_the_table_is_what_python_3_11_says() -> None:
    """Whoever makes it anew prints `runs()` there."""
    assert runs() == RUNS


def test_what_was_assigned_stays_what_it_is() -> None:
    """No later Python sees another sort in it, nor another folded case of a letter."""
    changed = [
        hex(number)
        for number, sort in enumerate(expanded())
        if sort not in ("u", sort_of(number))
    ]

    assert changed == []


def test_white_space_is_the_same_everywhere() -> None:
    """So text may be split and stripped by the interpreter's own means."""
    found = [each for each in range(sys.maxunicode + 1) if chr(each).isspace()]

    assert found == list(SPACES)
    assert all(re.fullmatch(r"\s", chr(each)) for each in found)


@pytest.mark.skipif(not UNICODE_14, reason="what prints is that of Python 3.11")
@given(TEXT)
def test_a_text_is_quoted_as_python_3_11_does(text: str) -> None:
    """What Unicode 14 prints stands as it is; the rest is escaped."""
    assert unicode_text.quoted(text) == repr(text)


@given(TEXT)
def test_a_text_has_the_words_of_its_normal_forms(text: str) -> None:
    """Composed or not, in either case: the same words; and nothing raises."""
    known = unicode_text.assigned(text)
    words = unicode_text.words(known)

    assert all(words)
    assert words == unicode_text.words(unicodedata.normalize("NFC", known))
    assert words == unicode_text.words(unicodedata.normalize("NFD", known))


ALIKE = (
    ("İptal edildi", "iptal edildi"),
    ("İPTAL EDİLDİ", "iptal edildi"),
    ("I\u0307ptal", "iptal"),
    ("İptal".lower(), "iptal"),
    ("IŞIK", "\u0131ş\u0131k"),
    ("I\u0307\u0301", "í"),
    ("İ\u0301", "\u00cd"),
    ("Straße", "STRASSE"),
    ("STRA\u1e9eE", "straße"),
    ("ΟΔΟΣ", "οδος"),
    ("ὀδός", "ὈΔΌΣ"),
    ("ﬁnden", "FINDEN"),
    ("ﬄ", "ffl"),
    ("\u212a", "k"),
    ("\u212b", "å"),
    ("Küche", "Ku\u0308che"),
    ("KU\u0308CHE", "küche"),
    ("\uff11\uff12 \uff35hr", "12 uhr"),
    ("\u017fehr", "sehr"),
    ("Ǆ", "ǆ"),
    ("Ⅷ", "viii"),
)


@pytest.mark.parametrize(("one", "other"), ALIKE)
def test_neither_case_nor_normal_form_counts(one: str, other: str) -> None:
    """Of words, and of texts that are compared whole."""
    for normal in ("NFC", "NFD"):
        as_sent = unicodedata.normalize(normal, one)
        assert unicode_text.words(as_sent) == unicode_text.words(other)
        assert unicode_text.folded(as_sent) == unicode_text.folded(other)


@given(TEXT)
def test_folding_again_changes_nothing(text: str) -> None:
    """What was levelled is its own form, so that it may be kept and compared later."""
    known = unicode_text.folded(text)

    assert unicode_text.folded(known) == known


def test_what_came_later_is_no_letter() -> None:
    """U+1E4D0, a letter since Unicode 15, and U+1FA77, an emoji since 15."""
    assert unicode_text.words("So\U0001e4d0on") == ["so", "on"]
    assert unicode_text.quoted("a\U0001fa77é") == "'a\\U0001fa77é'"
    with pytest.raises(condition_parser.ConditionError):
        condition_parser.parse("\U0001e4d0 = 1")


def test_fields_of_conditions_have_letters_of_all_scripts() -> None:
    """As ever: a letter first, then digits too, of any script."""
    for field in ("größe", "höhe2", "_é", "数.値", "a-é", "x²"):
        read = condition_parser.parse(f"{field} > 1")
        assert read.part == condition_parser.Comparison(
            field, ">", (1,), f"{field} > 1"
        )
    with pytest.raises(condition_parser.ConditionError):
        condition_parser.parse("٣é = 1")
