"""What a client of `echoic http` may not do, and what it is told then."""

import ssl
from contextlib import closing
from http.client import HTTPConnection
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

import pytest

pytest.importorskip("fastapi", reason="the extra `http` is not installed")

import httpx
import trustme

from echoic.doors.http import bodies
from tests.echoic.cli.conftest import DAY_BYTES, Program
from tests.echoic.cli.http.conftest import AGENT, Client, address_of
from tests.patience import PATIENCE_S

# Each waits for real servers.
pytestmark = [pytest.mark.services, pytest.mark.timeout(240)]


@pytest.mark.parametrize(
    ("options", "method", "path", "body"),
    [
        ((), "GET", f"/v1/agents/{AGENT}/decisions", None),
        ((), "GET", f"/v1/agents/{AGENT}/stream", None),
        ((), "POST", "/v1/feedback", {"decision_id": "x", "rating": "positive"}),
        ((), "POST", "/v1/outcomes", {"decision_id": "x", "outcome": "failed"}),
        (("--scope", "read"), "POST", "/v1/events", {"type": "t", "text": "x"}),
        (("--scope", "read"), "GET", "/v1/agents/bob/decisions", None),
        (("--scope", "read"), "GET", "/v1/agents/bob/state", None),
        (("--scope", "read"), "GET", "/v1/agents/bob/stream", None),
        (("--scope", "read"), "GET", "/v1/agents/bob/decisions/ab/explanation", None),
        (("--scope", "read"), "GET", "/v1/agents/_/state", None),
        ((), "POST", "/v1/events", {"agent": "bob", "type": "t", "text": "x"}),
        ((), "POST", "/v1/events", {"source": "other", "type": "t", "text": "x"}),
        ((), "POST", "/v1/events", {"source": "agent", "type": "t", "text": "x"}),
        ((), "POST", "/v1/events", {"type": "t", "text": "x", "person": "ada"}),
        (
            (),
            "POST",
            "/v1/events",
            {"type": "t", "text": "x", "in_reply_to": "x", "outcome": "failed"},
        ),
        (
            ("--scope", "feedback", "--person", "ada"),
            "POST",
            "/v1/feedback",
            {"decision_id": "x", "rating": "positive", "actor": "ben"},
        ),
        (
            ("--scope", "feedback"),
            "POST",
            "/v1/feedback",
            {"agent": "bob", "decision_id": "x", "rating": "positive"},
        ),
    ],
)
def test_a_right_that_a_token_does_not_have(
    client: Client, options: tuple[str, ...], method: str, path: str, body: object
) -> None:
    """It is refused by name, and says nothing of what there is."""
    answered = client(*options).request(method, path, json=body)

    assert answered.status_code == 403, answered.text
    assert answered.json()["reason"] == "not_allowed"


EVENT = {"type": "t", "text": "x"}
VOTE = {"decision_id": "x", "rating": "positive"}
OWN, OTHERS = f"/v1/agents/{AGENT}", "/v1/agents/bob"
ROUTES: dict[str, list[tuple[str, str, object]]] = {
    "events": [("POST", "/v1/events", EVENT), ("POST", "/v1/events", [EVENT])],
    "feedback": [("POST", "/v1/feedback", VOTE)],
    "outcomes": [("POST", "/v1/outcomes", {"decision_id": "x", "outcome": "failed"})],
    "read": [
        ("GET", f"{OWN}/{each}", None)
        for each in (
            "decisions",
            "decisions/ab",
            "decisions/ab/explanation",
            "sessions",
            "state",
            "stream",
        )
    ],
}


@pytest.mark.parametrize("scope", ROUTES)
def test_a_scope_opens_its_own_routes_alone(client: Client, scope: str) -> None:
    """All others are closed, and so are those of another agent, however it is written."""
    one = client("--scope", scope, "--burst", "1000")
    closed = [each for other in ROUTES if other != scope for each in ROUTES[other]] + [
        (method, path.replace(OWN, OTHERS), {**body, "agent": "bob"})
        for method, path, body in ROUTES[scope]
        if isinstance(body, dict)
    ]

    answered = [one.request(method, path, json=body) for method, path, body in closed]

    assert {each.status_code for each in answered} == {403}


