"""What tests find, however they were started, and that a test leaves nothing open."""

import os
import subprocess
import sys
from pathlib import Path

ROOT = Path(__file__).parents[2]
_LEAKS = '''
"""Tests that leave something open, which a later one would have met."""

import asyncio
import socket
import subprocess


class Kept:
    """A connection in a circle, which only the garbage collector finds."""

    def __init__(self, writer):
        self.writer, self.self = writer, self


async def listening():
    async def serve(reader, writer):
        await reader.read()
        writer.close()

    return await asyncio.start_server(serve, "127.0.0.1", 0)


async def test_leaks_a_connection():
    server = await listening()
    address = server.sockets[0].getsockname()
    Kept((await asyncio.open_connection(*address))[1])
    server.close()


def test_leaks_a_plain_socket():
    Kept(socket.socket())


def test_leaks_a_plain_process():
    Kept(subprocess.Popen(["sleep", "1"]))


async def test_leaks_a_process():
    Kept(await asyncio.create_subprocess_exec("sleep", "1"))


async def test_leaves_nothing():
    async with await listening() as server:
        address = server.sockets[0].getsockname()
        _, writer = await asyncio.open_connection(*address)
        writer.close()
        await writer.wait_closed()
        await asyncio.sleep(0)


def test_is_not_to_blame():
    import ast, gc

    gc.collect()
    ast.parse("blame = None")
'''


def test_tests_can_be_interrupted_though_they_were_started_so_that_nobody_could() -> (
    None
):
    """As by `nohup` or `&`: what they start inherits how a signal is met."""
    code = (
        "import signal, subprocess, sys\n"
        "from tests.conftest import pytest_configure\n"
        "pytest_configure()\n"
        "show = 'import signal; print(signal.getsignal(signal.SIGINT))'\n"
        "subprocess.run([sys.executable, '-c', show], check=True)\n"
    )

    told = subprocess.run(
        ["sh", "-c", 'trap "" INT; exec "$@"', "sh", sys.executable, "-c", code],
        cwd=ROOT, capture_output=True, text=True, check=True,
    ).stdout  # fmt: skip

    assert "default_int_handler" in told


def test_the_test_that_leaves_something_open_fails(tmp_path: Path) -> None:
    """And no other: neither one that closes what it opens nor the one that comes next."""
    (tmp_path / "test_leaks.py").write_text(_LEAKS)

    told = subprocess.run(
        [
            sys.executable, "-m", "pytest", "-c", ROOT / "pyproject.toml", "-q",
            "-p", "tests.conftest", "-p", "no:xdist", "-p", "no:cacheprovider",
            "--rootdir", tmp_path, tmp_path,
        ],
        cwd=ROOT, env={**os.environ, "PYTHONPATH": f"{os.environ['PYTHONPATH']}:{ROOT}"},
        capture_output=True, text=True, check=False,
    ).stdout  # fmt: skip

    failed = {
        each.rpartition("::")[2].partition(" ")[0]
        for each in told.splitlines()
        if each.startswith(("ERROR ", "FAILED ")) and "::" in each
    }
    assert failed == {
        "test_leaks_a_connection", "test_leaks_a_process",
        "test_leaks_a_plain_socket", "test_leaks_a_plain_process",
    }, told  # fmt: skip
    # In a CI the summary has the words once more.
    assert told.count("left open by this test") >= 2
    assert "test_leaks.py" in told
