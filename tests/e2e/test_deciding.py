"""What must hold of every decision, shown through the doors of a running instance."""

import asyncio
from datetime import UTC, datetime, timedelta

import orjson
import pytest

from schemas.messages.asks import DeliveryAsked
from schemas.messages.controls import SessionEnded, SessionStarted
from schemas.messages.decisions import Completed, Decided, Dropped
from schemas.messages.notes import Handled
from schemas.messages.results import Delivered, ModelAnswered
from tests.e2e.companion import GAME, Companion
from tests.e2e.model_double import GOOD, ModelDouble, Reply, reply

pytestmark = [pytest.mark.asyncio(loop_scope="session"), pytest.mark.services]

THREAT = {"threat": 0.95}
TRIFLE = {"opportunity": 0.7}
EVENING = datetime(2026, 11, 20, 20, tzinfo=UTC)


def at(seconds: float) -> str:
    """A time of the recorded evening, as a sensor writes it."""
    return (EVENING + timedelta(seconds=seconds)).isoformat()


async def test_a_threat_passes_under_full_habituation(
    ada: Companion, double: ModelDouble
) -> None:
    """However often it came just before, a threat of 0.95 is never habituated."""
    event = f"Something growls in the dark ({ada.agent})"
    before = [
        await ada.senses(
            event, type_="creature", immediate=False, salience={"opportunity": 1.0}
        )
        for _ in range(6)
    ]
    assert before[-1].silence == "habituated"

    decision = await ada.senses(event, type_="creature", salience=THREAT)

    assert decision.path == "llm"
    assert decision.decided.salience.sensitivity < 0.2
    assert decision.decided.salience.effective < 0.5
    gate = next(each for each in decision.decided.gates if each.name == "habituation")
    assert (gate.passed, gate.note) == (True, "a threat always passes")


async def test_a_threat_is_served_before_trifles_that_came_earlier(
    ada: Companion, double: ModelDouble
) -> None:
    """With all three slots held, a threat's model call and delivery overtake the others."""
    release, free = asyncio.Event(), asyncio.Event()
    trifles = ["A leaf falls", "Far away a dog barks", "The milk has turned sour"]
    waiting = ["Somebody hums a tune", "The gate creaks", "It smells of fresh bread"]
    threat = f"An arrow flies at the head of {ada.agent}"
    # Held as well: two answers that come at once may be said in either order.
    for event in (*trifles[:2], *waiting):
        double.on(event, Reply(GOOD.text, release=release))
    double.on(trifles[2], Reply(GOOD.text, release=free))
    double.on(threat, reply("Duck!"))

    for event in trifles:
        await ada.publish(event, type_="weather", salience=TRIFLE, ttl_s=60)
        await double.asked_about(event)
    for event in waiting:
        await ada.publish(event, type_="weather", salience=TRIFLE, ttl_s=60)
    await ada.comes(Decided, 6)
    await ada.publish(threat, type_="creature", salience=THREAT, ttl_s=60)
    await ada.comes(Decided, 7)
    # That it is decided does not tell that the effects have its ask, too.
    await asyncio.sleep(1.0)
    free.set()

    await double.asked_about(threat)
    asked = [each.prompt for each in double.asked]
    later = [event for event in waiting if any(event in each for each in asked)]
    place = next(number for number, each in enumerate(asked) if threat in each)
    assert not [
        event for event in later if any(event in each for each in asked[:place])
    ]
    # The slot that came free said its trifle; the threat's words are the next.
    said = [(await ada.hears())["text"] for _ in range(2)]
    assert said[1] == "Duck!"
    release.set()
    await ada.comes(Completed, 7)


async def test_decisions_keep_the_order_of_the_log(ada: Companion) -> None:
    """Whoever is served first, decisions stand in the order of their events."""
    ids = [
        await ada.publish(f"Star number {n} is out", type_="weather", salience=salience)
        for n, salience in enumerate([{}, THREAT, {}, THREAT, {"novelty": 0.1}])
    ]

    decided = await ada.comes(Decided, 5)

    assert [each.event_id for each in decided] == ids


async def test_an_informational_event_gets_a_silent_decision(
    ada: Companion, double: ModelDouble
) -> None:
    """What only informs is recorded and decided on, and never answered."""
    event = f"The market opens at nine, {ada.agent}"

    decision = await ada.senses(event, intent="informational", salience=THREAT)

    assert (decision.path, decision.silence) == ("none", "informational")
    assert decision.decided.final
    assert not [each for each in double.asked if event in each.prompt]


