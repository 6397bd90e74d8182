"""Topics of MQTT as subjects of NATS, and back."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from schemas.values import topics
from schemas.values.subjects import is_token


@pytest.mark.parametrize(
    ("topic", "expected"),
    [
        ("in/ada/home/oven", "in/ada/home/oven"),
        ("in/ada/home/Living Room", "in/ada/home/Living_x0020_Room"),
        ("in/ada/home/a.b", "in/ada/home/a_x002E_b"),
        ("in/ada/home/Küche", "in/ada/home/K_x00FC_che"),
        ("in/ada/home/😀", "in/ada/home/_x0001F600_"),
        ("in/ada/home/+", "in/ada/home/_x002B_"),
        ("in/ada/home/#", "in/ada/home/_x0023_"),
        ("in/ada/home/*", "in/ada/home/_x002A_"),
        ("in/ada/home/", "in/ada/home/_x_"),
        ("in/ada//oven", "in/ada/_x_/oven"),
        ("in/ada/home/hall/lamp", "in/ada/home/hall_x002F_lamp"),
        ("in/ada/home/a/ /b", "in/ada/home/a_x002F__x0020__x002F_b"),
        ("in/ada/home/a_x0020_b", "in/ada/home/a_x005F_x0020_b"),
        ("in/ada/home/_x_", "in/ada/home/_x005F_x_"),
        ("in/ada/home/max_x1", "in/ada/home/max_x1"),
        ("in/ada/home", "in/ada/home"),
        ("homeassistant/sensor/a.b/config", "homeassistant/sensor/a.b/config"),
        ("other/Living Room", "other/Living_x0020_Room"),
        ("/a//b", "/a//b"),
    ],
)
def test_a_topic_is_carried_as_one_that_nats_knows(topic: str, expected: str) -> None:
    """Most stay as they are."""
    assert topics.carried(topic) == expected


@given(
    st.lists(
        st.text(st.characters(codec="utf-8", exclude_characters="/")),
        min_size=4,
        max_size=6,
    )
)
def test_the_rule_can_be_reversed(levels: list[str]) -> None:
    """Whatever the topic, its subject has four tokens and gives it back."""
    topic = "/".join(["in", *levels[1:]])

    carried = topics.carried(topic)

    tokens = carried.split("/")
    assert len(tokens) == 4
    assert all(is_token(each) for each in tokens if len(each) <= 64)
    back = topics.original(carried.replace("/", "."))
    assert (back or carried) == topic
