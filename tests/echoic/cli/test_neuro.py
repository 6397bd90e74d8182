"""`echoic neuro` beside a running instance: a scripted game is played through it."""

import asyncio
import json
import re
from collections.abc import AsyncIterator, Iterator
from contextlib import asynccontextmanager
from typing import Any

import pytest

pytest.importorskip("websockets", reason="the extra `engine` is not installed")

from websockets.asyncio.client import ClientConnection, connect
from websockets.exceptions import ConnectionClosed, InvalidStatus

from echoic.client.connection import connect as connect_to
from echoic.config.load import load
from schemas.values.subjects import input_subject, partition_of
from tests.echoic.cli.conftest import Program
from tests.patience import PATIENCE_S

# Each waits for real servers.
pytestmark = [pytest.mark.services, pytest.mark.timeout(240)]

AGENT = "nora"
GAME = "Card Table"
PACK = """\
schema: 1
name: cards
version: 1.0.0
events:
  - {type: context, source: game}
  - {type: force, source: game}
heuristics:
  - name: ace_first
    condition: It is your turn, play a card
    when: type = "force" and tries = 0
    action:
      text: The ace.
      action: {type: play, params: {card: ace}}
    confidence: 0.9
"""
CARDS = {
    "type": "object",
    "properties": {"card": {"type": "string", "enum": ["ace", "king", "queen"]}},
    "required": ["card"],
}
ACTIONS = [
    {"name": "play", "description": "Play a card.", "schema": CARDS},
    {"name": "pass", "description": "Do nothing."},
]


class Game:
    """A game with an SDK of the Neuro API."""

    def __init__(self, socket: ClientConnection) -> None:
        self.socket = socket

    async def send(self, command: str, **data: Any) -> None:
        """Send a command."""
        await self.socket.send(
            json.dumps({"command": command, "game": GAME, "data": data})
        )

    async def force(self, *names: str, query: str = "What now?") -> None:
        """Have one of these actions chosen."""
        await self.send(
            "actions/force", query=query, state="Ace, king.", action_names=names
        )

    async def asked(self) -> dict[str, Any]:
        """The action that is asked for next, as it must be by the specification."""
        async with asyncio.timeout(PATIENCE_S):
            told = json.loads(await self.socket.recv())
        assert told["command"] == "action"
        assert set(told["data"]) <= {"id", "name", "data"}
        return dict(told["data"])

    async def tell(
        self, asked: dict[str, Any], *, success: bool, message: str = ""
    ) -> None:
        """Say how an action went."""
        await self.send(
            "action/result", id=asked["id"], success=success, message=message
        )


@pytest.fixture(scope="module")
def table(live: Program, tmp_path_factory: pytest.TempPathFactory) -> Iterator[str]:
    """Where a companion that knows about cards waits for a game."""
    folder = tmp_path_factory.mktemp("cards")
    (folder / "manifest.yaml").write_text(PACK)
    loaded = live.here("pack", "load", str(folder), "--agent", AGENT)
    assert loaded.code == 0, loaded.err
    options = ("--agent", AGENT, "--listen", "127.0.0.1:0", "--patience-s", "3")
    with live.start("neuro", *options) as process:
        try:
            assert process.stderr is not None
            lines = (re.search(r"ws://\S+", line) for line in process.stderr)
            yield next(found[0] for found in lines if found)
        finally:
            process.terminate()
            process.wait(timeout=PATIENCE_S)


@asynccontextmanager
async def game(table: str) -> AsyncIterator[Game]:
    """A game that has begun, with its actions."""
    async with connect(table) as socket:
        playing = Game(socket)
        await playing.send("startup")
        await playing.send("actions/register", actions=ACTIONS)
        yield playing


async def test_a_game_is_played(live: Program, table: str) -> None:
    """What the mind knows is done; after a failure something else is, and chance says so."""
    async with game(table) as playing:
        await playing.send("context", message="The table is set.", silent=True)
        await playing.force("play", query="It is your turn, play a card")
        first = await playing.asked()
        await playing.tell(first, success=False, message="The ace is gone.")
        second = await playing.asked()
        await playing.tell(second, success=True)
        await playing.force("pass", "unknown")
        third = await playing.asked()
        await playing.tell(third, success=True, message="You passed.")
        results = await results_of(live, 3)

    assert (first["name"], json.loads(first["data"])) == ("play", {"card": "ace"})
    assert second["name"] == "play"
    assert json.loads(second["data"])["card"] in ("king", "queen")
    assert third["name"] == "pass"
    assert "data" not in third
    assert len({first["id"], second["id"], third["id"]}) == 3
    told = [
        (each["fields"]["by"], each["outcome"], each["in_reply_to"]["event_id"])
        for each in results
    ]
    assert told == [
        ("decision", "failed", first["id"]),
        ("chance", "overridden", second["id"]),
        ("chance", "overridden", third["id"]),
    ]


async def test_a_game_that_comes_back_goes_on(table: str) -> None:
    """Registered again or not; what it knows no more is not asked for."""
    async with game(table) as playing:
        await playing.send("actions/unregister", action_names=["play", "unknown"])
        await playing.force("play", "pass")
        assert (await playing.asked())["name"] == "pass"
    async with connect(table) as socket:
        back = Game(socket)
        await back.send("actions/register", actions=ACTIONS[1:])
        await back.force("play", "pass")
        assert (await back.asked())["name"] == "pass"
        await back.send("startup")
        await back.send("actions/register", actions=ACTIONS[:1])
        await back.force("play", "pass")
        assert (await back.asked())["name"] == "play"


async def test_what_is_wrong_is_passed_over(table: str) -> None:
    """The game goes on, as the specification knows no answer to it."""
    async with game(table) as playing:
        for wrong in (
            "{",
            "[]",
            b"\xff",
            '{"command": "sing", "game": "x"}',
            "[" * 9_000,
        ):
            await playing.socket.send(wrong)
        await playing.tell({"id": "unknown"}, success=True)
        await playing.force("nothing of the sort")
        await playing.force("pass")

        assert (await playing.asked())["name"] == "pass"


async def test_the_second_game_takes_the_place_of_the_first(table: str) -> None:
    """A companion plays one at a time; pages of strangers play none."""
    async with game(table) as first, game(table) as second:
        with pytest.raises(ConnectionClosed):
            await first.asked()
        await second.force("pass")
        assert (await second.asked())["name"] == "pass"
    with pytest.raises(InvalidStatus):
        await connect(table, origin="https://evil.example")  # type: ignore[arg-type]


async def results_of(live: Program, count: int) -> list[dict[str, Any]]:
    """The first results that the log holds, once there are so many."""
    found: list[dict[str, Any]] = []
    settings = load({"data": str(live.data)}, environment={})
    async with connect_to(settings) as connection, asyncio.timeout(PATIENCE_S):
        subject = input_subject(partition_of(AGENT), AGENT, "sensor", "game.result")
        async for records in connection.log.follow(subject, 0, 100):
            found += [json.loads(each.body) for each in records]
            if len(found) >= count:
                return found
    raise AssertionError(found)
