"""What programs ask of a running instance, by request and reply on its broker."""

import asyncio
from typing import Any

import orjson
import pytest
from msgspec import convert

from echoic.client.instance_note import read_note
from echoic.doors.calls import CALLS
from echoic.doors.replies import Refused
from streams.jetstream.accounts import Credentials
from streams.jetstream.connection import connected
from tests.echoic.cli.acting import thirsty
from tests.echoic.cli.conftest import Program
from tests.patience import PATIENCE_S

# Each waits for real servers.
pytestmark = [pytest.mark.services, pytest.mark.timeout(240)]

THIRSTY = {
    "text": "Your drink is low: 3 of 9.",
    "source": "crafter",
    "type": "vital_changed",
    "fields": {"vital": "drink", "value": 3},
    "salience": {"threat": 0.9},
}

TAUGHT = {
    "heuristic_id": "h-tea",
    "name": "tea",
    "domain": "kitchen",
    "condition": "the kettle boils",
    "text": "Your tea is ready.",
}


def called(
    live: Program, subject: str, body: object = None, id_: str | None = None
) -> dict[str, Any]:
    """What an instance replies to a call."""
    note = read_note(live.data)
    assert note is not None
    credentials = Credentials(note.nats_url, note.nats_user, note.nats_password)

    async def call() -> dict[str, Any]:
        raw = body if isinstance(body, bytes) else orjson.dumps(body)
        async with connected(credentials, "a caller") as client:
            headers = {"ce-id": id_} if id_ is not None else None
            reply = await client.request(
                subject, raw, timeout=PATIENCE_S, headers=headers
            )
        answered: dict[str, Any] = orjson.loads(reply.data)
        return answered

    return asyncio.run(call())


def test_the_state_tells_position_and_packs(live: Program) -> None:
    """What the worker knows, at the place up to which it knows it."""
    thirsty(live, "looked", 3, "Your drink is low: 3 of 9.")
    first = called(live, "svc.looked.state")["state"]
    thirsty(live, "looked", 3, "Your drink is low: 3 of 9.")
    second = called(live, "svc.looked.state")["state"]

    assert 0 < first["position"] < second["position"]
    assert [each.split()[0] for each in first["packs"]] == ["survival"]


def test_an_event_is_processed(live: Program) -> None:
    """Under the seed's names; the event's id may be the caller's, and counts once."""
    body = {**THIRSTY, "event_id": "e-1"}
    reply = called(live, "svc.processed.process", body)
    again = called(live, "svc.processed.process", body)
    rejected = called(live, "svc.processed.process", {"text": "The sea is deep."})

    assert reply["response_text"] == "You are thirsty. Find water and drink."
    assert (reply["accepted"], reply["event_id"]) == (True, "e-1")
    assert again["error"]["reason"] == "undecided"
    assert "decided as" in again["error"]["detail"]
    assert (rejected["accepted"], rejected["decision_path"]) == (False, "rejected")
    assert rejected["silence"] == "llm_unavailable"


def test_heuristics_are_queried_and_got(live: Program) -> None:
    """Those like an event, nearest first; one by its id; all of a domain."""
    reply = called(live, "svc.queried.process", THIRSTY)
    id_ = reply["matched_heuristic_id"]
    like = called(live, "svc.queried.heuristics", THIRSTY)["error"]
    query = {key: THIRSTY[key] for key in THIRSTY if key != "salience"}
    near = called(live, "svc.queried.heuristics", query)["heuristics"]
    got = called(live, "svc.queried.heuristics", {"heuristic_id": id_})["heuristics"]
    few = called(live, "svc.queried.heuristics", {"domain": "survival", "limit": 3})[
        "heuristics"
    ]
    none = called(live, "svc.queried.heuristics", {"min_confidence": 1})["heuristics"]

    assert like["reason"] == "invalid"
    assert near[0]["id"] == id_
    assert near[0]["eligible"]
    assert [each["similarity"] for each in near] == sorted(
        (each["similarity"] for each in near), reverse=True
    )
    assert got[0]["confidence"] == 0.8
    assert (len(got), len(few), none) == (1, 3, [])


LARGE = {"type": "t", "source": "s", "text": "a", "fields": {"a": "b" * 40_000}}


@pytest.mark.parametrize(
    ("subject", "body", "reason"),
    [
        ("svc.bad.process", b"{", "not_json"),
        ("svc.bad.process", b"[1]", "not_an_object"),
        ("svc.bad.process", {}, "invalid"),
        ("svc.bad.process", {"text": "a", "source": "a.b"}, "bad_subject"),
        ("svc.bad.process", {"text": "a", "type": "feedback"}, "bad_subject"),
        ("svc.bad.sense", LARGE, "too_large"),
        ("svc._.process", {"text": "a"}, "bad_subject"),
        ("svc.a$a.process", {"text": "a"}, "bad_subject"),
        ("svc.bad.heuristics", {"limit": 0}, "invalid"),
        ("svc.bad.heuristics", {"min_confidence": True}, "invalid"),
        ("svc.bad.message", {"text": "a", "urgency": True}, "invalid"),
        ("svc.bad.process", {"text": "a", "salience": {"threat": True}}, "invalid"),
        ("svc.nobody-yet.heuristics", None, "unknown_agent"),
        ("svc.queried.heuristics", {"heuristic_id": "x"}, "unknown_heuristic"),
    ],
)
def test_a_call_without_meaning_says_why(
    live: Program, subject: str, body: object, reason: str
) -> None:
    """Nothing is published, and the reply names what is wrong."""
    called(live, "svc.queried.process", {"text": "hello"})
    reply = called(live, subject, body)

    assert reply["accepted"] is False
    assert reply["error"]["reason"] == reason


