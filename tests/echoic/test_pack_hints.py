"""Mistakes that many make in a manifest: each has one hint, and it is right."""

import pytest
from rich.cells import cell_len

from echoic.packs.load import check, render
from tests.echoic.packs.test_load import GOOD


@pytest.fixture
def write(tmp_path):
    """Write a manifest and return its folder."""

    def write(text):
        (tmp_path / "manifest.yaml").write_text(text)
        return tmp_path

    return write


@pytest.mark.parametrize(
    ("before", "after", "code", "advice"),
    [
        ("timeout_sec: 60", "is_success: yes", "E-PACK-006", "(write true)"),
        ("timeout_sec: 60", "is_success: Off", "E-PACK-006", "(write false)"),
        ("timeout_sec: 60", "is_success: may", "E-PACK-006", "(write true or false)"),
        ("confidence: 0.8", "confidence: 1.8", "E-PACK-006", "equal to 0.95"),
        ("minutes <= 3", "minutes =< 3", "E-PACK-007", "(write <=)"),
    ],
)
def test_a_common_mistake_has_one_hint(write, before, after, code, advice):
    """What one is used to elsewhere is answered by what to write here."""
    (problem,) = check(write(GOOD.replace(before, after))).problems

    assert problem.code == code
    assert advice in render(problem)
    assert "Value error" not in render(problem)


def test_a_caret_stands_below_its_place_behind_wide_characters(write):
    """Each of them takes two columns."""
    text = GOOD.replace('type = "oven_done"', 'name = "暖炉" and x == 1')
    (problem,) = check(write(text)).problems
    _, excerpt, caret = render(problem).splitlines()

    assert cell_len(caret) - 1 == cell_len(excerpt[: excerpt.index("==")])
