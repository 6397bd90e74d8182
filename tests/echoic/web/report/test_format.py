"""Wording: numbers with their units, and nothing in place of what is not known."""

from typing import Any

import pytest

from echoic.web.report.format import (
    arm_name,
    counted,
    gate_sign,
    interval,
    label,
    number,
    percent,
    signed,
    verdict_sign,
)

DASH = "\N{EN DASH}"
MINUS = "\N{MINUS SIGN}"


@pytest.mark.parametrize(
    ("value", "unit", "written"),
    [
        (None, "", DASH),
        (True, "", "yes"),
        (0, "", "0"),
        (1204.0, "", "1,204"),
        (12345.6, "", "12,346"),
        (0.5, "", "0.5"),
        (-0.0312, "", f"{MINUS}0.031"),
        (0.0004, "", "0.0004"),
        (0.71, "share", "0.710"),
        (0.1209, "percent", "12.1\N{NO-BREAK SPACE}%"),
        (310.0, "ms", "310 ms"),
        (1210.0, "ms", "1.21 s"),
        (0.0007, "USD", "$0.0007"),
        (3.5, "USD", "$3.50"),
        (60.0, "s", "60 s"),
        ((0.48, 0.56), "USD", "$0.48 to $0.56"),
        ("cassette", "", "cassette"),
    ],
)
def test_a_number_wears_its_unit(value: Any, unit: str, written: str) -> None:
    """As short as it can be without being taken for another."""
    assert written == number(value, unit)


def test_a_difference_wears_its_sign() -> None:
    """A plus too; none is a plain 0, and an unknown one a dash."""
    assert signed(240) == "+240"
    assert signed(-0.41, "USD") == f"{MINUS}$0.41"
    assert signed(0.0) == "0"
    assert signed(None) == DASH
    assert interval((0.016, 0.134)) == "+0.016 to +0.134"


def test_words_for_machines_names() -> None:
    """Arms lose their class and most of their hashes, names their underscores."""
    assert arm_name("heuristic:drink-soon@3f2a1b99") == "drink-soon@3f2a1b"
    assert arm_name("llm:llama3.2@c0ffee12@77aa") == "llama3.2@c0ffee"
    assert arm_name("heuristic:b737f757-7dbd-582e-b874-3b9756739f13@1") == "b737f757@1"
    assert arm_name("silent") == "silent"
    assert label("flip_observations") == "Flip observations"
    assert [counted(1, "flip"), counted(1204, "flip")] == ["1 flip", "1,204 flips"]
    assert [percent(share) for share in (0.0, 0.004, 0.3, 1.0)] == [
        "0\N{NO-BREAK SPACE}%",
        "0.4\N{NO-BREAK SPACE}%",
        "30\N{NO-BREAK SPACE}%",
        "100\N{NO-BREAK SPACE}%",
    ]


def test_what_is_not_known_shows_by_its_own_name() -> None:
    """A verdict or status of a later version is not swallowed."""
    assert verdict_sign("MUCH_BETTER").words == "Much better"
    assert gate_sign("odd").words == "odd"