@pytest.mark.parametrize("service", ["message", "process", "sense"])
def test_a_repeated_call_of_an_id_counts_once(live: Program, service: str) -> None:
    """The header's id is the event's; a field of its own goes before."""
    body: dict[str, Any] = {"text": "hello"}
    body |= {"source": "door", "type": "opened"} if service == "sense" else {}
    subject, id_ = f"svc.twice.{service}", f"once-{service}"

    replies = [called(live, subject, body, id_) for _ in range(2)]
    own = called(live, subject, body | {"event_id": f"own-{service}"}, id_)

    assert [each["event_id"] for each in replies] == [id_, id_]
    # The intake keeps both; the mind decides on the first alone.
    if service != "sense":
        assert replies[1]["error"]["reason"] == "undecided"
        assert "not decided again" in replies[1]["error"]["detail"]
    assert own["event_id"] == f"own-{service}"


def test_every_service_replies_in_its_own_type(live: Program) -> None:
    """Each call of the catalogue, with a request that is accepted."""
    me = "asked"
    response = called(live, f"svc.{me}.process", THIRSTY)
    id_ = response["matched_heuristic_id"]
    requests: dict[str, object] = {
        "message": {"text": "I am thirsty now.", "person": "ada"},
        "sense": THIRSTY,
        "process": THIRSTY,
        "feedback": {"decision_id": response["response_id"], "rating": "positive"},
        "modulate": {"change": "heighten", "type": "vital_changed", "for_s": 60},
        "emit": {"text": "Dinner is ready.", "person": "ada"},
        "personality": {"person": "ada"},
        "personality.set": {"template": "butler"},
        "trait.adjust": {"trait": "humor", "by_amount": 0.1},
        "skill.load": {"skill": "enthusiasm"},
        "skill.unload": {"skill": "enthusiasm"},
        "reminder.set": {"text": "call Lee", "in_s": 3600, "person": "ada"},
        "reminders": {"person": "ada"},
        "fact.state": {"subject": "Ada", "relation": "likes", "object": "tea"},
        "facts": {"about": "TEA"},
        "heuristics": {"domain": "survival"},
        "heuristic": {"heuristic_id": id_},
        "heuristic.store": TAUGHT,
        "control": {"control": "goals_set", "goals": ["live"]},
    }
    replies = {}
    for service in CALLS:
        reply = called(live, f"svc.{me}.{service.name}", requests.get(service.name, {}))
        replies[service.name] = reply
        if service.name == "reflection":
            # Nobody looks back here: the companion is no autonomous character.
            assert convert(reply, Refused).error.reason == "unfit"
            continue
        assert "error" not in reply, reply
        assert isinstance(convert(reply, service.reply), service.reply)

    assert response["accepted"]
    assert replies["message"]["silence"] == "llm_unavailable"
    assert replies["emit"]["decision"]["path"] == "proactive"
    assert replies["heuristic"]["heuristic"]["id"] == id_
    [reminder] = called(live, f"svc.{me}.reminders", {"person": "ada"})["reminders"]
    [fact] = called(live, f"svc.{me}.facts", {"about": "TEA"})["facts"]
    nobody = called(live, f"svc.{me}.reminders", {"person": "ben"})["reminders"]
    assert (reminder["text"], reminder["person"]) == ("call Lee", "ada")
    assert (fact["subject"], fact["object"], nobody) == ("Ada", "tea", [])
    assert replies["personality"]["personality"]["template"] is None
    after = called(live, f"svc.{me}.personality")["personality"]
    assert after["template"] == "butler"


def test_biases_are_set_and_listed(live: Program) -> None:
    """For all events or those of one domain; a larger one than a tenth is refused."""
    me = ("--agent", "bold")
    thirsty(live, "bold", 3, "Your drink is low: 3 of 9.")
    told = live.here("bias", "set", "confidence_threshold=-0.05", *me)
    of_domain = live.here(
        "bias", "set", "confidence_threshold=0.1", "--domain", "survival", *me, "--json"
    )
    rows = live.here("bias", "list", "--json", *me).json["rows"]
    far = live.here("bias", "set", "confidence_threshold=0.2", *me)
    state = called(live, "svc.bold.state")["state"]

    assert told.out == "confidence_threshold -0.05 from here\n"
    assert of_domain.json["domain"] == "survival"
    assert [(row["domain"], row["by"]) for row in rows] == [
        ("-", -0.05),
        ("survival", 0.1),
    ]
    assert far.code == 2
    assert "from -0.1 to 0.1" in far.err
    assert state["domain_biases"] == {"survival": {"confidence_threshold": 0.1}}


def test_the_personality_is_told_and_set(live: Program) -> None:
    """GetPersonality, SetPersonality and AdjustTrait of the source design."""
    thirsty(live, "served", 3, "Your drink is low: 3 of 9.")
    for body in (
        {"control": "personality_selected", "template": "coach"},
        {"control": "trait_adjusted", "trait": "humor", "by_amount": 0.25},
    ):
        assert called(live, "svc.served.control", body)["answer"]["type"] == (
            "control_applied"
        )
    found = called(live, "svc.served.personality")["personality"]

    assert (found["template"], found["traits"]["humor"]) == ("coach", 0.75)
    assert (
        called(live, "svc.nobody-yet.personality")["error"]["reason"] == "unknown_agent"
    )
    wrong = called(live, "svc.served.personality", {"person": 3})
    assert wrong["error"]["reason"] == "invalid"
