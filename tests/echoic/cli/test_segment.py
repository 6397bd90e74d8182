"""`echoic log segment` is killed as a process: what was stored stays, once and in place."""

import asyncio
import signal
import subprocess
from pathlib import Path

import psutil  # type: ignore[import-untyped]  # has no types
import pytest

from schemas.values.record import Record
from streams.audit import audit
from streams.broker.server import embedded_server
from streams.jetstream.segments import listed
from streams.log import scan
from tests.echoic.cli.conftest import Program
from tests.patience import PATIENCE_S
from tests.servers import opened
from tests.streams.jetstream.test_segments import arrived, check_whole, ids, send

pytestmark = [pytest.mark.services, pytest.mark.timeout(300)]


@pytest.mark.parametrize(
    ("victim", "step"),
    [
        ("command", "planned"),
        ("command", "sealed"),
        ("command", "made"),
        ("command", "noted"),
        ("broker", "intake closed"),
    ],
)
async def test_what_was_killed_is_finished_by_the_same_command(
    echoic: Program, victim: str, step: str
) -> None:
    """SIGKILL right after a step, so within the next: nothing is lost, doubled or moved."""
    sent = ids("before")
    before = await sending(echoic.data, ids("before"), 3 * len(sent))

    killed = await asyncio.to_thread(kill, echoic, victim, step)
    again = await asyncio.to_thread(
        echoic, "log", "segment", "--streams", "4", "--json"
    )

    assert killed != 0
    assert again.code == 0, again.err
    sent += ids("after")
    after = await sending(echoic.data, ids("after"), 3 * len(sent))
    assert after[: len(before)] == before
    check_whole([each for each in after if ".sensor." in each.subject], sent)


async def sending(data: Path, more: list[str], count: int) -> list[Record]:
    """Send to a broker over the folder; the whole log once so many of sensors' are there."""
    async with embedded_server(data / "nats") as server, opened(server) as broker:
        await send(broker, more)
        await arrived(broker, count)
        assert (await audit(broker.reader)).causeless == 0
        assert not (await listed(broker.client)).preparing
        return [each async for each in scan(broker.reader, "ev.>")]


def kill(echoic: Program, victim: str, step: str) -> int:
    """Kill the command, or its broker, once it says that a step is done; how it ended."""
    with echoic.start("log", "segment", "--streams", "4") as process:
        assert process.stderr is not None
        said = []
        while (line := process.stderr.readline()) and line.strip() != step:
            said.append(line)
        assert line, said
        children = psutil.Process(process.pid).children(recursive=True)
        brokers = [each for each in children if "nats-server" in each.name()]
        assert brokers
        if victim == "broker":
            brokers[0].send_signal(signal.SIGKILL)
            # It may wait for a broker that does not come back.
            if not ended(process):
                process.kill()
        else:
            process.kill()
        process.communicate(timeout=PATIENCE_S)
        # A broker ends with the process that started it.
        _, alive = psutil.wait_procs(children, 20)
        assert not alive
        return process.returncode


def ended(process: "subprocess.Popen[str]") -> bool:
    """Whether it ends by itself within a minute."""
    try:
        process.wait(PATIENCE_S)
    except subprocess.TimeoutExpired:
        return False
    return True
