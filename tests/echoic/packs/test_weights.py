"""Warnings about the weights of an autonomous character."""

from pathlib import Path

import pytest

from echoic.packs.load import check

PACK = """\
schema: 1
name: cafe
version: "1.0"
mind:
  autonomous:
    actions: [{id: Wave, kind: gesture}]
    weights: WEIGHTS
"""


@pytest.mark.parametrize(
    ("weights", "warnings"),
    [
        ("{wander: 0.6, look: 0.4}", []),
        ("{wander: 0.6, look: 0.405}", []),
        ("{wander: 2}", ["the weights add up to 2: they count in proportion"]),
        ("{wander: 0}", ["the weights add up to nothing: it only wanders"]),
    ],
)
def test_weights_that_do_not_add_up_are_warned_of(
    tmp_path: Path, weights: str, warnings: list[str]
) -> None:
    """They count in proportion; without any the character wanders."""
    manifest = tmp_path / "manifest.yaml"
    manifest.write_text(PACK.replace("WEIGHTS", weights))
    found = check(tmp_path).problems
    assert [each.message for each in found] == warnings
    assert all(each.severity == "warning" for each in found)
