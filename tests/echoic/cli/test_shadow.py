"""`echoic shadow`: another strategy beside the one that decides, on a live instance."""

import json
import signal

import pytest

from tests.echoic.cli.acting import thirsty, watching
from tests.echoic.cli.conftest import Program
from tests.patience import PATIENCE_S

# Each command is a process of its own, or waits for real servers.
pytestmark = [pytest.mark.services, pytest.mark.timeout(240)]


def test_a_shadow_tells_what_it_would_have_done(live: Program) -> None:
    """One object a decision, with both arms; nothing is written by it."""
    before = ("shadow", "silent", "--json", "--limit", "2", "--agent", "shadow1")
    with watching(live, *before) as process:
        for drink in (3, 1):
            thirsty(live, "shadow1", drink, f"Your drink is low: {drink} of 9.")
        out, err = process.communicate(timeout=PATIENCE_S)
    first, second, totals = (json.loads(line) for line in out.splitlines())

    assert process.returncode == 0, err
    assert first["event"]["text"] == "Your drink is low: 3 of 9."
    assert first["done"]["arm"].startswith("heuristic:")
    assert first["would"] == {
        "arm": "silent",
        "text": None,
        "silence": "strategy_silent",
    }
    assert (first["is_flip"], first["agreement"]) == (True, 0.0)
    assert second["so_far"]["decisions"] == 2
    assert totals["totals"] == {
        "decisions": 2,
        "gated": 0,
        "flips": 2,
        "agreement": 0.0,
    }
    assert live.here("replay", "verify", "--agent", "shadow1").code == 0


def test_ctrl_c_ends_a_shadow_with_the_totals(live: Program) -> None:
    """Agreement is not shown line by line; at the end it is told in all."""
    with watching(live, "shadow", "heuristic_first", "--agent", "shadow2") as process:
        thirsty(live, "shadow2", 3, "Your drink is low: 3 of 9.")
        thirsty(live, "shadow2", 2, "Your drink is low: 2 of 9.")
        with watching(
            live, "shadow", "silent", "--limit", "1", "--agent", "shadow2"
        ) as other:
            thirsty(live, "shadow2", 1, "Your drink is low: 1 of 9.")
            flips, err = other.communicate(timeout=PATIENCE_S)
        process.send_signal(signal.SIGINT)
        out, told = process.communicate(timeout=PATIENCE_S)

    assert process.returncode == 0, told
    assert "agrees 1.0 over" in out
    assert "0 flips" in out
    assert other.returncode == 0, err
    assert "→ silent (strategy_silent)" in flips


def test_a_shadow_is_a_strategy(live: Program) -> None:
    """What is none is refused before anything is followed."""
    ran = live.here("shadow", "genius")

    assert ran.code == 2
    assert "there is no strategy 'genius'" in ran.err