@pytest.mark.parametrize(
    "told",
    [
        {"source": "user"},
        {"source": "agent"},
        {"source": None},
        {"type": "message"},
        {"type": "control"},
        {"outcome": None, "text": "Hello"},
        {"outcome": ["succeeded"]},
        {"in_reply_to": None},
        {"person": "ada"},
        {"agent": "bob"},
    ],
)
def test_an_outcome_is_no_way_to_say_something_else(
    client: Client, told: dict[str, object]
) -> None:
    """The scope of outcomes sends neither events nor what another source says."""
    one = client("--scope", "outcomes", "--source", "kitchen")
    body = {"decision_id": "x", "outcome": "succeeded", **told}

    assert one.post("/v1/outcomes", json=body).status_code in (400, 403)


@pytest.mark.parametrize(
    "path",
    [
        f"{OTHERS}/state",
        f"{OWN}/../bob/state",
        f"{OWN}/%2e%2e/bob/state",
        f"{OWN}%2f..%2fbob/state",
        "/v1/agents//state",
        "/v1/agents/*/state",
        "/v1/agents/%3e/state",
        "/v1/agents/_/state",
        f"/v1/agents/{AGENT.upper()}/state",
        f"{OWN}%00/state",
        f"{OWN}%20/state",
        f"{OWN}.bob/state",
        f"{OWN};bob/state",
        "//v1/agents/bob/state",
        "/v1/agents/bob/state/",
    ],
)
def test_no_path_leads_to_another_agent(door: str, client: Client, path: str) -> None:
    """As it stands, without the client making it plain before."""
    one = client("--scope", "read", "--burst", "1000")
    url = urlsplit(door)
    with closing(HTTPConnection(url.hostname or "", url.port)) as connection:
        connection.request("GET", path, headers=dict(one.headers))
        answered = connection.getresponse()
        body = answered.read()

    assert answered.status in (307, 400, 403, 404), body
    assert b'"agent"' not in body


@pytest.mark.parametrize(
    "body",
    [
        {**EVENT, "person": "ben"},
        {**EVENT, "person": ""},
        {**EVENT, "person": None},
        {**EVENT, "person": ["ada"]},
        {**EVENT, "source": "user"},
        {**EVENT, "source": "agent"},
        {**EVENT, "source": "ada.control"},
        {**EVENT, "agent": "bob"},
        {**EVENT, "agent": "_"},
        {**EVENT, "agent": ">"},
        {**EVENT, "type": "control"},
        {**EVENT, "type": "feedback"},
        {**EVENT, "type": "a.b"},
        {**EVENT, "type": ">"},
        {**EVENT, "outcome": "succeeded", "in_reply_to": "x"},
    ],
)
def test_a_persons_token_speaks_for_that_person_alone(
    client: Client, body: object
) -> None:
    """As no other person or source, for no other agent, and with no other right."""
    one = client("--person", "ada", "--burst", "1000")

    assert one.post("/v1/events", json=body).status_code in (400, 403)
    assert one.post("/v1/events", json=[EVENT, body]).status_code == 207


@pytest.mark.parametrize(
    ("told", "status"),
    [
        ({"content": b"{"}, 400),
        ({"content": b"5"}, 400),
        ({"json": []}, 400),
        ({"json": [{}] * (bodies.MOST_EVENTS + 1)}, 413),
        ({"content": b" " * (bodies.BODY_BYTES + 1)}, 413),
        ({"content": b"x", "headers": {"Content-Type": "text/plain"}}, 415),
        ({"json": {"type": "t", "text": "x" * 61_000}}, 400),
        ({"json": {"type": "t", "text": "x", "fields": {"a": "ä" * 31_000}}}, 413),
        ({"json": {"type": "t", "text": "x", "fields": {"a": "b" * 40_000}}}, 413),
        ({"json": {"type": "t", "text": "x", "fields": {"a": [0] * 300}}}, 413),
        ({"json": {"type": "feedback", "text": "x"}}, 400),
        ({"json": {"type": "t", "text": "x"}, "headers": {"Idempotency-Key": ""}}, 400),
    ],
)
def test_a_wrong_request_is_named(
    client: Client, told: dict[str, Any], status: int
) -> None:
    """Each by its status, as a problem that says what to do."""
    answered = client("--burst", "1000").post("/v1/events", **told)

    assert answered.status_code == status, answered.text
    assert answered.headers["content-type"] == "application/problem+json"


