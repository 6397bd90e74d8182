"""What language models are told: bounded, without controls, foreign text as data."""

import json
import re
from datetime import UTC, datetime
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from echoic.doors.mcp.marking import REPLY_BYTES, marked

ANYTHING = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text(max_size=50),
    lambda inner: (
        st.lists(inner, max_size=4)
        | st.dictionaries(st.text(max_size=9), inner, max_size=4)
    ),
    max_leaves=20,
)


def texts(value: Any) -> list[str]:
    """All texts within a value."""
    match value:
        case str():
            return [value]
        case dict():
            return [text for each in value.values() for text in texts(each)]
        case list():
            return [text for each in value for text in texts(each)]
        case _:
            return []


@given(st.dictionaries(st.text(max_size=9), ANYTHING, max_size=5))
def test_every_text_is_a_plain_word_or_data(value: dict[str, Any]) -> None:
    """And what is told is JSON that any reader takes."""
    found = marked(value)

    json.dumps(found, allow_nan=False)
    for text in texts(found):
        if re.fullmatch(r"[A-Za-z0-9_.:/@+-]*", text) is None:
            assert re.fullmatch(r'<data>"[^<>]*"</data>', text)
            json.loads(text.removeprefix("<data>").removesuffix("</data>"))
            assert not re.search("[\x00-\x1f\x7f-\x9f\u202a-\u202e]", text)


def test_our_own_words_stay_plain() -> None:
    """Ids, names and moments are not data; figures are rounded."""
    at = datetime(2026, 5, 4, tzinfo=UTC)

    assert marked({"id": "a-1", "at": at, "share": 0.12345678}) == {
        "id": "a-1",
        "at": "2026-05-04T00:00:00Z",
        "share": 0.123457,
    }


@pytest.mark.parametrize(
    "huge",
    [
        {"rows": [{"text": "long words " * 100, "id": "x" * 64}] * 5_000},
        {"fields": {f"field {n}": "some words" * 90 for n in range(500)}},
        {"deep": [[[[[[[[[["end"] * 9] * 9] * 9] * 9] * 9] * 9]]]]},
    ],
)
def test_a_result_has_a_bound(huge: dict[str, Any]) -> None:
    """However much there is; a list that was cut says so."""
    found = marked(huge)

    assert len(json.dumps(found).encode()) <= REPLY_BYTES
    assert "error" not in found
    rows = found.get("rows")
    if isinstance(rows, list):
        assert rows[-1] == {"left_out": 5_000 - len(rows) + 1}
