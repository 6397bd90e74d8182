"""A strategy as text: the name, and what differs from its defaults."""

import pytest
from hypothesis import given
from hypothesis import strategies as st
from pydantic import JsonValue

from handlers.mind.strategies import spec
from handlers.mind.strategies.spec import StrategyTextError
from schemas.values.settings import StrategySpec


@pytest.mark.parametrize(
    ("text", "name", "parameters"),
    [
        ("heuristic_first", "heuristic_first", {}),
        (" urgency ", "urgency", {}),
        ("heuristic_first:threshold=0.6", "heuristic_first", {"threshold": 0.6}),
        ("x:a=1, b = two ,c=true", "x", {"a": 1, "b": "two", "c": True}),
        ("x:a=false,b=null,c=1e-3", "x", {"a": False, "b": None, "c": 0.001}),
        ("x:a=nan,b=inf", "x", {"a": "nan", "b": "inf"}),
        ("x:a=k=v", "x", {"a": "k=v"}),
        ("x:", "x", {}),
        ("mine:make", "mine:make", {}),
        ("my.own:make", "my.own:make", {}),
        ("mine:make:caution=2,mood=calm", "mine:make", {"caution": 2, "mood": "calm"}),
        ("mine:make:url=a:b", "mine:make", {"url": "a:b"}),
    ],
)
def test_a_text_names_a_strategy(
    text: str, name: str, parameters: dict[str, JsonValue]
) -> None:
    """The name up to the first colon, or module and function; then its parameters."""
    assert spec.parse(text) == StrategySpec(name=name, parameters=parameters)


@pytest.mark.parametrize(
    ("text", "says"),
    [
        ("", "names no strategy"),
        (":a=1", "names no strategy"),
        ("x" * 300, "names no strategy"),
        ("x:=1", "'=1' in 'x:=1' is no parameter"),
        ("x:a=", "'a=' in 'x:a=' is no parameter"),
        ("x:a=1,b", "'b' in 'x:a=1,b' is no parameter"),
        ("x:a=1,a=2", "'a' stands twice"),
    ],
)
def test_a_text_that_means_nothing_is_an_error(text: str, says: str) -> None:
    """It names the part that is wrong, and the form that would be right."""
    with pytest.raises(StrategyTextError, match=says):
        spec.parse(text)


@given(
    st.dictionaries(
        st.from_regex(r"[a-z_]{1,8}", fullmatch=True),
        st.one_of(
            st.integers(-1000, 1000),
            st.booleans(),
            st.none(),
            st.floats(-10, 10),
            st.sampled_from(["calm", "same"]),
        ),
        max_size=4,
    ),
    st.sampled_from(["urgency", "mine:make"]),
)
def test_what_is_written_is_read_again(
    parameters: dict[str, JsonValue], name: str
) -> None:
    """A specification and its text are the same thing."""
    given_spec = StrategySpec(name=name, parameters=parameters)

    assert spec.parse(spec.text_of(given_spec)) == given_spec
