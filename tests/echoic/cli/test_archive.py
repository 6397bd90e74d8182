"""`echoic log archive`, and sessions that are replayed from where it keeps them."""

from pathlib import Path

import pytest

from tests.echoic.cli.conftest import Program, Ran

pytestmark = [pytest.mark.services, pytest.mark.slow, pytest.mark.timeout(300)]

AGENT = "archivist"


def evening(live: Program, id_: str) -> None:
    """A session that began, had something to decide, and ended."""
    own = ("--agent", AGENT)
    assert live.here("session", "start", "--id", id_, *own).code == 0
    for words in ("The oven is on", "Nobody is home"):
        assert live.here("pub", words, "--wait", *own).code == 0
    assert live.here("session", "end", *own).code == 0


def test_sessions_are_replayed_from_an_archive(live: Program, tmp_path: Path) -> None:
    """Stored once, listed, decided again, compared; of another byte nothing is believed."""
    evening(live, "one")
    to = str(tmp_path / "kept")
    first = live.here("log", "archive", "--to", to, "--json")
    evening(live, "two")
    second = live.here("log", "archive", "--to", to, "--json")
    third = live.here("log", "archive", "--to", to, "--json")
    listed = live.here("log", "archive", "--to", to, "--list", "--json")
    files = {each["id"]: each["file"] for each in own_rows(listed)}
    verified = live.here("replay", "verify", files["one"], "--json")
    both = (files["one"], files["two"], "--strategy", "always_llm", "--json")
    compared = live.here("replay", "compare", *both)
    exported = live.here(
        "session", "export", "one", "--agent", AGENT, "-o", str(tmp_path / "one")
    )
    stored = Path(files["one"])
    same = stored.read_bytes() == (tmp_path / "one").read_bytes()
    body = bytearray(stored.read_bytes())
    body[len(body) // 2] ^= 1
    stored.write_bytes(body)
    altered = live.here("replay", "verify", files["one"])

    assert first.code == second.code == third.code == 0, first.err + second.err
    assert [each["id"] for each in own_rows(first)] == ["one"]
    assert [each["id"] for each in own_rows(second)] == ["two"]
    assert own_rows(third) == []
    assert set(files) == {"one", "two"}
    assert verified.code == 0, verified.err
    assert verified.json["identical"] == verified.json["total"] > 0
    assert compared.code in (0, 1), compared.err
    assert exported.code == 0
    assert same
    assert altered.code != 0


def own_rows(ran: Ran) -> list[dict[str, str]]:
    """What was printed of this test's agent."""
    return [each for each in ran.json["rows"] if each["agent"] == AGENT]
