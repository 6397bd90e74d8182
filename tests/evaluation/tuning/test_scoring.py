"""Scores of two settings on the same fires, and what is shown of them."""

import re

import pytest

from echoic.terminal import retuning
from echoic.terminal.screen import rendered
from evaluation.evidence.gather import gather
from evaluation.evidence.refold import Prediction
from evaluation.tuning.scoring import retuned, score
from replay.recording.source import of_file
from schemas.values.settings_by_name import TuningError
from tests.replay.evening import evening


async def test_equal_settings_score_equally() -> None:
    """Whatever is changed to what it is, nothing comes out otherwise."""
    evidence = await gather(of_file(evening(), "evening"))

    found = retuned(evidence, {"learning.gamma": 1.0, "learning.kappa": 2.0})

    assert found.predictions > 0
    assert found.recorded == found.retuned
    assert all(each.recorded == each.retuned for each in found.curves)


async def test_the_order_of_recordings_does_not_matter() -> None:
    """Time orders them."""
    evidence = await gather(of_file(evening(), "evening"))
    changes = {"learning.gamma": 0.9}

    assert retuned([*evidence, *evidence][::-1], changes) == retuned(
        [*evidence, *evidence], changes
    )


async def test_other_limits_change_where_a_heuristic_stands() -> None:
    """And no confidence."""
    evidence = await gather(of_file(evening(), "evening"))

    found = retuned(evidence, {"learning.frozen_below": 0.5})

    assert found.recorded == found.retuned
    lives = {each.retuned.lifecycle for each in found.curves}
    assert "active" in lives


async def test_the_screen_shows_both_sides() -> None:
    """The change, the scores beside their null band, and each heuristic's curves."""
    evidence = await gather(of_file(evening(), "evening"))

    found = retuned(evidence, {"learning.gamma": 0.9})
    lines = rendered(retuning.screen(found)).splitlines()

    assert lines[0] == "learning.gamma 1 → 0.9"
    assert any(line.startswith("Brier score") for line in lines)
    assert any(line.startswith("  by chance up to") for line in lines)
    fights = next(line for line in lines if line.startswith("fight-zombie"))
    assert len(re.findall(r"0\.\d\d → 0\.\d\d", fights)) == 2


async def test_the_json_holds_every_point() -> None:
    """With the values that were in force, and both scores."""
    evidence = await gather(of_file(evening(), "evening"))

    fields = retuned(evidence, {"learning.gamma": 0.9}).as_json()

    assert fields["changes"] == {"learning.gamma": {"before": [1.0], "after": 0.9}}
    assert isinstance(fields["heuristics"], list)
    assert fields["heuristics"][0]["recorded"]["points"]


async def test_an_unknown_setting_is_refused() -> None:
    """With those there are."""
    evidence = await gather(of_file(evening(), "evening"))

    with pytest.raises(TuningError, match=r"learning\.kappa"):
        retuned(evidence, {"learning.kapa": 1.0})


def test_what_nobody_knows_is_not_scored() -> None:
    """Without a known end there is no score; with ends alike there is no skill to have."""
    assert score([]) is None
    found = score([Prediction(1, "h@c", "f", 0.5, 1.0)])
    assert found is not None
    assert found.brier == 0.25


def test_a_long_curve_is_drawn_together() -> None:
    """From its first to its last point."""
    line = retuning.sparkline([each / 99 for each in range(100)])

    assert len(line) == 14
    assert (line[0], line[-1]) == ("▁", "█")
