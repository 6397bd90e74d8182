"""`echoic log archive`, and sessions that are replayed from where it keeps them."""

from pathlib import Path

import pytest

from tests.echoic.cli.conftest import Program, Ran
from tests.s3_server import s3_server

pytestmark = [pytest.mark.services, pytest.mark.slow, pytest.mark.timeout(300)]

AGENT = "archivist"
TO = "s3://bucket/kept"


def evening(live: Program, id_: str) -> None:
    """A session that began, had something to decide, and ended."""
    own = ("--agent", AGENT)
    assert live.here("session", "start", "--id", id_, *own).code == 0
    for words in ("The oven is on", "Nobody is home"):
        assert live.here("pub", words, "--wait", *own).code == 0
    assert live.here("session", "end", *own).code == 0


def test_sessions_are_replayed_from_a_store(live: Program, tmp_path: Path) -> None:
    """Stored once, listed, decided again, compared; of another byte nothing is believed."""
    evening(live, "one")
    bucket = tmp_path / "served" / "bucket"
    bucket.mkdir(parents=True)
    with s3_server(tmp_path / "served") as server:
        stores = server.environment

        def run(*arguments: str) -> Ran:
            return live.here(*arguments, **stores)

        first = run("log", "archive", "--to", TO, "--json")
        evening(live, "two")
        second = run("log", "archive", "--to", TO, "--json")
        third = run("log", "archive", "--to", TO, "--json")
        listed = run("log", "archive", "--to", TO, "--list", "--json")
        urls = {each["id"]: each["url"] for each in own_rows(listed)}
        verified = run("replay", "verify", urls["one"], "--json")
        both = (urls["one"], urls["two"], "--strategy", "always_llm", "--json")
        compared = run("replay", "compare", *both)
        exported = run(
            "session", "export", "one", "--agent", AGENT, "-o", str(tmp_path / "one")
        )
        stored = bucket / "kept" / urls["one"].removeprefix(f"{TO}/")
        same = stored.read_bytes() == (tmp_path / "one").read_bytes()
        missing = run("replay", "verify", f"{TO}/none.echoic")
        body = bytearray(stored.read_bytes())
        body[len(body) // 2] ^= 1
        stored.write_bytes(body)
        altered = live("replay", "verify", urls["one"], **stores)

    assert first.code == second.code == third.code == 0, first.err + second.err
    assert [each["id"] for each in own_rows(first)] == ["one"]
    assert [each["id"] for each in own_rows(second)] == ["two"]
    assert own_rows(third) == []
    assert set(urls) == {"one", "two"}
    assert verified.code == 0, verified.err
    assert verified.json["identical"] == verified.json["total"] > 0
    assert compared.code in (0, 1), compared.err
    assert exported.code == 0
    assert same
    assert missing.code == 1
    assert f"there is no {TO}/none.echoic" in missing.err
    assert altered.code == 2
    assert "not what was stored" in altered.err


def own_rows(ran: Ran) -> list[dict[str, str]]:
    """What was printed of this test's agent."""
    return [each for each in ran.json["rows"] if each["agent"] == AGENT]
