"""The services against a real broker: calls that become inputs, and their answers."""

import asyncio
from collections.abc import AsyncIterator
from typing import Any

import orjson
import pytest

from echoic.client.connection import LiveLog
from echoic.doors import micro
from echoic.doors.calls import CALLS
from echoic.doors.services import Services
from handlers.worker.loop import Worker
from schemas.values.subjects import PARTITIONS
from streams.audit import audit
from streams.topology import DUPLICATE_WINDOW_S
from tests.minds import publish, sensed, started, working
from tests.patience import PATIENCE_S
from tests.servers import Broker

pytestmark = pytest.mark.services


class Caller:
    """Calls services as a client of the broker does."""

    def __init__(self, broker: Broker) -> None:
        """Call through a connection."""
        self.broker = broker

    async def __call__(
        self, subject: str, body: object = None, id_: str | None = None
    ) -> dict[str, Any]:
        """Call, perhaps under an id of one's own, and return the reply."""
        raw = body if isinstance(body, bytes) else orjson.dumps(body)
        headers = {"ce-id": id_} if id_ else None
        reply = await self.broker.client.request(
            subject, raw, timeout=PATIENCE_S, headers=headers
        )
        answered: dict[str, Any] = orjson.loads(reply.data)
        return answered


@pytest.fixture
async def call(broker: Broker) -> AsyncIterator[Caller]:
    """A worker and its services, and a way to call them."""
    async with working(broker.reader, broker.writer, started()) as worker:
        log = LiveLog(broker.client, broker.reader.epoch)
        services = Services(log, _view(worker), {})
        async with micro.serving(broker.server.core, services):
            yield Caller(broker)


async def test_a_control_is_applied(call: Caller) -> None:
    """The reply says where the control stands and what the mind made of it."""
    body = {"control": "goals_set", "goals": ["rest"]}

    reply = await call("svc.ada.control", body)

    assert reply["accepted"] is True
    assert reply["answer"] == {
        "type": "control_applied",
        "control": "goals_set",
        "detail": reply["answer"]["detail"],
    }
    record = await call.broker.reader.record(reply["sequence"])
    assert record is not None
    assert record.subject.endswith(".in.ada.control.goals_set")
    assert (await audit(call.broker.reader)).sound


async def test_feedback_on_an_unknown_decision_is_refused(call: Caller) -> None:
    """What the mind refuses is in the log, and not accepted; the reply says why not."""
    body = {"decision_id": "no-such", "rating": "positive"}

    reply = await call("svc.ada.feedback", body)

    assert reply["accepted"] is False
    assert reply["answer"]["type"] == "feedback_refused"
    assert reply["error"]["reason"] == "unknown_decision"
    assert await call.broker.reader.record(reply["sequence"]) is not None


async def test_feedback_on_a_decision_is_applied(call: Caller) -> None:
    """A thumb on what was decided counts for its actor."""
    [sequence] = await publish(call.broker.writer, [sensed("ada", "1", "a visitor")])
    looked = await call("svc.ada.control", {"control": "goals_set", "goals": []})
    decided = await call.broker.reader.page("ev.*.out.ada.decision.>", sequence, 1)
    body = {"decision_id": decided[0].headers["ce-id"], "rating": "negative"}

    reply = await call("svc.ada.feedback", body | {"actor": "eva"})

    assert looked["accepted"] is True
    assert reply["answer"]["type"] == "feedback_applied"


async def test_a_call_that_is_sent_again_is_accepted_once_more(call: Caller) -> None:
    """Whoever got no answer asks again under the same id, and is told what was done."""
    given = {"control": "goals_set", "goals": []}

    first = await call("svc.ada.control", given, "goal")
    # The broker itself would know it, and answer with the first one's place.
    await asyncio.sleep(2 * DUPLICATE_WINDOW_S)
    again = await call("svc.ada.control", given, "goal")

    assert (first["accepted"], again["accepted"]) == (True, True)
    assert again["sequence"] > first["sequence"]
    assert again["answer"]["type"] == "control_refused"
    assert "was applied" in again["note"]


@pytest.mark.parametrize(
    ("subject", "body", "reason"),
    [
        ("svc.ada.feedback", {"rating": "positive"}, "invalid"),
        ("svc.ada.feedback", b"{", "not_json"),
        ("svc.ada.feedback", b"\xff", "not_utf8"),
        ("svc.ada.feedback", [1], "not_an_object"),
        ("svc.ada.control", {"control": "goals_set"}, "invalid"),
        ("svc.ada.control", {"control": "make_tea"}, "unknown_type"),
        ("svc.ada.control", {"control": ["muted"]}, "unknown_type"),
        ("svc.ada.control", {}, "unknown_type"),
        ("svc.ada.control", b"", "empty"),
        ("svc.ada.control", {"control": "person_forgotten"}, "invalid"),
        ("svc._.control", {"control": "mind_started"}, "invalid"),
        ("svc.a$a.control", {"control": "goals_set", "goals": []}, "bad_subject"),
    ],
)
async def test_a_call_without_meaning_is_not_appended(
    call: Caller, subject: str, body: object, reason: str
) -> None:
    """The reply names what is wrong, and the log stays as it was."""
    before = await call.broker.reader.last_sequence("ev.*.in.>")

    reply = await call(subject, body)

    assert reply["accepted"] is False
    assert reply["error"]["reason"] == reason
    assert await call.broker.reader.last_sequence("ev.*.in.>") == before


