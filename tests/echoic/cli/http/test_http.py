"""`echoic http` beside a running instance: events and votes in, decisions and reasons out."""

import json
import threading
from concurrent.futures import ThreadPoolExecutor
from typing import Any
from uuid import uuid4

import pytest

pytest.importorskip("fastapi", reason="the extra `http` is not installed")

import httpx
import schemathesis
from hypothesis import HealthCheck, Phase, given, settings
from schemathesis.core.result import Ok
from schemathesis.specs.openapi.checks import (
    ignored_auth,
    negative_data_rejection,
    positive_data_acceptance,
)

from echoic.doors.http import bodies
from tests.echoic.cli.conftest import Program
from tests.echoic.cli.http.conftest import AGENT, ALL, Client, address_of
from tests.patience import PATIENCE_S
from tests.ports import free_port

# Each waits for real servers.
pytestmark = [pytest.mark.services, pytest.mark.timeout(240)]


def decided_until(
    client: httpx.Client, event_id: str, agent: str = AGENT
) -> list[dict[str, Any]]:
    """All decisions from the first to the one on an event, from the stream of them."""
    found = []
    with client.stream("GET", f"/v1/agents/{agent}/stream?after=0") as stream:
        for line in stream.iter_lines():
            if line.startswith("data: "):
                found.append(json.loads(line.removeprefix("data: ")))
                if found[-1]["message"].get("event_id") == event_id:
                    return found
    raise AssertionError("the stream ended")


def test_an_event_is_decided_on_explained_and_voted_on(client: Client) -> None:
    """The whole way of a client: send, hear, ask why, vote, report how it went."""
    one = client(*ALL, "--source", "kitchen")

    sent = one.post("/v1/events", json={"type": "oven", "text": "the oven is hot"})
    event_id = sent.json()["events"][0]["event_id"]
    id_ = decided_until(one, event_id)[-1]["id"]
    why = one.get(f"/v1/agents/{AGENT}/decisions/{id_}/explanation").json()
    vote = one.post("/v1/feedback", json={"decision_id": id_, "rating": "positive"})
    report = one.post("/v1/outcomes", json={"decision_id": id_, "outcome": "succeeded"})

    assert sent.status_code == 202
    assert why["event_id"] == event_id
    assert why["explanation"]["verdict"]
    assert vote.json()["answer"]["type"] == "feedback_applied"
    assert report.status_code == 202
    rows = one.get(f"/v1/agents/{AGENT}/decisions?limit=500").json()["decisions"]
    assert id_ in [each["id"] for each in rows]
    assert one.get(f"/v1/agents/{AGENT}/sessions").json()["sessions"]
    assert one.get(f"/v1/agents/{AGENT}/state").json()["agent"] == AGENT


def test_a_batch_keeps_what_is_right_and_names_what_is_wrong(client: Client) -> None:
    """A wrong event stops no other."""
    one = client("--source", "kitchen")
    right = {"type": "oven", "text": "warm"}
    wrong = [
        {"type": "oven"},
        {"type": "a.b", "text": "x"},
        5,
        {**right, "agent": "bob"},
    ]

    sent = one.post("/v1/events", json=[right, *wrong, right])

    told = sent.json()
    assert sent.status_code == 207
    assert (told["accepted"], told["refused"]) == (2, 4)
    assert [each["accepted"] for each in told["events"]] == [True, *[False] * 4, True]
    assert [each["error"]["reason"] for each in told["events"][1:5]] == [
        "invalid",
        "bad_subject",
        "not_an_object",
        "not_allowed",
    ]


def test_cloud_events_are_read_like_plain_ones(client: Client) -> None:
    """Source and type count by their last part; data is the text or the fields."""
    one = client(*ALL, "--source", "hall")
    id_ = str(uuid4())
    event = {
        "specversion": "1.0",
        "id": id_,
        "source": "/home/hall",
        "type": "org.example.motion",
        "subject": AGENT,
        "data": {"text": "somebody is there", "fields": {"lux": 3}},
    }
    batch = {"Content-Type": bodies.CLOUD_BATCH}

    sent = one.post("/v1/events", content=json.dumps([event]), headers=batch)

    assert sent.status_code == 202, sent.text
    made = decided_until(one, id_)[-1]["message"]
    assert (made["source"], made["type"]) == ("hall", "motion")
    # Its media type says what it is, though headers of binary mode are there as well.
    headers = {"Content-Type": bodies.CLOUD, "ce-specversion": "1.0", "ce-id": id_}
    again = {**event, "id": str(uuid4()), "data": {}}
    both = one.post("/v1/events", content=json.dumps(again), headers=headers)
    assert both.status_code == 400
    assert both.json()["fields"][0]["field"] == "text"