async def test_evaluation_data_never_reaches_a_prompt(
    ada: Companion, double: ModelDouble
) -> None:
    """Ground truth that a sensor adds is kept in the log, and no model ever sees it."""
    event = f"A stranger offers a deal to {ada.agent}"
    truth = {"correct_response": "xylophone-1848", "nested": ["xylophone-1849"]}

    decision = await ada.senses(event, type_="creature", evaluation_data=truth)

    (asked,) = await double.asked_about(event)
    assert decision.path == "llm"
    assert "xylophone" not in asked.raw
    assert not [each for each in double.asked if "xylophone" in each.raw]
    (group, *_) = [
        each for each in await ada.groups() if decision.decided.event_id in str(each)
    ]
    assert orjson.loads(group.input.body)["evaluation_data"] == truth
    assert not [each for each in group.outputs if b"xylophone" in each.body]


async def test_goals_are_in_the_system_prompt(
    ada: Companion, double: ModelDouble
) -> None:
    """What the person wants to reach stands in what the model is told."""
    event = f"The road forks before {ada.agent}"
    await ada.senses(event, type_="weather")

    (asked,) = await double.asked_about(event)
    assert "- Survive the night" in asked.system


async def test_the_same_id_decides_once(ada: Companion) -> None:
    """A repeat is decided once, also when the broker has long forgotten the id."""
    first = await ada.senses("The well is dry", type_="weather", id_="well-1")
    await asyncio.sleep(0.3)  # longer than the broker's window of 0.1 s

    await ada.publish("The well is dry", type_="weather", id_="well-1")
    await ada.publish("Entirely other words", type_="weather", id_="well-1")

    handled = [
        each for each in await ada.comes(Handled, 2) if each.reason == "duplicate"
    ]
    assert len(await ada.outputs(Decided)) == 1
    assert handled
    assert first.id in handled[0].detail


async def test_the_same_id_of_another_source_is_another_event(ada: Companion) -> None:
    """Ids are a sensor's own: two sources may use the same."""
    await ada.senses("The well is dry", type_="weather", id_="same")
    wire = orjson.dumps({"text": "The lake is frozen"})
    await ada.live.client.request(
        f"in.{ada.agent}.lake.weather", wire, headers={"ce-id": "same"}
    )

    decided = await ada.comes(Decided, 2)

    assert {each.source for each in decided} == {GAME, "lake"}


async def test_an_answer_past_the_ttl_is_stale(
    ada: Companion, double: ModelDouble
) -> None:
    """An answer that comes when the moment has passed is recorded and not said."""
    release = asyncio.Event()
    event = f"A deer crosses the path of {ada.agent}"
    double.on(event, Reply(reply("Look, a deer!").text, release=release))
    await ada.tell(SessionStarted(session_id="evening", clock="event"))
    event_id = await ada.publish(event, type_="creature", ttl_s=5, occurred_at=at(0))
    await double.asked_about(event)
    await ada.senses("Much later", intent="informational", occurred_at=at(60))

    release.set()

    decision = await ada.decided(event_id, "creature")
    assert (decision.path, decision.silence) == ("fallback", "stale")
    assert ada.words.empty()
    assert [each.reason for each in await ada.outputs(Dropped)] == ["stale"]
    assert len(await ada.inputs(ModelAnswered)) == 1
    await ada.tell(SessionEnded())


async def test_an_answer_past_the_ttl_is_stale_by_the_brokers_clock(
    ada: Companion, double: ModelDouble
) -> None:
    """Without an event clock the broker's time decides what comes too late."""
    release = asyncio.Event()
    event = f"A comet crosses the sky over {ada.agent}"
    double.on(event, Reply(GOOD.text, release=release))
    event_id = await ada.publish(event, type_="weather", ttl_s=0.3)
    await double.asked_about(event)
    await asyncio.sleep(0.4)

    release.set()

    decision = await ada.decided(event_id, "weather")
    assert (decision.path, decision.silence) == ("fallback", "stale")
    assert ada.words.empty()


async def test_a_delivery_is_recorded(ada: Companion) -> None:
    """What went out is an input of the log, and bears the id of its ask."""
    await ada.senses("Player health is low", fields={"health": 1})
    await ada.hears()

    (asked,) = await ada.outputs(DeliveryAsked)
    await ada.comes(Handled)
    (delivered,) = await ada.inputs(Delivered)
    assert delivered.channel == asked.channel


async def test_what_goes_out_bears_what_a_receiver_needs(ada: Companion) -> None:
    """The words carry decision, event, type, urgency, path, action and expiry."""
    decision = await ada.senses(
        "Player health is low", fields={"health": 1}, urgency=0.6
    )

    said = await ada.hears()

    assert sorted(said) == [
        "action",
        "decision_id",
        "event_id",
        "expires_at",
        "path",
        "text",
        "ttl_s",
        "type",
        "urgency",
    ]
    assert said["event_id"] == decision.decided.event_id
    assert said["urgency"] == 0.6
    assert datetime.fromisoformat(said["expires_at"]) > datetime.now(UTC)