@pytest.mark.parametrize(
    ("service", "body", "wrong"),
    [
        (
            "modulate",
            {"change": "louder", "amount": 3, "for_s": -1, "about": "rain"},
            ["amount", "change", "for_s"],
        ),
        ("trait.adjust", {"trait": "charm", "person": ""}, ["person", "trait"]),
        (
            "feedback",
            {"decision_id": "d", "rating": 1, "actor": ""},
            ["actor", "rating"],
        ),
        ("skill.load", {}, ["skill"]),
        # A misspelt field would be as good as none, and take back what was set.
        ("trait.adjust", {"trait": "humor", "amount": 0.3}, ["amount"]),
        (
            "heuristic.store",
            {
                "heuristic_id": "h",
                "name": "h",
                "domain": "d",
                "condition": "c",
                "text": "t",
                "confidence": True,
            },
            ["confidence"],
        ),
        ("state", {"about": "all"}, ["about"]),
        (
            "control",
            {"control": "reminder_set", "in_s": 0, "text": 5},
            ["in_s", "text"],
        ),
    ],
)
async def test_a_bad_request_hears_of_each_wrong_field(
    call: Caller, service: str, body: object, wrong: list[str]
) -> None:
    """Not only of the first; the headers say it, too, as the standard protocol has it."""
    raw = orjson.dumps(body)
    reply = await call.broker.client.request(
        f"svc.ada.{service}", raw, timeout=PATIENCE_S
    )
    error = orjson.loads(reply.data)["error"]

    assert sorted(each["field"] for each in error["fields"]) == wrong
    assert all(each["problem"] for each in error["fields"])
    assert reply.headers is not None
    assert reply.headers["Nats-Service-Error-Code"] == "400"
    assert reply.headers["Nats-Service-Error"].startswith("invalid: ")


async def test_what_the_mind_refuses_is_not_accepted(call: Caller) -> None:
    """A well-formed control without effect: the log holds it and its refusal."""
    reply = await call("svc.ada.skill.load", {"skill": "no-such"})

    assert reply["accepted"] is False
    assert reply["error"]["reason"] == reply["answer"]["reason"]
    assert await call.broker.reader.record(reply["sequence"]) is not None


async def test_the_services_are_discovered(call: Caller) -> None:
    """By the standard protocol: who is there, what may be called, and how it fares."""
    await call("svc.ada.modulate", {})
    pong = await call("$SRV.PING", b"")
    told = await call("$SRV.INFO.echoic", b"")
    counted = (await call(f"$SRV.STATS.echoic.{pong['id']}", b""))["endpoints"]

    assert (pong["name"], pong["type"]) == ("echoic", "io.nats.micro.v1.ping_response")
    assert [each["subject"] for each in told["endpoints"]] == [
        f"svc.*.{each.name}" for each in CALLS
    ]
    assert all(each["metadata"]["meaning"] for each in told["endpoints"])
    [modulate] = [each for each in counted if each["name"] == "modulate"]
    assert modulate["num_requests"] == 1
    assert modulate["average_processing_time"] > 0


async def test_one_caller_who_waits_delays_no_other(call: Caller) -> None:
    """Calls of one service are worked on side by side."""
    both = await asyncio.gather(
        *(call("svc.ada.control", {"control": "goals_set", "goals": [g]}) for g in "ab")
    )
    assert [each["accepted"] for each in both] == [True, True]


@pytest.mark.parametrize("body", [{}, {"control": ""}, {"goals": ["rest"]}])
async def test_a_body_without_a_control_is_told_to_name_one(
    call: Caller, body: object
) -> None:
    """The refusal says which key is missing, and gives an example."""
    reply = await call("svc.ada.control", body)

    assert '"control": "goals_set"' in reply["error"]["detail"]


async def test_a_shared_control_reaches_every_partition(call: Caller) -> None:
    """A control for everybody is one input for each partition; a refusal is heard."""
    body = {
        "control": "pack_loaded",
        "name": "p",
        "pack_version": "1",
        "digest": "no-such-blob",
    }

    reply = await call("svc._.control", body)

    found = await call.broker.reader.page("ev.*.in._.control.pack_loaded", 0, 100)
    assert len(found) == PARTITIONS
    assert reply["answer"]["type"] == "control_refused"
    assert reply["answer"]["reason"] == "unknown_pack"


async def test_state_tells_what_is_known(call: Caller) -> None:
    """The state of an agent is what the worker's view of it says; else it is unknown."""
    await call("svc.ada.control", {"control": "goals_set", "goals": ["rest"]})

    known, unknown = await call("svc.ada.state"), await call("svc.bob.state")

    assert known == {"accepted": True, "state": {"goals": ["rest"]}}
    assert unknown["error"]["reason"] == "unknown_agent"


def _view(worker: Worker) -> Any:
    async def view(agent: str) -> dict[str, Any] | None:
        state = await worker.known_now(agent)
        if state is None:
            return None
        return {"goals": list(state.agents[agent].goals or ())}

    return view
