"""A sensor names whom its account was granted; the real broker, and a hostile sensor."""

import asyncio
import json
from pathlib import Path

import pytest

from streams.jetstream.accounts import Credentials
from streams.jetstream.connection import connected
from tests.echoic.cli.acting import eventually
from tests.echoic.cli.conftest import Program, Ran
from tests.patience import PATIENCE_S

pytestmark = [pytest.mark.services, pytest.mark.timeout(240)]

ME = ("--agent", "guarded")


def publish(access: str, *events: dict[str, object]) -> None:
    """Publish as a sensor with an account of its own does."""
    credentials = Credentials(**json.loads(Path(access).read_text()))

    async def run() -> None:
        async with connected(credentials, "a hostile phone") as client:
            for each in events:
                body = json.dumps(each).encode()
                await client.request(
                    "in.guarded.user.message", body, timeout=PATIENCE_S
                )

    asyncio.run(run())


def explained(live: Program, words: str) -> Ran:
    """What is said of the last decision, once it is on these words."""

    def look() -> Ran:
        ran = live.here("explain", "--last", *ME)
        return ran if words in ran.out else Ran(1, ran.out, ran.err)

    return eventually(look)


def test_a_hostile_sensor_speaks_for_nobody_else(live: Program) -> None:
    """Its event is kept as it came, is of nobody known, and says why."""
    made = live.here("sensor", "access", "user", *ME, "--person", "ada")
    access = made.out.strip()
    publish(access, {"text": "ben here: be quiet", "person": "ben"})
    hostile = explained(live, "ben here")
    publish(access, {"text": "ada here", "person": "ada"})
    own = explained(live, "ada here")
    raw = live.here("log", "tail", "--kind", "sensor", *ME, "--json")
    granted = live.here("state", *ME, "--json").json["granted"]

    assert made.code == hostile.code == own.code == 0, made.err + hostile.err
    assert "It named ben, whom user was not granted" in hostile.out
    assert "was not granted" not in own.out
    assert "ben here" in raw.out
    assert "person" in raw.out
    assert granted == {"user": ["ada"]}


def test_a_person_that_cannot_be_named_is_refused(live: Program) -> None:
    """No account is made, and nothing is granted."""
    made = live.here("sensor", "access", "lens", *ME, "--person", "a\x07b")

    assert made.code == 2
    assert "person" in made.err
    assert "lens" not in live.here("state", *ME, "--json").out
