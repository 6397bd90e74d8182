"""A running door among hostile clients: whoever behaves is answered, and nothing grows."""

import itertools
import json
import socket
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress

import pytest

pytest.importorskip("fastapi", reason="the extra `http` is not installed")

import httpx
import psutil  # type: ignore[import-untyped]

from echoic.doors.http import bodies
from echoic.doors.http.limits import GUESSES, REQUESTS
from schemas.codec.decode import NESTING_LIMIT
from schemas.values.bounds import NESTING
from tests.echoic.cli.conftest import Program
from tests.echoic.cli.http.conftest import ALL, Client, address_of
from tests.patience import PATIENCE_S

# Each waits for real servers.
pytestmark = [pytest.mark.services, pytest.mark.timeout(240)]

GROWTH_BYTES = 64_000_000
"""Of the door's memory, whatever is sent: 256 connections with 64 KB each way, twice."""

EVENT = {"type": "t", "text": "x"}


def event(**fields: object) -> bytes:
    """An event's JSON."""
    return json.dumps({**EVENT, **fields}).encode()


def nested(levels: int) -> bytes:
    """An event with so many levels, itself included."""
    inner = b'{"a":' * (levels - 2) + b"1" + b"}" * (levels - 2)
    return b'{"type": "t", "text": "x", "fields": {"a": ' + inner + b"}}"


BODIES = (
    (nested(NESTING + 1), 202),
    (nested(NESTING_LIMIT), 413),
    (nested(NESTING_LIMIT + 1), 400),
    (nested(1_000), 400),
    (b"[" * 500_000, 400),
    (b'{"a":' * 200_000, 400),
    (b"[" * 500_000 + b"]" * 500_000, 400),
    (b'{"type": "t", "text": "x", "fields": {"n": 1e999}}', 400),
    (b'{"type": "t", "text": "x", "fields": {"n": ' + b"9" * 1_000 + b"}}", 400),
    (b'{"type": "t", "text": "x", "fields": {"n": ' + b"9" * 40 + b"}}", 202),
    (b'{"type": "t", "text": "x", "fields": {"n": NaN}}', 400),
    (b'{"type": "t", "text": "x", "fields": {"n": Infinity}}', 400),
    (b'{"type": "t", "text": "\\ud800"}', 400),
    (b'{"type": "t", "text": "\xed\xa0\x80"}', 400),
    (b'{"type": "t", "text": "\xff"}', 400),
    (b'{"type": "t", "text": "first", "text": "last"}', 202),
    (b'\xef\xbb\xbf{"type": "t", "text": "x"}', 400),
    (b'{"type": "t", "text": "x"}{"type": "t", "text": "y"}', 400),
    (b'{"type": "t", "text": "x"', 400),
    (b"", 400),
    (event(salience={f"s{n}": 1 for n in range(5_000)}), 400),
    (event(salience={f"s{n}": 1 for n in range(80_000)}), 413),
    (event(entities=["e"] * 20_000), 400),
    (event(entities=["e"] * 200_000), 413),
    (event(event_id="a\r\nce-type: muted"), 400),
    (event(event_id="a\x00b"), 400),
    (event(event_id=" a"), 400),
    (event(event_id="a "), 400),
    (event(event_id="x" * 201), 400),
    (event(event_id="a b"), 202),
)


@pytest.mark.parametrize("number", range(len(BODIES)))
def test_a_body_made_to_hurt_is_refused(client: Client, number: int) -> None:
    """By name and at once; what is merely odd is taken."""
    one, (body, status) = client("--burst", "1000"), BODIES[number]

    answered = one.post(
        "/v1/events", content=body, headers={"Content-Type": bodies.PLAIN}
    )

    assert answered.status_code == status, answered.text[:500]


@pytest.mark.parametrize("path", ["/v1/feedback", "/v1/outcomes"])
def test_a_vote_is_no_place_for_a_megabyte(client: Client, path: str) -> None:
    """It would be more than the broker takes in a message."""
    one = client("--scope", "feedback", "--scope", "outcomes")
    body = {"decision_id": "x", "rating": "positive", "comment": "x" * 100_000}

    assert one.post(path, json=body).status_code == 413


def test_a_trace_that_is_too_long_is_left_out(client: Client) -> None:
    """With it the event could be too large for the broker, for ever."""
    headers = {"tracestate": "a=" + "b" * 12_000}
    text = {"type": "t", "text": "€" * 8_000, "fields": {"a": "b" * 31_000}}

    assert client().post("/v1/events", json=text, headers=headers).status_code == 202


def test_guessing_is_slowed_down_and_locks_nobody_out(
    door: str, client: Client
) -> None:
    """Of many guesses few are looked at; a known token from the same address is let in."""
    one, path = client("--scope", "read"), "/v1/agents/anna/state"

    codes = [
        httpx.get(
            f"{door}{path}", headers={"Authorization": f"Bearer echoic_{n}"}
        ).status_code
        for n in range(3 * GUESSES)
    ]

    assert set(codes) == {401, 429}
    assert codes[:5] == [401] * 5
    assert one.get(path).status_code == 200


