"""The services against a real broker: calls that become inputs, and their answers."""

from collections.abc import AsyncIterator
from typing import Any

import orjson
import pytest

from echoic.client.connection import LiveLog
from echoic.doors.services import Services, subscribe
from handlers.broker import faststream_broker, start
from handlers.worker.loop import Worker
from schemas.values.subjects import PARTITIONS
from streams.audit import audit
from tests.minds import publish, sensed, started, unserved, working
from tests.servers import Broker

pytestmark = pytest.mark.services


class Caller:
    """Calls services as a client of the broker does."""

    def __init__(self, broker: Broker) -> None:
        """Call through a connection."""
        self.broker = broker

    async def __call__(self, subject: str, body: object = None) -> dict[str, Any]:
        """Call, and return the reply."""
        raw = body if isinstance(body, bytes) else orjson.dumps(body)
        reply = await self.broker.client.request(subject, raw, timeout=10)
        answered: dict[str, Any] = orjson.loads(reply.data)
        return answered


@pytest.fixture
async def call(broker: Broker) -> AsyncIterator[Caller]:
    """A worker and its services, and a way to call them."""
    async with working(broker.reader, broker.writer, started()) as worker:
        log = LiveLog(broker.client, broker.reader.epoch)
        services = Services(log, _view(worker), unserved, unserved, unserved, unserved)
        served = faststream_broker(broker.server.core)
        subscribe(served, services)
        await start(served)
        yield Caller(broker)
        await served.stop()


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
    """A call that the mind refuses was accepted, and its answer says why not."""
    body = {"decision_id": "no-such", "rating": "positive"}

    reply = await call("svc.ada.feedback", body)

    assert reply["accepted"] is True
    assert reply["answer"]["type"] == "feedback_refused"
    assert reply["answer"]["reason"] == "unknown_decision"


async def test_feedback_on_a_decision_is_applied(call: Caller) -> None:
    """A thumb on what was decided counts for its actor."""
    [sequence] = await publish(call.broker.writer, [sensed("ada", "1", "a visitor")])
    looked = await call("svc.ada.control", {"control": "goals_set", "goals": []})
    decided = await call.broker.reader.page("ev.*.out.ada.decision.>", sequence, 1)
    body = {"decision_id": decided[0].headers["ce-id"], "rating": "negative"}

    reply = await call("svc.ada.feedback", body | {"actor": "eva"})

    assert looked["accepted"] is True
    assert reply["answer"]["type"] == "feedback_applied"


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
        ("svc.ada.control", {"control": "person_forgotten"}, "not_built"),
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
        state = worker.state_of(agent)
        return None if state is None else {"goals": list(state.goals or ())}

    return view
