"""A door under requests that nobody should send: what it takes is in the log once.

`python -m bench.fuzz http` sends 20,000 of them and kills the door meanwhile.
"""

import asyncio
from typing import Any
from urllib.parse import urlsplit
from uuid import uuid4

import pytest

pytest.importorskip("fastapi", reason="the extra `http` is not installed")

import httpx

from bench.fuzz.http import Held, flood, held, judge
from bench.fuzz.requests import Maker, Token
from echoic.client.connection import connect
from echoic.config.load import load
from tests.echoic.cli.conftest import Program
from tests.echoic.cli.http.conftest import ALL
from tests.echoic.cli.http.test_http import decided_until
from tests.patience import PATIENCE_S

# It waits for real servers.
pytestmark = [pytest.mark.services, pytest.mark.timeout(240)]

COUNT = 400
SOURCES = ("cam", "user")


def test_what_the_door_takes_is_in_the_log_once(live: Program, door: str) -> None:
    """And what it refuses is not; whatever is cut off, sent again, or no HTTP at all."""
    tokens = [token(live, agent) for agent in ("fay", "gus")]
    decisions, ledger_of_firsts = dict[str, str](), dict[str, str]()
    for each in tokens:
        made = decision(door, each)
        decisions[each.agent] = made["id"]
        ledger_of_firsts[made["message"]["event_id"]] = ""
    maker = Maker("test", tokens, decisions)

    port = urlsplit(door).port or 0
    ledger = asyncio.run(flood(maker, range(COUNT), port, lambda: None))
    ledger.accepted |= ledger_of_firsts
    for each in tokens:
        # All that came before it is answered by then.
        ledger.accepted[decision(door, each)["message"]["event_id"]] = ""
    found = asyncio.run(log_of(live, tokens))

    assert judge(maker, ledger, found) == []
    assert sum(ledger.asked.values()) == COUNT
    assert len(ledger.accepted) > COUNT / 2
    assert len(ledger.refused) > COUNT / 20
    assert ledger.cut > COUNT / 40
    assert ledger.votes


def token(live: Program, agent: str) -> Token:
    """A token with every scope."""
    name = f"t{uuid4().hex[:12]}"
    limits = ("--per-s", "100000", "--burst", "100000")
    sources = [each for source in SOURCES for each in ("--source", source)]
    ran = live.here(
        "http", "token", name, "--agent", agent, "--json", *ALL, *sources, *limits
    )
    assert ran.code == 0, ran.err
    return Token(name, ran.json["token"], agent, SOURCES)


def decision(door: str, own: Token) -> Any:
    """Send an event, and return what was decided on it."""
    headers = {"Authorization": f"Bearer {own.secret}"}
    with httpx.Client(base_url=door, headers=headers, timeout=PATIENCE_S) as client:
        sent = client.post("/v1/events", json={"type": "seen", "text": "x"})
        event_id = sent.json()["events"][0]["event_id"]
        return decided_until(client, event_id, own.agent)[-1]


async def log_of(live: Program, tokens: list[Token]) -> Held:
    """What the log holds of the agents of these tokens."""
    settings = load({"data": str(live.data)}, environment={})
    async with connect(settings) as connection:
        return await held(connection.log, [each.agent for each in tokens])
