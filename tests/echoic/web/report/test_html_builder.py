"""Markup: text is text wherever it goes in."""

import orjson
import pytest
from hypothesis import given
from hypothesis import strategies as st

from echoic.web.report.html_builder import Html, brief, data, el, join, prose, readable
from tests.echoic.web.report.page import taken_apart


@given(st.text())
def test_any_text_comes_out_as_it_went_in(text: str) -> None:
    """In an element or an attribute, a parser reads what `readable` shows."""
    html = el("p", text, title=text)
    page = taken_apart(html)

    assert [("p", {"title": readable(text)})] == page.elements
    assert " ".join(readable(text).split()) == page.words


@given(st.text())
def test_any_value_comes_out_of_a_data_block(text: str) -> None:
    """No text ends the block that holds it."""
    html = data("here", {"text": readable(text)})

    assert {"here": {"text": readable(text)}} == taken_apart(html).data
    assert html.count("<") == 2
    assert orjson.loads(html[html.index(">") + 1 : -len("</script>")])


@pytest.mark.parametrize(
    ("text", "shown"),
    [
        ("a\u202eb", "a⟨U+202E⟩b"),
        ("\x00", "⟨U+0000⟩"),
        ("\ud800", "⟨U+D800⟩"),
        ("line\none\ttab", "line\none\ttab"),
        ("👩‍🚀 café", "👩‍🚀 café"),
    ],
)
def test_what_cannot_be_seen_is_written_out(text: str, shown: str) -> None:
    """Controls and directions show; letters, lines and joined emoji stay."""
    assert shown.replace("⟨", "\u2329").replace("⟩", "\u232a") == readable(text)


def test_markup_goes_in_as_it_is() -> None:
    """Only what was made as markup does; attributes that do not hold are left out."""
    inner = el("b", "<", class_="x", hidden=True, title=None, inert=False)

    assert inner == '<b class="x" hidden>&lt;</b>'
    assert Html('<p><b class="x" hidden>&lt;</b> &amp; <br></p>') == el(
        "p", inner, " & ", None, el("br")
    )
    assert join(["a", "<b"], ", ") == "a, &lt;b"


def test_backquotes_mark_what_to_type() -> None:
    """Whole pairs become code; a lone one stays as it is."""
    assert prose("Try `echoic up` now") == "Try <code>echoic up</code> now"
    assert prose("a ` lone one") == "a ` lone one"


def test_a_long_name_is_cut() -> None:
    """And says so."""
    assert brief("short", 5) == "short"
    assert brief("longer", 5) == "longe…"