def test_a_token_has_a_bounded_part_of_the_door(client: Client) -> None:
    """Bodies that never end are one token's, and another sends on."""
    greedy, honest = client("--burst", "1000", "--per-s", "1000"), client()
    with hanging(greedy, 2 * REQUESTS) as answers:
        refused = [each for each in answers if b"429" in each]
        codes = [honest.post("/v1/events", json=EVENT).status_code for _ in range(20)]

    assert codes == [202] * 20
    assert len(refused) == REQUESTS


@contextmanager
def hanging(client: httpx.Client, count: int) -> Iterator[list[bytes]]:
    """Requests whose bodies do not come; the first line of what half of them hear."""
    open_ = [
        send(
            client,
            b"POST /v1/events HTTP/1.1\r\nHost: a\r\nContent-Length: 999\r\n"
            b"Authorization: "
            + client.headers["Authorization"].encode()
            + b"\r\n\r\n[",
        )
        for _ in range(count)
    ]
    try:
        yield [heard(each) for each in open_[REQUESTS:]]
    finally:
        for each in open_:
            each.close()


def send(client: httpx.Client, data: bytes, of: str = "127.0.0.1") -> socket.socket:
    """Connect from an address, and send something."""
    url = client.base_url
    made = socket.create_connection((url.host, url.port or 0), 30, (of, 0))
    made.sendall(data)
    return made


def heard(one: socket.socket) -> bytes:
    """What comes first."""
    with suppress(OSError):
        return one.recv(65_536)
    return b""


Attack = Callable[[httpx.Client], None]


def slow_heads(client: httpx.Client) -> None:
    """Open many connections, each with a part of a head."""
    ask = b"GET /v1/agents/anna/state HTTP/1.1\r\nHost"
    OPEN.extend(send(client, ask) for _ in range(200))


def silence(client: httpx.Client) -> None:
    """Open many connections from many addresses."""
    for number in range(600):
        with suppress(OSError):
            OPEN.append(send(client, b"", f"127.0.0.{2 + number % 50}"))


def deaf_streams(client: httpx.Client) -> None:
    """Read nothing of streams, and open ever more."""
    head = "GET /v1/agents/anna/stream?after=0 HTTP/1.1\r\nHost: a\r\nAuthorization: "
    for _ in range(50):
        ask = f"{head}{client.headers['Authorization']}\r\n\r\n"
        OPEN.append(send(client, ask.encode()))


def garbage(client: httpx.Client) -> None:
    """Send what is no HTTP, and large bodies without a token."""
    junk = (b"\0" * 10_000, b"\r\n" * 50_000, b"A" * 500_000, b"PRI * HTTP/2.0\r\n\r\n")
    for each in itertools.islice(itertools.cycle(junk), 60):
        with suppress(OSError):
            send(client, each).close()
    for _ in range(30):
        with suppress(httpx.HTTPError):
            httpx.post(
                f"{client.base_url}/v1/events",
                content=b"[" * 1_000_000,
                timeout=PATIENCE_S,
            )


def pipelines(client: httpx.Client) -> None:
    """Ask a thousand times at once, and hear nothing of it."""
    ask = b"GET /v1/openapi.json HTTP/1.1\r\nHost: a\r\n\r\n"
    for _ in range(10):
        with suppress(OSError):
            OPEN.append(send(client, ask * 1_000))


OPEN: list[socket.socket] = []


@pytest.fixture(scope="module")
def own_door(live: Program) -> Iterator[tuple[str, psutil.Process]]:
    """A door that nobody else uses, and its process."""
    with live.start("http", "serve", "--listen", "127.0.0.1:0") as process:
        try:
            yield address_of(process), psutil.Process(process.pid)
        finally:
            process.terminate()
            process.wait(timeout=PATIENCE_S)


@pytest.fixture(autouse=True)
def closing() -> Iterator[None]:
    """Ends what an attack left open."""
    yield
    while OPEN:
        OPEN.pop().close()


@pytest.mark.parametrize(
    "attack", [slow_heads, silence, deaf_streams, garbage, pipelines]
)
def test_an_honest_client_is_answered_among(
    attack: Attack, client: Client, own_door: tuple[str, psutil.Process]
) -> None:
    """All that it asks meanwhile, by new connections; the door's memory stays bounded."""
    address, process = own_door
    evil, honest = client(*ALL, "--burst", "10000"), client(*ALL, "--burst", "10000")
    evil.base_url = httpx.URL(address)
    headers = dict(honest.headers)
    httpx.get(f"{address}/v1/openapi.json", headers=headers)
    before = process.memory_info().rss

    attacker = threading.Thread(target=attack, args=(evil,))
    attacker.start()
    codes: list[int] = []
    while attacker.is_alive() or len(codes) < 20:
        codes.append(
            httpx.post(
                f"{address}/v1/events", json=EVENT, headers=headers, timeout=PATIENCE_S
            ).status_code
        )
    attacker.join()

    assert set(codes) == {202}
    assert httpx.get(f"{address}/healthz").json() == {"broker": True}
    assert process.memory_info().rss - before < GROWTH_BYTES
    assert process.num_fds() < 700
