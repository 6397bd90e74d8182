"""The page of the docs in a real browser, at the WebSocket listener of a real instance."""

import shutil
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from functools import partial
from http.server import SimpleHTTPRequestHandler, ThreadingHTTPServer
from urllib.parse import urlencode

import pytest

pytest.importorskip("playwright", reason="install the extra `browser`")

from playwright.sync_api import Browser, Page, sync_playwright

from tests.echoic.cli.conftest import Program
from tests.echoic.cli.listeners.conftest import AGENT, access, account, port_of
from tests.pythons import ROOT

CHROMIUM = shutil.which("chromium") or ""

pytestmark = [
    pytest.mark.services,
    pytest.mark.browser,
    pytest.mark.timeout(240),
    pytest.mark.skipif(not CHROMIUM, reason="there is no chromium to open the page"),
]


class _Quiet(SimpleHTTPRequestHandler):
    def log_message(self, *_: object) -> None:
        """Say nothing."""


@contextmanager
def served(port: int) -> Iterator[str]:
    """A web server with the page, and its address."""
    handler = partial(_Quiet, directory=str(ROOT / "docs" / "browser"))
    with ThreadingHTTPServer(("127.0.0.1", port), handler) as server:
        threading.Thread(target=server.serve_forever).start()
        try:
            yield f"http://127.0.0.1:{server.server_port}/page.html"
        finally:
            server.shutdown()


@pytest.fixture(scope="module")
def browser(house: Program) -> Iterator[Browser]:
    """A browser, once the companion has something to say."""
    # Before: its library has an event loop of its own in this thread.
    access(house, AGENT, "page")
    taught = house.here(
        "heuristic", "seed", "--condition", "The kettle boils", "--say",
        "Your tea is ready — ça va ☕.", "--domain", "page", "--confidence", "0.9",
        "--agent", AGENT,
    )  # fmt: skip
    assert taught.code == 0, taught.err
    with sync_playwright() as playwright:
        chromium = playwright.chromium.launch(
            executable_path=CHROMIUM, args=["--no-sandbox"]
        )
        yield chromium
        chromium.close()


def opened(browser: Browser, url: str, house: Program, password: str) -> Page:
    """The page, as a source `page`."""
    own = {
        "at": f"127.0.0.1:{port_of(house, 'websocket')}",
        "agent": AGENT,
        "source": "page",
        "password": password,
    }
    page = browser.new_page()
    page.goto(f"{url}#{urlencode(own)}")
    return page


def readiness(page: Page, expected: str) -> None:
    """Wait until the page is in, or shut out."""
    page.wait_for_function("want => document.body.dataset.ready === want", arg=expected)


def test_a_page_tells_and_shows_the_answer(browser: Browser, house: Program) -> None:
    """An event of its account goes in, and what the companion says of it is shown."""
    password = account(house, AGENT, "page")["password"]
    with served(port_of(house, "origins")) as url:
        page = opened(browser, url, house, password)
        readiness(page, "yes")
        page.fill("#words", "The kettle boils")
        page.click("button")
        page.wait_for_function("() => answer.textContent !== ''")

        assert page.text_content("#kept") == "kept"
        assert page.text_content("#answer") == "Your tea is ready — ça va ☕."
        page.close()


@pytest.mark.parametrize(
    "line",
    [
        "PUB in.ada.other.message 2\\r\\nhi\\r\\n",
        "PUB in.ben.page.message 2\\r\\nhi\\r\\n",
        "PUB in.ada.page.control 2\\r\\n{}\\r\\n",
        "PUB svc.ada.state _INBOX.ada.page.page 2\\r\\n{}\\r\\n",
        "PUB $JS.API.STREAM.DELETE.LOG 0\\r\\n\\r\\n",
        "SUB ev.> 9\\r\\n",
        "SUB out.ben.> 9\\r\\n",
        "SUB > 9\\r\\n",
    ],
)
def test_a_page_can_do_nothing_else(
    browser: Browser, house: Program, line: str
) -> None:
    """It neither speaks as another, nor asks, nor hears what is not for it."""
    password = account(house, AGENT, "page")["password"]
    with served(port_of(house, "origins")) as url:
        page = opened(browser, url, house, password)
        readiness(page, "yes")
        page.evaluate(f'send("{line}PING\\r\\n")')
        page.wait_for_function("() => kept.textContent.startsWith('-ERR')")

        assert "Permissions Violation" in (page.text_content("#kept") or "")
        page.close()


def test_pages_of_elsewhere_and_wrong_passwords_are_shut_out(
    browser: Browser, house: Program
) -> None:
    """A page of another origin does not get in with the right password, either."""
    password = account(house, AGENT, "page")["password"]
    with served(0) as elsewhere, served(port_of(house, "origins")) as here:
        for url, given in ((elsewhere, password), (here, "wrong")):
            page = opened(browser, url, house, given)
            readiness(page, "closed")
            page.close()
