"""A door beside a running instance, and clients of it."""

import re
import subprocess
from collections.abc import Callable, Iterator
from uuid import uuid4

import pytest

pytest.importorskip("fastapi", reason="the extra `http` is not installed")

import httpx

from tests.echoic.cli.conftest import Program
from tests.patience import PATIENCE_S

AGENT = "anna"
"""Whose token it is, unless the test names another."""

ALL = (
    "--scope",
    "events",
    "--scope",
    "read",
    "--scope",
    "feedback",
    "--scope",
    "outcomes",
)
Client = Callable[..., httpx.Client]


def address_of(process: "subprocess.Popen[str]") -> str:
    """Where the door listens, once it does."""
    assert process.stderr is not None
    for line in process.stderr:
        found = re.search(r"(https?://[^/]+)/v1/openapi\.json", line)
        if found:
            return found[1]
    raise AssertionError("the door did not start")


@pytest.fixture(scope="session")
def door(live: Program) -> Iterator[str]:
    """Where a door listens."""
    listen = ("--listen", "127.0.0.1:0", "--origin", "https://home.example")
    with live.start("http", "serve", *listen) as process:
        try:
            yield address_of(process)
        finally:
            process.terminate()
            process.wait(timeout=PATIENCE_S)


@pytest.fixture
def client(live: Program, door: str) -> Iterator[Client]:
    """Makes clients with a token of their own."""
    made: list[httpx.Client] = []

    def make(*options: str, agent: str = AGENT, name: str = "") -> httpx.Client:
        own = name or f"t{uuid4().hex[:12]}"
        ran = live.here("http", "token", own, "--agent", agent, "--json", *options)
        assert ran.code == 0, ran.err
        headers = {"Authorization": f"Bearer {ran.json['token']}"}
        made.append(httpx.Client(base_url=door, headers=headers, timeout=PATIENCE_S))
        return made[-1]

    yield make
    for each in made:
        each.close()