@pytest.mark.parametrize(
    "header", [{}, {"Authorization": "Bearer x"}, {"Authorization": "Basic eA=="}]
)
def test_without_a_token_nothing_is_told(door: str, header: dict[str, str]) -> None:
    """Not even whether there is such an agent."""
    answered = httpx.get(f"{door}/v1/agents/{AGENT}/state", headers=header)

    assert answered.status_code == 401
    assert answered.headers["www-authenticate"] == "Bearer"


def test_a_revoked_token_is_refused_at_once(live: Program, client: Client) -> None:
    """The running door reads the file again."""
    one = client("--scope", "read", name="leaver")
    path = f"/v1/agents/{AGENT}/state"
    before = one.get(path).status_code

    live.here("http", "revoke", "leaver")

    assert (before, one.get(path).status_code) == (200, 401)


def test_a_client_that_sends_too_much_waits(client: Client) -> None:
    """It hears for how long; another client does not notice."""
    greedy, other = client("--burst", "3", "--per-s", "0.01"), client()
    event = {"type": "t", "text": "x"}

    codes = [greedy.post("/v1/events", json=event).status_code for _ in range(4)]
    refused = greedy.post("/v1/events", json=event)

    assert codes == [202, 202, 202, 429]
    assert int(refused.headers["retry-after"]) > 1
    assert other.post("/v1/events", json=event).status_code == 202


def test_a_client_that_has_sent_its_day_waits_for_the_next(
    client: Client, live: Program
) -> None:
    """By the bytes of all doors of the folder; of a batch what fits is taken."""
    event = {"type": "t", "text": "x" * 1000}
    sender, other = client("--burst", "50", name="weighty"), client()
    live.spend("token weighty", DAY_BYTES - 1_500)

    batch = sender.post("/v1/events", json=[event, event])
    refused = sender.post("/v1/events", json=event)

    assert batch.status_code == 207
    assert [each["accepted"] for each in batch.json()["events"]] == [True, False]
    assert refused.status_code == 429
    assert refused.json()["reason"] == "over_day"
    assert "intake.day_mb allows 8,192.0; again from 00:00 UTC" in refused.text
    assert 0 < int(refused.headers["retry-after"]) <= 86_400
    assert other.post("/v1/events", json=event).status_code == 202


def test_only_named_pages_may_call(door: str) -> None:
    """A browser asks before it lets a page call."""
    asks = {"Access-Control-Request-Method": "POST", "Origin": "https://home.example"}
    other = asks | {"Origin": "https://evil.example"}

    allowed = httpx.options(f"{door}/v1/events", headers=asks)
    refused = httpx.options(f"{door}/v1/events", headers=other)

    assert allowed.headers["access-control-allow-origin"] == "https://home.example"
    assert "access-control-allow-origin" not in refused.headers


def test_it_serves_tls(live: Program, tmp_path: Path) -> None:
    """With a certificate the door speaks https and nothing else."""
    authority = trustme.CA()
    issued = authority.issue_cert("127.0.0.1")
    certificate, key = tmp_path / "cert.pem", tmp_path / "key.pem"
    issued.cert_chain_pems[0].write_to_path(certificate)
    issued.private_key_pem.write_to_path(key)
    context = ssl.create_default_context()
    authority.configure_trust(context)
    options = (
        "--listen",
        "127.0.0.1:0",
        "--certificate",
        str(certificate),
        "--key",
        str(key),
    )
    with live.start("http", "serve", *options) as process:
        try:
            at = address_of(process)
            assert httpx.get(f"{at}/healthz", verify=context).json() == {"broker": True}
        finally:
            process.terminate()
            process.wait(timeout=PATIENCE_S)
