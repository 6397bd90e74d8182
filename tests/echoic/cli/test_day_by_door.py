"""The bytes that a sender has for a day, through each door of a running instance."""

import asyncio
from collections.abc import Mapping

import pytest

pytest.importorskip("mcp", reason="the extra `mcp` is not installed")

from mcp.server.mcpserver.exceptions import ToolError

from echoic.client import asking, storage
from echoic.client.connection import connect
from echoic.config.load import load
from echoic.doors.mcp.reach import Reach
from echoic.doors.mcp.rights import Rights
from echoic.doors.mcp.voting import Voting
from echoic.errors import EchoicError
from tests.echoic.cli.conftest import DAY_BYTES, Program

pytestmark = [pytest.mark.services, pytest.mark.timeout(240)]

SPENT = ("spent.cam", "spent.user", "spent.bob", "spent.services")


def test_each_door_refuses_who_has_sent_its_day(live: Program) -> None:
    """By one count: whom it names, why, and when it is free again; `doctor` names them all.

    The HTTP door's tokens have a test of their own; engines and devices have accounts, which
    the broker refuses.
    """
    said, named = asyncio.run(refusals(live))
    for arguments in (
        ("outcome", "last", "success"),
        ("pub", "Hello", "--source", "cam"),
    ):
        ran = live.here(*arguments, "--agent", "spent")
        assert ran.code == 1
        said[arguments[0]] = ran.err

    for door, words in said.items():
        assert "is refused: 8,192.0 MB today, intake.day_mb allows 8,192.0" in words, (
            door
        )
        assert "again from 00:00 UTC" in words, door
    assert named.is_short
    for sender in SPENT:
        assert f"{sender}, 8,192.0 MB today" in named.found


async def refusals(live: Program) -> tuple[dict[str, str], storage.Storage]:
    """What services and the tool of an MCP server say, and what `doctor` does."""
    settings = load(environment=live.environment)
    rights, words = Rights(actor="bob"), {"text": "Hello", "source": "cam", "type": "t"}
    said: dict[str, str] = {}
    async with connect(settings) as connection:
        client = connection.client
        id_ = (await asking.ask(client, "spent", "process", words))["response_id"]
        for sender in SPENT:
            live.spend(sender, DAY_BYTES)
        bodies: dict[str, Mapping[str, str]] = {
            "process": words,
            "sense": words,
            "message": {"text": "Hello"},
            "feedback": {"decision_id": id_, "rating": "positive", "actor": "bob"},
            "control": {"control": "session_ended"},
        }
        for service, body in bodies.items():
            with pytest.raises(EchoicError) as refused:
                await asking.ask(client, "spent", service, body)
            said[service] = refused.value.what
        voting = Voting(Reach(settings, lambda: rights))
        with pytest.raises(ToolError) as unheard:
            await voting.feedback(id_, "positive", agent="spent")
        said["mcp"] = str(unheard.value)
        return said, await storage.look(connection)
