"""Drawings: zero in the middle, the same scale for all, nothing off the field."""

import re
from dataclasses import replace
from typing import Any

import pytest

from echoic.web.report import drawings
from echoic.web.report.figures import Effect, Scale, around_zero, nice
from echoic.web.report.page import render, templates
from evaluation.compare.charts import CurvePart, Timeline, TimelineEvent, TradeoffPoint
from tests.echoic.web.report import sample

MARKS: Any = templates().get_template("report/marks.html").module
CHARTS: Any = templates().get_template("report/charts.html").module


def test_zero_is_in_the_middle_of_a_common_scale() -> None:
    """However far the differences go, and to whichever side."""
    scale = around_zero(
        [Effect(0.02), Effect(None, bounds=(-0.12, 0.18)), Effect(None)]
    )

    assert (scale.low, scale.high) == (-0.2, 0.2)
    assert scale(0.0) == 50.0
    assert scale(9.0) == 97.0


def test_bounds_alone_have_no_point() -> None:
    """A point is drawn only where there is a value; hollow without an interval."""
    scale = Scale(-1.0, 1.0)

    assert "circle" not in MARKS.effect_bar(Effect(None, bounds=(-0.1, 0.2)), scale)
    assert "hollow" in MARKS.effect_bar(Effect(0.1), scale)
    drawn = MARKS.effect_bar(Effect(0.1, (0.05, 0.2)), scale)
    assert "hollow" not in drawn
    assert "difference +0.100, interval +0.050 to +0.200" in drawn
    assert "no difference can be given" in MARKS.effect_bar(Effect(None), scale)


@pytest.mark.parametrize(
    ("size", "round_number"), [(0.134, 0.15), (0.2, 0.2), (7.0, 8.0), (1210.0, 1500.0)]
)
def test_an_axis_ends_at_a_round_number(size: float, round_number: float) -> None:
    """At or beyond the greatest value."""
    assert nice(size) == pytest.approx(round_number)


def test_an_amount_that_is_not_known_has_no_bar() -> None:
    """And nothing at all is drawn as next to nothing."""
    assert MARKS.pair(None, 3.0, "").count("<rect") == 1
    assert 'width="0.60%"' in MARKS.pair(0.0, 0.0, "")


@pytest.mark.parametrize(("error", "tone"), [(0.04, "good"), (0.06, "bad")])
def test_an_error_beyond_chance_stands_out(error: float, tone: str) -> None:
    """Within what chance gives it is good, beyond it bad."""
    document = sample.better()
    (comparison,) = document.comparisons
    assert comparison.calibration is not None
    calibration = replace(comparison.calibration, ece=error)
    found = replace(comparison, calibration=calibration)

    page = render(replace(document, comparisons=(found,)))
    drawn = page[page.index('<div class="chance-line">') :]
    assert f'class="point {tone}"' in drawn[: drawn.index("</svg>")]


def test_a_success_that_is_not_estimated_is_hollow() -> None:
    """It stands at the foot of the trade-off; what has no cost has no place."""
    points = tuple(
        TradeoffPoint(
            label=label,
            cost_usd=cost,
            latency_ms=None,
            success=success,
            kind="estimated",
        )
        for label, cost, success in (
            ("a", 0.1, 0.6),
            ("b", 0.5, None),
            ("c", None, 0.7),
        )
    )
    comparison = replace(sample.better().comparisons[0], tradeoff=points)
    drawn = CHARTS.tradeoff(drawings.priced(comparison, "cost_usd"), "Cost", "USD")

    assert re.findall(r'class="(point [^"]*)"', drawn) == ["point a", "point b hollow"]


def test_a_curve_holds_its_height_until_the_next_point() -> None:
    """Confidence moves at updates, not between them."""
    assert drawings.steps([(0, 1), (2, 5)]) == "M0.0 1.0H2.0V5.0"


def test_a_long_curve_is_thinned_and_keeps_its_end() -> None:
    """A thousand updates are no clearer than some hundreds."""
    points = tuple(
        (f"2026-11-14T{n // 60:02}:{n % 60:02}:00Z", n / 1000) for n in range(1000)
    )
    drawn = CHARTS.confidence(
        CurvePart(heuristic="x", name="x", session="s", baseline=points, challenger=())
    )

    assert len(drawn) < 12_000
    assert "baseline ends at 0.999" in drawn


def test_moments_in_one_place_are_one_stroke() -> None:
    """Two thousand decisions stay small, and each difference is counted."""
    events = tuple(
        TimelineEvent(
            at=f"2026-11-14T19:{n // 60 % 60:02}:{n % 60:02}Z",
            baseline="silent",
            challenger="llm" if n % 2 else "silent",
            outcome=None,
        )
        for n in range(2000)
    )
    drawn = CHARTS.session(Timeline(session="s", events=events))

    assert len(drawn) < 60_000
    assert "2,000 decisions, 1,000 differences (50\N{NO-BREAK SPACE}%)" in drawn
    assert "Nothing was decided." in CHARTS.session(Timeline(session="s", events=()))