def test_a_cloud_event_may_be_binary(client: Client) -> None:
    """Its headers say what it is, and its body is the data: a device's own, or text."""
    one = client(*ALL, "--source", "hall")
    own = {
        "ce-specversion": "1.0", "ce-source": "/home/hall",
        "ce-type": "org.example.motion", "ce-subject": AGENT,
    }  # fmt: skip
    for kind, body in (
        ("application/json", b'{"lux": 3, "motion": true}'),
        ("text/plain; charset=utf-8", "jemand ist da, Zo\u00eb".encode()),
    ):
        headers = own | {"ce-id": (id_ := str(uuid4())), "Content-Type": kind}

        sent = one.post("/v1/events", content=body, headers=headers)

        assert sent.status_code == 202, sent.text
        made = decided_until(one, id_)[-1]["message"]
        assert (made["source"], made["type"]) == ("hall", "motion")
    picture = own | {"ce-id": str(uuid4()), "Content-Type": "image/png"}
    refused = one.post("/v1/events", content=b"\xff", headers=picture)
    assert refused.status_code == 415


def test_what_is_sent_again_counts_once(client: Client) -> None:
    """A batch under one key is decided on once, however often and at once it comes."""
    one = client(*ALL, "--source", "kitchen", "--burst", "1000", agent="carl")
    events = [{"type": "step", "text": f"step {n}"} for n in range(5)]
    key = {"Idempotency-Key": uuid4().hex}

    with ThreadPoolExecutor(8) as pool:
        sent = [
            pool.submit(one.post, "/v1/events", json=events, headers=key)
            for _ in range(10)
        ]
    ids = _ids(sent[0].result())
    last = one.post("/v1/events", json={"type": "step", "text": "the last"}).json()
    made = decided_until(one, last["events"][0]["event_id"], "carl")

    assert {tuple(_ids(each.result())) for each in sent} == {tuple(ids)}
    assert [each["message"]["event_id"] for each in made[:-1]] == ids


def _ids(sent: httpx.Response) -> list[str]:
    return [each["event_id"] for each in sent.json()["events"]]


def test_a_door_that_is_killed_loses_and_doubles_nothing(
    live: Program, client: Client
) -> None:
    """A client that sends each batch until it is acknowledged has each event decided once."""
    tried = client(*ALL, "--source", "kitchen", "--burst", "10000", agent="elsa")
    headers, port = dict(tried.headers), free_port()
    ids: list[str] = []
    for life in range(3):
        with live.start("http", "serve", "--listen", f"127.0.0.1:{port}") as process:
            at = address_of(process)
            threading.Timer(0.2, process.kill).start()
            for batch in range(5):
                body = [
                    {"type": "step", "text": f"{life} {batch} {n}"} for n in range(9)
                ]
                key = {"Idempotency-Key": f"{life}-{batch}"}
                try:
                    httpx.post(f"{at}/v1/events", json=body, headers=headers | key)
                except httpx.TransportError:
                    # As a client would: the same again, at another door.
                    process.wait(timeout=PATIENCE_S)
                again = tried.post("/v1/events", json=body, headers=key)
                ids += _ids(again)
            process.wait(timeout=PATIENCE_S)
    last = tried.post("/v1/events", json={"type": "step", "text": "the last"})

    made = decided_until(tried, _ids(last)[0], "elsa")

    assert len(ids) == 3 * 5 * 9
    assert sorted(each["message"]["event_id"] for each in made[:-1]) == sorted(ids)


def test_a_stream_resumes_where_it_was(client: Client) -> None:
    """With the last id nothing comes twice and nothing is left out."""
    one = client(*ALL, "--source", "kitchen", agent="dora")
    events = [{"type": "step", "text": f"step {n}"} for n in range(3)]
    one.post("/v1/events", json=events)

    first = heard(one, 1, {})
    rest = heard(one, 2, {"Last-Event-ID": first[0]})

    assert first + rest == heard(one, 3, {"Last-Event-ID": "0"})


def heard(client: httpx.Client, count: int, headers: dict[str, str]) -> list[str]:
    """The ids of so many events of dora's stream."""
    ids: list[str] = []
    path = "/v1/agents/dora/stream" + ("" if headers else "?after=0")
    with client.stream("GET", path, headers=headers) as stream:
        for line in stream.iter_lines():
            if line.startswith("id: "):
                ids.append(line[4:])
            if len(ids) == count:
                return ids
    raise AssertionError("the stream ended")


def test_the_description_holds_against_generated_requests(
    client: Client, door: str
) -> None:
    """No request that the description allows, or nearly, breaks the door or its promises."""
    one = client(*ALL, "--source", "kitchen", "--burst", "100000")
    schema = schemathesis.openapi.from_url(f"{door}/v1/openapi.json")
    # A stream has no end, so it has tests of its own.
    chosen = schema.exclude(path_regex="/stream$")
    checks = 0

    @settings(
        max_examples=40,
        deadline=None,
        derandomize=True,
        phases=(Phase.explicit, Phase.generate),
        suppress_health_check=list(HealthCheck),
    )
    def hold(case: "schemathesis.Case[Any]") -> None:
        nonlocal checks
        answered = case.call(headers=dict(one.headers), timeout=PATIENCE_S)
        # What fields must be together, and what of a wrong value is left out, is no part of
        # a description.
        # Without its token it is one that guesses, and soon told to wait (429).
        left: list[Any] = [
            negative_data_rejection,
            positive_data_acceptance,
            ignored_auth,
        ]
        case.validate_response(
            answered, headers=dict(one.headers), excluded_checks=left
        )
        checks += 1

    for operation in chosen.get_all_operations():
        assert isinstance(operation, Ok)
        given(operation.ok().as_strategy())(hold)()

    assert checks > 100
