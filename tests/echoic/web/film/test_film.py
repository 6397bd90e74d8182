"""The film of a day: one silent page, whatever was said, that plays and can be scrubbed."""

import shutil
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from echoic.scene.recorded import Step
from echoic.scene.reel import LIMIT, fitted, reel_of
from echoic.scene.scene import Scene
from echoic.scene.shares import Shares
from echoic.web.film.page import render
from tests.handlers.mind.characters.village import villager
from tests.scenario import Scenario, decision_id

pytest.importorskip("playwright", reason="install the extra `browser`")

from playwright.sync_api import Page, sync_playwright

CHROMIUM = shutil.which("chromium") or ""
HOSTILE = "</script><img src=x onerror=alert(1)><!--<script> \u202e\x00 \"'`{{7*7}}"


def in_browser(test: Any) -> Any:
    """Mark a test that opens the page."""
    reason = "there is no chromium to open the page"
    return pytest.mark.browser(pytest.mark.skipif(not CHROMIUM, reason=reason)(test))


def played() -> tuple[Scene, list[Step]]:
    """A villager's day: it eats, walks, and everything that it is told is hostile."""
    pack, steps = villager(), list[Step]()
    scenario, scene = Scenario(pack), Scene()
    scene.know(scenario.agent, (pack,))

    def report(fields: dict[str, Any], **more: Any) -> None:
        turn = scenario.sense(
            HOSTILE, source="world", type_="body", fields=fields, **more
        )
        steps.append((turn.outputs[0].at, turn.input, list(turn.outputs)))

    where = {"place": HOSTILE, "weather": HOSTILE, "hour": 23.5}
    report({"needs": {"hunger": 0.5, "energy": 80}, "x": 1, "y": 2, **where})
    done = decision_id(scenario.turns[-1])
    scenario.wait(60)
    report({"x": 9, "y": 5}, in_reply_to=done, outcome="failed", reason=HOSTILE)
    scenario.wait(600)
    report({"x": 1e9, "y": "north"})
    return scene, steps


def page_of(tmp_path: Path) -> Path:
    """Write the page of that day."""
    scene, steps = played()
    shares = Shares()
    for _, _, outputs in steps:
        shares.take(outputs)
    fields = reel_of(scene, steps).fields()
    # As words that a model said, and under a name that nobody checked.
    fields["told"].append([700.0, 0, "says", HOSTILE, HOSTILE, HOSTILE, "01a1"])
    fields["who"][0]["words"].append([0.0, 700.0, HOSTILE])
    fields["map"]["spots"].append([HOSTILE, 2, 2, 3, 3])
    fields["who"][0]["name"] = HOSTILE
    path = tmp_path / "day.html"
    path.write_text(render(fields, {HOSTILE: shares}, HOSTILE, "0"), encoding="utf-8")
    return path


def test_the_reel_tells_where_somebody_was_and_what_it_did() -> None:
    """Positions, deeds and their ends by seconds; a position that is none is null."""
    scene, steps = played()
    fields = reel_of(scene, steps).fields()
    (aria,) = fields["who"]

    assert aria["moves"][0] == [0.0, 1.0, 2.0]
    assert [60.0, 9.0, 5.0] in aria["moves"]
    assert aria["moves"][-1] == [660.0, None, None]
    assert aria["deeds"][0][:4] == [0.0, 60.0, "seek food", "reflex"]
    assert [each[4] for each in fields["told"] if each[2] == "ends"] == [
        "seek food: failed"
    ]
    assert fields["ends"] == 660.0
    assert fields["thinned"] == ""


def test_the_same_day_is_the_same_bytes(tmp_path: Path) -> None:
    """Nothing of when it was made is in it."""
    assert page_of(tmp_path).read_bytes() == page_of(tmp_path).read_bytes()


def test_a_reel_that_is_too_long_is_thinned_and_says_so() -> None:
    """However much happened, the page stays under its limit."""
    rows = [
        [float(n), 0, "does", "reflex", "wander " * 9, "", ""] for n in range(40_000)
    ]
    actor: dict[str, list[object]] = {
        "moves": [],
        "deeds": [],
        "words": [],
        "absences": [],
        "talks": [],
    }
    found = fitted({"told": rows, "who": [actor], "thinned": ""})

    assert len(str(found)) < LIMIT * 1.2
    assert found["thinned"].endswith("of 40,000 things that happened")


@pytest.fixture
def page(tmp_path: Path) -> Iterator[Page]:
    """The page, open, in silence: no error, no request, no dialog."""
    with sync_playwright() as playwright:
        chromium = playwright.chromium.launch(
            executable_path=CHROMIUM, args=["--no-sandbox"]
        )
        opened = chromium.new_page(viewport={"width": 390, "height": 844})
        heard: list[str] = []
        opened.on("console", lambda message: heard.append(message.text))
        opened.on("pageerror", lambda error: heard.append(str(error)))
        opened.on("dialog", lambda dialog: heard.append(dialog.message))
        opened.on("request", lambda request: heard.append(request.url))
        opened.goto(page_of(tmp_path).as_uri())
        yield opened
        chromium.close()
    assert [each for each in heard if not each.startswith(("file:", "data:,"))] == []


@in_browser
def test_whatever_was_said_is_text(page: Page) -> None:
    """No element comes of it, and it is told as it was said."""
    assert page.locator("img").count() == 0
    assert page.locator("script").count() == 3
    assert "onerror=alert(1)" in page.locator("#map .bubble").inner_text()
    assert "</script>" in page.locator("#list").inner_text()
    fits = "document.documentElement.scrollWidth <= innerWidth"
    assert page.evaluate(fits)


@in_browser
def test_it_is_scrubbed_stepped_and_played_by_keys(page: Page) -> None:
    """And each thing that happened links its time."""
    clock = page.locator("#clock")
    begin = clock.inner_text()
    page.keyboard.press("j")
    stepped = clock.inner_text()
    page.locator("#time").focus()
    page.keyboard.press("End")
    at_end = clock.inner_text()

    assert len({begin, stepped, at_end}) == 3
    assert "Not on the map" in page.locator("#beyond").inner_text()

    page.locator("#list a", has_text="seek food: failed").click()
    # The page hears of its address's change a moment after the click.
    page.wait_for_url("**#t=60")
    page.wait_for_function(
        "told => document.querySelector('#clock').innerText === told", arg=stepped
    )
    page.locator("h1").click()
    page.keyboard.press(" ")
    assert page.locator("#play").inner_text() == "Pause"
    page.keyboard.press(" ")
    assert page.locator("#play").inner_text() == "Play"
    page.select_option("#by-kind", "plans")
    assert page.locator("#count").inner_text().startswith("0 of")


def test_shares_count_what_needed_a_model() -> None:
    """A reflex asked nobody; a reel's hours are those of its own time."""
    _, steps = played()
    found = Shares()
    for _, _, outputs in steps:
        found.take(outputs)

    assert found.layers["reflex"] >= 1
    assert found.without_model == 1.0
    assert (found.calls, found.calls_an_hour) == (0, 0.0)
    assert found.hours == pytest.approx(660 / 3_600)
    assert Shares().without_model is None
