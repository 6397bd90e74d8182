"""`echoic bridge` beside a running instance: an engine is the body of a character."""

import asyncio
import re
import subprocess
from pathlib import Path

import pytest

pytest.importorskip("websockets", reason="the extra `engine` is not installed")

from websockets.asyncio.client import connect

from tests.echoic.cli.conftest import Program
from tests.echoic.doors.engines.engine import Engine, event
from tests.patience import PATIENCE_S

# Each waits for real servers.
pytestmark = [pytest.mark.services, pytest.mark.timeout(240)]

VILLAGE = """\
schema: 1
name: hamlet
version: 1.0.0
description: A place where one gets hungry.
events:
  - {type: body, means: body}
  - {type: completed}
mind:
  layers: [reflex]
  needs:
    hunger: {field: hunger, unmet: 100, met: 0}
  behaviours:
    seek_food: {priority: 40}
  reflexes:
    - {name: hungry, when: hunger < 0.6, behaviour: seek_food, target: bush}
"""


def test_an_engine_is_the_body_of_a_character(live: Program, tmp_path: Path) -> None:
    """It reports hunger, is told to eat, reports that it did, and is told again."""
    (tmp_path / "manifest.yaml").write_text(VILLAGE)
    loaded = live.here("pack", "load", str(tmp_path), "--agent", "aria")
    assert loaded.code == 0, loaded.err
    with live.start("bridge", "--agent", "aria", "--listen", "127.0.0.1:0") as process:
        try:
            first, second = asyncio.run(eats_twice(address_of(process), token(live)))
        finally:
            process.terminate()
            process.wait(timeout=PATIENCE_S)
    why = live.here("explain", first, "--agent", "aria")

    assert first != second
    assert "hungry" in why.out
    assert (live.data / "bridge.token").stat().st_mode & 0o077 == 0


async def eats_twice(address: str, secret: str) -> tuple[str, str]:
    """Be hungry twice; the decisions to eat."""
    decided = []
    headers = {"Authorization": f"Bearer {secret}"}
    async with connect(address, additional_headers=headers) as socket:
        body = Engine(socket)
        for number in range(2):
            await body.send(event(f"b{number}", fields={"hunger": 70 + number}))
            heard = {
                each["message"]: each for each in [await body.hear() for _ in "ab"]
            }
            assert set(heard) == {"kept", "action"}
            action = heard["action"]
            assert (action["action"]["type"], action["action"]["target"]) == (
                "seek_food",
                "bush",
            )
            decided.append(action["decision_id"])
            report = event(
                f"r{number}",
                type="completed",
                text="It ate.",
                in_reply_to=action["decision_id"],
                outcome="succeeded",
                fields={"hunger": 10},
            )
            assert (await body.ask(report))["message"] == "kept"
    return decided[0], decided[1]


@pytest.mark.parametrize("listen", ["7350", "localhost:", "localhost:99999", ":7350"])
def test_an_address_that_is_none_is_named(echoic: Program, listen: str) -> None:
    """Before anything is looked for."""
    ran = echoic.here("bridge", "--listen", listen)

    assert ran.code == 2
    assert "is no HOST:PORT" in ran.err


def test_an_empty_token_is_refused(echoic: Program, tmp_path: Path) -> None:
    """It would let in everybody."""
    (tmp_path / "token").write_text("\n")
    ran = echoic.here("bridge", "--token-file", str(tmp_path / "token"))

    assert ran.code == 2
    assert "holds no token" in ran.err


def token(live: Program) -> str:
    """The token that the bridge made."""
    return (live.data / "bridge.token").read_text()


def address_of(process: "subprocess.Popen[str]") -> str:
    """Where the bridge listens, once it does."""
    assert process.stderr is not None
    for line in iter(process.stderr.readline, ""):
        if found := re.search(r"ws://\S+", line):
            return found[0]
    raise AssertionError("it ended")
