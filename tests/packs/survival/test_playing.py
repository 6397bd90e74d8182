"""A real game, played without a broker."""

import json
import subprocess
import sys
from collections.abc import Sequence
from datetime import UTC, datetime
from pathlib import Path
from uuid import UUID

from packs.survival.sensor.playing import Plan, Played, play
from schemas.messages.sensing import Sensed
from schemas.values.record import Wire
from tests.patience import PATIENCE_S

ROOT = Path(__file__).parents[3]
PLAN = Plan(agent="steve", base=datetime(2026, 1, 1, tzinfo=UTC), run="test", steps=150)


async def played(plan: Plan) -> list[Wire]:
    """What the sensor publishes when nobody answers."""
    sent: list[Wire] = []

    async def publish(message: Wire) -> None:
        sent.append(message)

    async def hear(ids: Sequence[str]) -> Sequence[bytes]:
        return ()

    await play(plan, publish, hear)
    return sent


async def test_a_game_tells_events_that_echoic_can_read() -> None:
    """Each has its subject, a UUIDv7, a time of the game, and the shape of an event."""
    sent = await played(PLAN)

    assert 20 < len(sent) < 150
    ids = [message.headers["ce-id"] for message in sent]
    assert len(set(ids)) == len(ids)
    assert all(UUID(id_).version == 7 for id_ in ids)
    times = []
    for message in sent:
        root, agent, source, type_ = message.subject.split(".")
        event = Sensed.from_fields(json.loads(message.body))
        assert (root, agent, source) == ("in", "steve", "crafter")
        assert "Nats-Msg-Id" not in message.headers
        assert event.text.endswith(".")
        assert type_ == "life_started" or event.fields
        assert event.occurred_at is not None
        times.append(event.occurred_at)
    assert times == sorted(times)
    assert times[0] == PLAN.base


async def test_followed_advice_is_reported_once_each() -> None:
    """Whatever is advised, a decision that is followed has one report and one callback."""
    reported: list[tuple[str, str]] = []
    sent: list[Wire] = []

    async def publish(message: Wire) -> None:
        sent.append(message)

    async def hear(ids: Sequence[str]) -> Sequence[bytes]:
        return [_advice(f"decision-{id_}") for id_ in ids]

    async def on_report(decision_id: str, outcome: str) -> None:
        reported.append((decision_id, outcome))

    result: Played = await play(PLAN, publish, hear, on_report)

    bodies = [json.loads(message.body) for message in sent]
    reports = [(b["in_reply_to"], b["outcome"]) for b in bodies if "in_reply_to" in b]
    assert reports
    assert reports == reported == list(result.reports)
    assert len({decision_id for decision_id, _ in reports}) == len(reports)
    assert result.heard >= len(reports)


def test_the_same_seed_is_the_same_game_in_any_process(tmp_path: Path) -> None:
    """Two processes with other hash seeds write the same bytes."""
    files = [
        _played_by_process(tmp_path / f"{seed}.jsonl", seed) for seed in ("1", "2")
    ]

    assert files[0] == files[1]
    assert files[0].count(b"\n") > 20


def _advice(decision_id: str) -> bytes:
    kinds = [("gather", "wood"), ("seek", "water"), ("rest", "sleep"), ("hunt", "cow")]
    type_, target = kinds[len(decision_id.split("-")[-1].strip("0")) % len(kinds)]
    action = {"type": type_, "target": target, "params": {"count": 1}}
    return json.dumps({"decision_id": decision_id, "action": action}).encode()


def _played_by_process(file: Path, hash_seed: str) -> bytes:
    sensor = str(ROOT / "packs" / "survival" / "sensor")
    command = [
        sys.executable, sensor, "--agent", "steve", "--out", str(file), "--steps", "120",
        "--seed", "7", "--rate", "0", "--base", "2026-01-01T00:00:00Z", "--run", "r",
    ]  # fmt: skip
    environment = {"PYTHONHASHSEED": hash_seed, "PATH": ""}
    subprocess.run(command, check=True, env=environment, timeout=PATIENCE_S)
    return file.read_bytes()
