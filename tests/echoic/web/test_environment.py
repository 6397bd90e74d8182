"""Templates: text is text wherever it goes in."""

import orjson
import pytest
from hypothesis import given
from hypothesis import strategies as st
from markupsafe import Markup

from echoic.web.environment import brief, environment, prose, readable
from tests.echoic.web.report.page import taken_apart

_TEMPLATES = environment({}, {})


@given(st.text())
def test_any_text_comes_out_as_it_went_in(text: str) -> None:
    """In an element or an attribute, a parser reads what `readable` shows."""
    template = _TEMPLATES.from_string('<p title="{{ text }}">{{ text }}</p>')
    page = taken_apart(template.render(text=text))

    assert [("p", {"title": readable(text)})] == page.elements
    assert " ".join(readable(text).split()) == page.words


@given(st.text())
def test_any_value_comes_out_of_a_data_block(text: str) -> None:
    """No text ends the block that holds it."""
    block = '<script type="application/json" id="here">{{ value | tojson }}</script>'
    html = _TEMPLATES.from_string(block).render(value={"text": readable(text)})

    assert {"here": {"text": readable(text)}} == taken_apart(html).data
    assert html.count("<") == 2
    assert orjson.loads(html[html.index(">") + 1 : -len("</script>")])


@given(st.text())
def test_no_prose_is_markup(text: str) -> None:
    """A sentence from outside has code in it, and no other element."""
    names = {name for name, _ in taken_apart(prose(text)).elements}

    assert names <= {"code"}


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
    """Only what was made as markup does; nothing at all leaves nothing."""
    template = _TEMPLATES.from_string("{{ made }}{{ given }}{{ absent }}")

    assert (
        template.render(made=Markup("<b>{}</b>").format("<"), given="<i>", absent=None)
        == "<b>&lt;</b>&lt;i&gt;"
    )


def test_a_line_break_between_tags_is_no_space() -> None:
    """A template is written in lines, and its page has none; in a text it is a space."""
    template = _TEMPLATES.from_string("<p>\n  <b>{{ 1 }}</b>\n  of\n  two\n</p>\n")

    assert template.render() == "<p><b>1</b> of two </p>"


def test_backquotes_mark_what_to_type() -> None:
    """Whole pairs become code; a lone one stays as it is."""
    assert prose("Try `echoic up` now") == "Try <code>echoic up</code> now"
    assert prose("a ` lone one") == "a ` lone one"


def test_a_long_name_is_cut() -> None:
    """And says so."""
    assert brief("short", 5) == "short"
    assert brief("longer", 5) == "longe…"
