"""The desk's sensor by path, as lines, and against a real broker."""

import asyncio
import json
import subprocess
import sys
from dataclasses import asdict, replace
from pathlib import Path
from uuid import UUID

import pytest

from packs.desk.sensor.main import main, watch
from schemas.codec.decode import read_input
from schemas.messages.sensing import Sensed
from schemas.values.record import Record
from schemas.values.subjects import partition_of
from streams.broker.server import embedded_server
from streams.jetstream.migrate import migrate
from tests.packs.desk.test_gauges import QUIET

SENSOR = Path(__file__).parents[3] / "packs" / "desk" / "sensor"


def test_it_runs_by_path(tmp_path):
    """From any folder the sensor prints how this machine stands, as a line of JSON."""
    done = subprocess.run(
        [sys.executable, SENSOR, "--agent", "ann", "--out", "-", "--count", "1"],
        cwd=tmp_path,
        capture_output=True,
        check=True,
    )
    first = json.loads(done.stdout.splitlines()[0])

    assert first["subject"] == "in.ann.desk.machine_seen"
    assert UUID(first["headers"]["ce-id"]).version == 7


async def test_what_it_publishes_can_be_read():
    """Each message is an event to Echoic, with an id of its own."""
    sent = []

    async def publish(message):
        sent.append(message)

    series = iter([QUIET, replace(QUIET, celsius=99), QUIET])

    await watch("ann", publish, lambda: next(series), interval_s=0, count=3)
    events = [
        read_input(
            Record(
                message.subject.replace("in.ann.", "ev.3.in.ann.sensor."),
                message.headers,
                message.body,
                sequence=sequence,
                time_ns=1,
            )
        )
        for sequence, message in enumerate(sent, start=1)
    ]

    assert all(isinstance(event.message, Sensed) for event in events)
    assert len({event.id for event in events}) == len(events) == 3


@pytest.mark.services
async def test_its_events_are_stored(tmp_path):
    """With a sensor's own credentials the broker stores what it says."""
    async with embedded_server(tmp_path / "nats") as server:
        client = await server.connect()
        await migrate(client)
        credentials = await server.add_sensor("ann", "desk")
        file = tmp_path / "sensor.json"
        file.write_text(json.dumps(asdict(credentials)))
        command = ["--agent", "ann", "--credentials", str(file)]
        status = await asyncio.to_thread(main, [*command, "--count", "1"])
        partition = partition_of("ann")
        stored = await client.jetstream().get_last_msg(
            f"IN_{partition}", f"ev.{partition}.in.ann.sensor.desk.machine_seen"
        )
        await client.close()

    assert status == 0
    assert b"This machine is watched" in (stored.data or b"")


def test_a_broker_that_is_away_is_named(capsys):
    """The error says where it looked and what to do, without a traceback."""
    status = main(["--agent", "ann", "--url", "nats://127.0.0.1:1", "--count", "1"])

    assert status == 1
    assert "nats://127.0.0.1:1" in capsys.readouterr().err


def test_an_agent_that_is_no_token_is_refused(capsys):
    """A name with a dot is told back, with what a name may be."""
    assert main(["--agent", "a.b", "--out", "-", "--count", "1"]) == 1
    assert "agent 'a.b' is not a subject token" in capsys.readouterr().err


@pytest.mark.parametrize("text", [None, "{", "{}", "[]", '{"user": 1}'])
def test_credentials_that_are_none(tmp_path, capsys, text):
    """A file that holds no login is named, with what it should hold."""
    file = tmp_path / "sensor.json"
    if text is not None:
        file.write_text(text)

    assert main(["--agent", "ann", "--credentials", str(file)]) == 1
    assert "inbox_prefix" in capsys.readouterr().err
