"""Real collectors for the tests of tracing, and sockets that behave badly."""

import os
import re
import socket
import sqlite3
import subprocess
import sys
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from itertools import chain, repeat
from pathlib import Path

from tests.patience import PATIENCE_S
from tests.ports import free_port


def wait_until(done: Callable[[], bool]) -> None:
    """Poll a condition until it holds or the deadline is over."""
    pause = threading.Event()
    end = time.monotonic() + PATIENCE_S
    while not done():
        assert time.monotonic() < end, "the condition did not come to hold"
        pause.wait(0.02)


def listens(port: int) -> bool:
    """Whether somebody accepts connections."""
    with socket.socket() as probe:
        return probe.connect_ex(("127.0.0.1", port)) == 0


@dataclass(frozen=True, slots=True, kw_only=True)
class Received:
    """A span that a collector wrote out. Values are text: as such a search compares them."""

    trace_id: str
    id: str
    parent: str
    name: str
    start_ns: int
    end_ns: int
    attributes: dict[str, str]
    links: list[str]
    """The ids of the spans that it links to."""
    resource: dict[str, str]


class TraceView:
    """`trace-view`: OTLP over HTTP, with a database."""

    def __init__(self, folder: Path) -> None:
        self.port = free_port()
        self.database = folder / "received.db"
        self._process = subprocess.Popen(
            [str(Path(sys.executable).with_name("tv")), "serve"],
            env={
                **os.environ,
                "TV_PORT": str(self.port),
                "TV_DB_PATH": str(self.database),
            },
            stdout=subprocess.DEVNULL,
            stderr=subprocess.DEVNULL,
        )
        wait_until(lambda: listens(self.port))

    def rows(self, sql: str) -> list[tuple[object, ...]]:
        """The answer of its database."""
        connection = sqlite3.connect(self.database)
        try:
            return connection.execute(sql).fetchall()
        finally:
            connection.close()

    def kill(self) -> None:
        """End it without warning."""
        self._process.kill()
        self._process.wait()


class Rotel:
    """`rotel`: OTLP over gRPC and HTTP; it writes out every field it receives."""

    def __init__(self, folder: Path) -> None:
        import rotel  # type: ignore[import-untyped]  # has no types

        self.grpc, self.http = free_port(), free_port()
        self._log = folder / "rotel.log"
        agent = Path(rotel.__file__).with_name("rotel-agent")
        with self._log.open("wb") as log:
            self._process = subprocess.Popen(
                [
                    str(agent), "start",
                    "--otlp-grpc-endpoint", f"127.0.0.1:{self.grpc}",
                    "--otlp-http-endpoint", f"127.0.0.1:{self.http}",
                    "--exporter", "blackhole",
                    "--debug-log", "traces",
                    "--debug-log-verbosity", "detailed",
                ],
                stdout=log,
                stderr=log,
            )  # fmt: skip
        wait_until(lambda: listens(self.grpc) and listens(self.http))

    def text(self) -> str:
        """What it has written, without colours."""
        return re.sub(r"\x1b\[[0-9;]*m", "", self._log.read_text(errors="replace"))

    def spans(self) -> list[Received]:
        """All that it has received."""
        return list(_spans(self.text()))

    def stop(self) -> None:
        """End it."""
        self._process.kill()
        self._process.wait()


_ATTRIBUTE = re.compile(r"^ {5}-> (\S+): \w+\((.*)\)$", re.MULTILINE)
_FIELD = re.compile(r"^ *(\w+(?: \w+)?) *: ?(.*)$", re.MULTILINE)


def _spans(text: str) -> Iterator[Received]:
    """Read what `rotel` writes: a resource, then its spans, each field on its line."""
    resource: dict[str, str] = {}
    for part in re.split(r"^(?=ResourceSpans #|Span #)", text, flags=re.MULTILINE):
        # What comes behind stands further in, or belongs to an event of the span.
        head, *rest = re.split(r"^(?:Events|Links):$", part, flags=re.MULTILINE)
        values = dict(_ATTRIBUTE.findall(head))
        if not part.startswith("Span #"):
            resource = values
            continue
        fields = dict(_FIELD.findall(head))
        yield Received(
            trace_id=fields["Trace ID"],
            id=fields["ID"],
            parent=fields["Parent ID"],
            name=fields["Name"],
            start_ns=int(fields["Start time"]),
            end_ns=int(fields["End time"]),
            attributes=values,
            links=[each for part in rest for each in re.findall(r"-> ID: (\w+)", part)],
            resource=resource,
        )


@contextmanager
def dead() -> Iterator[int]:
    """A port that nobody listens on."""
    yield free_port()


@contextmanager
def hanging() -> Iterator[int]:
    """A server that takes connections and never answers."""
    with socket.create_server(("127.0.0.1", 0)) as server:
        yield server.getsockname()[1]


@contextmanager
def refusing() -> Iterator[int]:
    """A server that answers every request with 503, in the words of HTTP."""
    with _answering(repeat("503 Service Unavailable")) as port:
        yield port


@contextmanager
def busy() -> Iterator[int]:
    """A server that refuses the first request and takes the others."""
    with _answering(chain(["503 Service Unavailable"], repeat("200 OK"))) as port:
        yield port


@contextmanager
def taking() -> Iterator[tuple[int, list[bytes]]]:
    """A server that takes every request, and what it heard."""
    heard: list[bytes] = []
    with _answering(repeat("200 OK"), heard.append) as port:
        yield port, heard


@contextmanager
def _answering(
    statuses: Iterator[str], hear: Callable[[bytes], None] = lambda _: None
) -> Iterator[int]:
    with socket.create_server(("127.0.0.1", 0)) as server:
        given = (server, statuses, hear)
        threading.Thread(target=_answer, args=given, daemon=True).start()
        yield server.getsockname()[1]


def _answer(
    server: socket.socket, statuses: Iterator[str], hear: Callable[[bytes], None]
) -> None:
    # The end of the test closes the server, and a client may hang up at any time.
    with suppress(OSError):
        while True:
            connection, _ = server.accept()
            with connection, suppress(OSError):
                connection.settimeout(1.0)
                if request := _request(connection):
                    hear(request)
                    head = "Content-Length: 0\r\nConnection: close\r\n\r\n"
                    answer = f"HTTP/1.1 {next(statuses)}\r\n{head}"
                    connection.sendall(answer.encode())


def _request(connection: socket.socket) -> bytes:
    """What was sent; to its end, if it says where that is."""
    heard = connection.recv(65536)
    length = re.search(rb"content-length: (\d+)", heard, re.IGNORECASE)
    expected = int(length[1]) if length else 0
    # A connection that is closed before all is read is reset, and the answer lost.
    while len(heard.partition(b"\r\n\r\n")[2]) < expected:
        more = connection.recv(65536)
        if not more:
            break
        heard += more
    return heard
