"""The page: whole, alone, the same each time, and safe whatever a sensor said."""

import re
from collections.abc import Callable
from dataclasses import replace
from importlib.resources import files

import pytest

from echoic.web.report.page import POLICY, render
from evaluation.compare.charts import WeightsPart
from evaluation.compare.document import Document, Drift
from tests.echoic.web.report import sample
from tests.echoic.web.report import sample_parts as parts
from tests.echoic.web.report.page import taken_apart

Made = Callable[[], Document]

SAMPLES: tuple[Made, ...] = (
    sample.better,
    sample.not_enough_overlap,
    sample.invalid,
    sample.several,
    sample.personality,
    sample.hostile,
)
every_sample = pytest.mark.parametrize("made", SAMPLES, ids=lambda made: made.__name__)

SECTIONS = (
    "Checks",
    "Success",
    "What happens",
    "What would change this verdict",
    "Who answers",
    "Where they differ",
    "Cost, latency, success",
    "Weights",
    "Calibration",
    "Confidence",
    "Sessions, side by side",
    "Outcome",
    "Strategies",
    "How to make this again",
)


@every_sample
def test_every_section_is_there(made: Made) -> None:
    """A section without data says why instead of being left out."""
    words = taken_apart(render(made())).words

    assert [section for section in SECTIONS if section not in words] == []


@every_sample
def test_the_page_asks_nobody_for_anything(made: Made) -> None:
    """No script, style, letter or picture comes from elsewhere, and none could."""
    html = render(made())
    page = taken_apart(html)

    addresses = [*page.having("src"), *page.having("href")]
    assert [each for each in addresses if not each.startswith(("#", "data:,"))] == []
    assert not re.search(r"url\(|@import|srcset|https?:", html)
    assert POLICY in page.having("content")


@every_sample
def test_the_same_document_gives_the_same_bytes(made: Made) -> None:
    """However often it is made."""
    assert render(made()) == render(made())


@every_sample
def test_every_id_is_there_once_and_every_link_leads_to_one(made: Made) -> None:
    """The page's own links all lead somewhere."""
    page = taken_apart(render(made()))

    ids = page.having("id")
    assert len(ids) == len(set(ids))
    assert {each[1:] for each in page.having("href") if each[0] == "#"} <= set(ids)


def test_hostile_words_stay_words() -> None:
    """Markup, turned directions and controls from outside do nothing but show."""
    html = render(sample.hostile())
    page = taken_apart(html)

    names = [name for name, _ in page.elements]
    assert "img" not in names
    assert names.count("script") == 2
    handlers = [name for _, attributes in page.elements for name in attributes]
    assert not [name for name in handlers if name.startswith("on")]
    assert not re.search("[\x00-\x08\x0b-\x1f\u202a-\u202e\u2066-\u2069]", html)
    assert "\N{FOX FACE}" in page.words
    flip = page.data["c0-flips-data"][0]
    assert flip["text"].startswith("</script><img src=x onerror=alert(1)>")
    assert "U+202E" in flip["text"]
    assert "more characters" in flip["text"]


def test_the_verdict_is_readable_without_script_and_colour() -> None:
    """Verdict, estimand, reasons and each check's status stand there as words."""
    document = sample.better()
    (comparison,) = document.comparisons
    words = taken_apart(render(document)).words

    assert "\N{BLACK UP-POINTING TRIANGLE} Better in the moment" in words
    assert comparison.estimand in words
    assert "+0.075 95 % interval +0.016 to +0.134" in words
    for reason in comparison.reasons:
        assert reason.detail in words
    for gate in comparison.estimate.difference.gates:
        assert gate.detail in words
    assert "! caution Tried where they differ 49 30" in words


def test_without_overlap_only_bounds_are_given() -> None:
    """No point is drawn or written where the recording supports none."""
    html = render(sample.not_enough_overlap())
    words = taken_apart(html).words

    assert "Not enough overlap" in words
    assert "\N{MINUS SIGN}0.120 to +0.180 bounds; no value can be given" in words
    assert "+0.075" not in html
    assert "refused Tried where they differ 8 30" in words


def test_an_invalid_recording_shows_where_it_differs() -> None:
    """The first difference is named and marked, and nothing is claimed."""
    html = render(sample.invalid())
    words = taken_apart(html).words

    assert "First difference: body of session s03, input 112, output 1" in words
    assert "<mark><bdi dir=&quot;" not in html
    assert re.search(r"<mark><bdi[^>]*>933333,", html)
    assert "Difference in success" not in words


def test_several_challengers_are_told_side_by_side() -> None:
    """Each has its own part, and the corrected p stands beside the raw one."""
    page = taken_apart(render(sample.several()))

    assert "2 challengers" in page.words
    assert "0.022 raw 0.011" in page.words
    assert {"c0-flips-data", "c1-flips-data"} == page.data.keys()


def test_a_stub_is_watermarked() -> None:
    """Made-up answers are told at the top and across the page."""
    html = render(sample.several())

    assert html.count("stub: the model&#39;s answers are made up") == 13
    assert 'class="watermark"' not in render(sample.better())


def test_a_comparison_without_anything_is_still_a_page() -> None:
    """Empty lists and missing parts leave gaps, not errors."""
    document = sample.better(0, 0)
    bare = replace(
        document.comparisons[0],
        reasons=(), next=(), facts=(), headline=(), estimate=parts.nothing(), holm=None,
        sensitivity=(), would_change=(), matrix=(), flips_total=0, flips=(),
        drift=Drift(decisions=0, differ=0),
        tradeoff=(), calibration=None, curves=(), timeline=(), breakdown=(),
        weights=WeightsPart(), cassette=parts.cassette(0, 0),
    )  # fmt: skip
    document = replace(document, comparisons=(bare,), sessions=())

    words = taken_apart(render(document)).words
    assert "No confidence" not in words
    assert "No heuristic's confidence moved." in words


def test_the_script_is_short_enough_to_read() -> None:
    """Under 250 lines, and it never takes text for markup."""
    script = files("echoic.web.report").joinpath("page.js").read_text("utf-8")

    assert len(script.splitlines()) < 250
    for unsafe in (
        "innerHTML",
        "outerHTML",
        "insertAdjacent",
        "document.write",
        "eval",
    ):
        assert unsafe not in script
