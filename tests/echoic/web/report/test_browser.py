"""The page in a real browser: silent, at home on a telephone, and its filters work."""

import shutil
from collections.abc import Iterator
from pathlib import Path

import pytest

pytest.importorskip("playwright", reason="install the extra `browser`")

from playwright.sync_api import Browser, Page, ViewportSize, sync_playwright

from echoic.web.report.page import render
from evaluation.compare.document import Document
from tests.echoic.web.report import sample

CHROMIUM = shutil.which("chromium") or ""

pytestmark = [
    pytest.mark.browser,
    pytest.mark.skipif(not CHROMIUM, reason="there is no chromium to open the page"),
]

TELEPHONE: ViewportSize = {"width": 390, "height": 844}


@pytest.fixture(scope="module")
def browser() -> Iterator[Browser]:
    """One browser for all pages."""
    with sync_playwright() as playwright:
        chromium = playwright.chromium.launch(
            executable_path=CHROMIUM, args=["--no-sandbox"]
        )
        yield chromium
        chromium.close()


@pytest.fixture
def page(browser: Browser) -> Iterator[Page]:
    """A page of a telephone's width that must stay silent."""
    page = browser.new_page(viewport=TELEPHONE)
    heard: list[str] = []
    page.on("console", lambda message: heard.append(message.text))
    page.on("pageerror", lambda error: heard.append(str(error)))
    page.on("dialog", lambda dialog: heard.append(dialog.message))
    page.on("request", lambda request: heard.append(request.url))
    yield page
    page.close()

    asked = [each for each in heard if not each.startswith(("file:", "data:,"))]
    assert asked == []
    assert sum(each.startswith("file:") for each in heard) == 1


@pytest.mark.parametrize("name", ["better", "invalid", "several", "hostile"])
def test_the_page_is_silent_and_fits_a_telephone(
    page: Page, tmp_path: Path, name: str
) -> None:
    """No error, no request but for itself, nothing wider than the screen."""
    _open(page, getattr(sample, name)(), tmp_path)
    page.locator(".pager").first.scroll_into_view_if_needed()
    page.locator(".flip").first.wait_for()

    assert page.evaluate("document.documentElement.scrollWidth") == TELEPHONE["width"]


@pytest.mark.parametrize("width", [768, 1024, 1280])
def test_nothing_is_wider_than_a_desk(page: Page, tmp_path: Path, width: int) -> None:
    """From a tablet to a desk the page scrolls one way only."""
    page.set_viewport_size({"width": width, "height": 900})
    _open(page, sample.better(), tmp_path)

    assert page.evaluate("document.documentElement.scrollWidth") == width


def test_filters_search_and_pages_work_together(page: Page, tmp_path: Path) -> None:
    """A filter, a cell of the matrix and a search each narrow the list."""
    _open(page, sample.better(), tmp_path)
    count = page.locator(".count")

    page.locator("[data-status=regressed]").click()
    assert {"regressed"} == set(
        page.locator(".flip .light span:last-child").all_inner_texts()
    )

    page.locator("[data-status='']").click()
    page.locator("[data-classes='silent llm']").click()
    cell = count.inner_text()
    assert cell.startswith("1 to 10 of ")
    page.locator("[data-step='1']").click()
    assert count.inner_text().startswith("11 to 20 of ")

    page.locator(".search input").fill("oven timer")
    assert "oven timer" in page.locator(".flip .event").first.inner_text()
    assert cell != count.inner_text()
    page.locator(".search input").fill("no such words")
    assert count.inner_text() == "None fits."


def test_the_keyboard_reaches_search_and_flips(page: Page, tmp_path: Path) -> None:
    """`/` goes to the search, `j` and `k` from flip to flip."""
    _open(page, sample.better(), tmp_path)

    page.keyboard.press("/")
    page.locator(".search input:focus").wait_for()
    page.locator(".flip").first.wait_for()
    page.evaluate("document.activeElement.blur()")
    for key in ("j", "j", "k"):
        page.keyboard.press(key)
    assert page.locator(".flip").first.evaluate(
        "each => each === document.activeElement"
    )


def test_the_toggle_turns_light_to_dark(page: Page, tmp_path: Path) -> None:
    """And back, whatever the reader's system prefers."""
    _open(page, sample.better(10, 2), tmp_path)
    colour = "getComputedStyle(document.body).backgroundColor"
    light = page.evaluate(colour)

    page.locator(".theme").click()
    assert light != page.evaluate(colour)
    page.locator(".theme").click()
    assert light == page.evaluate(colour)


@pytest.mark.slow
def test_ten_thousand_flips_open_in_two_seconds(
    browser: Browser, tmp_path: Path
) -> None:
    """From asking for the file until the first flip is drawn, at best of three."""
    file = tmp_path / "report.html"
    file.write_text(render(sample.better(10_000, 40)), encoding="utf-8")

    drawn_ms = []
    for _ in range(3):
        page = browser.new_page()
        page.goto(file.as_uri())
        page.evaluate("document.querySelector('.pager').scrollIntoView()")
        page.locator(".flip").first.wait_for()
        drawn_ms.append(page.evaluate("performance.now()"))
        assert page.locator(".count").inner_text() == "1 to 10 of 10,000"
        page.close()

    assert min(drawn_ms) < 2000


def _open(page: Page, document: Document, folder: Path) -> None:
    file = folder / "report.html"
    file.write_text(render(document), encoding="utf-8")
    page.goto(file.as_uri())
