"""Output: which medium, voice and speed a response gets, and when a quip is in place."""

from typing import Any

import pytest
from pydantic import JsonValue

from echoic.packs.phrases import shipped
from handlers.mind.flows import told
from handlers.mind.flows.infer import infer
from handlers.mind.turn import Turn
from schemas.messages.asks import DeliveryAsked, StopAsked
from schemas.messages.decisions import Decided, Dropped, Gate
from schemas.messages.executive import (
    BreakSignalled,
    ContextSwitched,
    Muted,
    OutputInterrupted,
    PersonalitySelected,
    UserStateChanged,
)
from schemas.messages.notes import ControlInferred
from schemas.messages.results import Delivered, DeliveryBegun, DeliveryInterrupted
from schemas.state import limits
from schemas.values.personality import PersonalityTemplate
from tests.factories import MODEL, heuristic, pack
from tests.scenario import Scenario, applied, names, one, output, said


def known(name: str, condition: str, says: str, type_: str) -> dict[str, JsonValue]:
    """A heuristic whose answer has this type."""
    action: dict[str, JsonValue] = {"text": says, "type": type_}
    return heuristic(name, condition, says, 0.8) | {"action": action}


DOOR: dict[str, JsonValue] = {"type": "open", "target": "door"}
PACK = pack(
    known("low", "food is low", "Eat now.", "observation"),
    known("rain", "rain falls here", "Wet, is it?", "quip"),
    known("wind", "wind blows hard", "Hold on to your hat.", "quip"),
    known("fire", "a fire burns", "Out!", "alert"),
    heuristic("door", "somebody rings", "I open.")
    | {"action": {"text": "I open.", "type": "observation", "action": DOOR}},
    types=("vital", "message"),
    events=[{"type": "shown", "channel": "overlay"}],
)
LOW, FIRE, RING = "food is low", "a fire burns", "somebody rings"
RAIN, WIND = "rain falls here", "wind blows hard"
BUTLER = PersonalityTemplate(name="butler", voice="northern", speed=1.1)


def alive(**executive: Any) -> Scenario:
    """A scenario in which there is a speech channel."""
    own: dict[str, Any] = {"speech": True, "templates": (BUTLER,), **executive}
    return Scenario(PACK, relevance=0.0, executive=own)


def asked(scenario: Scenario, text: str, **fields: Any) -> DeliveryAsked:
    """How the answer to an event is given."""
    return one(scenario.sense(text, **fields), DeliveryAsked)


def way(ask: DeliveryAsked) -> tuple[str | None, str, str | None]:
    """The medium, the channel, and the one to fall back to."""
    return ask.output, ask.channel, ask.fallback_channel


SPOKEN = ("speech", "speech", "say")
WRITTEN = ("text", "say", None)


def test_without_a_speech_channel_nothing_changes() -> None:
    """What is asked has the very bytes that it had without the executive."""
    before = Scenario(PACK, relevance=0.0)
    now = alive(speech=False)

    for text in (LOW, FIRE, RING):
        assert asked(now, text).to_bytes() == asked(before, text).to_bytes()


@pytest.mark.parametrize(
    ("text", "speed"),
    [(LOW, 1.0), (FIRE, 1.2), (RAIN, 0.9)],
    ids=["said", "alert", "quip"],
)
def test_it_speaks_faster_under_threat_and_slower_in_small_talk(
    text: str, speed: float
) -> None:
    """By the seed's factors; without a template the speech channel has its own voice."""
    ask = asked(alive(), text)

    assert way(ask) == SPOKEN
    assert (ask.voice, ask.speed) == (None, speed)


def test_voice_and_speed_are_those_of_the_template() -> None:
    """Times the factors: what threatens makes anything hurried for ten seconds."""
    scenario = alive()
    scenario.control(PersonalitySelected(template="butler"))

    calm = asked(scenario, LOW)
    tense = asked(scenario, LOW, salience={"threat": 0.8})
    after = asked(scenario.wait(11), LOW)

    assert [each.voice for each in (calm, tense, after)] == ["northern"] * 3
    assert [each.speed for each in (calm, tense, after)] == [1.1, 1.32, 1.1]


@pytest.mark.parametrize(
    "as_text", ["observation", "person:ada", "context:work"], ids=lambda it: it
)
def test_it_is_written_where_the_settings_say_so(as_text: str) -> None:
    """For a type of response, a person, or a context; all else is spoken."""
    scenario = alive(as_text=[as_text])
    scenario.control(ContextSwitched(context="work"))
    written = asked(scenario, LOW, person="ada")
    scenario.control(ContextSwitched(context="home"))
    spoken = asked(scenario, FIRE, person="bob")

    assert way(written) == WRITTEN
    assert way(spoken) == SPOKEN


def test_nobody_is_spoken_to_who_is_away_or_asleep() -> None:
    """But what threatens wakes a sleeper."""
    scenario = alive()
    scenario.control(UserStateChanged(person="ada", away=True))
    scenario.control(UserStateChanged(person="bob", asleep=True))

    assert way(asked(scenario, FIRE, person="ada")) == WRITTEN
    assert way(asked(scenario, LOW, person="bob")) == WRITTEN
    assert way(asked(scenario, FIRE, person="bob")) == SPOKEN


def test_an_action_goes_to_the_program_that_takes_it() -> None:
    """And is not spoken over it."""
    assert way(asked(alive(), RING)) == ("action", "say", None)


def test_an_event_type_of_another_channel_is_written_there() -> None:
    """Its pack knows best where its answers belong."""
    assert way(asked(alive(), LOW, type_="shown")) == ("text", "overlay", None)


def quips(scenario: Scenario, after_s: float, **fields: Any) -> Decided:
    """What is decided on the event that only has a quip."""
    return scenario.wait(after_s).decide(RAIN, **fields)


def test_no_quip_comes_soon_after_another() -> None:
    """To the second, with the numbers on record; other answers are not concerned."""
    scenario = alive(quip_interval_s=300.0)
    first = quips(scenario, 0.0)
    other = scenario.decide(LOW)
    soon, later = quips(scenario, 299.0), quips(scenario, 1.0)

    assert [each.silence for each in (first, other, later)] == [None] * 3
    assert (soon.silence, soon.text) == ("recently_quipped", None)
    assert soon.gates[-1] == Gate(
        name="quip", passed=False, value=299.0, threshold=300.0, margin=-1.0
    )


def test_nobody_who_is_busy_gets_a_quip() -> None:
    """It does not wait for a break either: by then it is no fun."""
    scenario = alive(quip_interval_s=300.0, timing=True)
    scenario.control(UserStateChanged(busy=True))
    unfunny = quips(scenario, 0.0)
    scenario.control(UserStateChanged(busy=False))

    assert unfunny.silence == "busy"
    assert quips(scenario, 1.0).silence is None


def test_who_asks_for_one_gets_it() -> None:
    """A person's own words pass."""
    scenario = alive(quip_interval_s=300.0)
    quips(scenario, 0.0)

    words = quips(scenario, 1.0, source="user", type_="message")

    assert words.text == "Wet, is it?"


def test_a_quip_that_waited_is_dropped_if_another_was_made() -> None:
    """Two of them wait for the same lull; the first that is said is the only one."""
    scenario = alive(quip_interval_s=300.0, timing=True)
    scenario.decide(LOW)
    held = [scenario.wait(1).sense(each) for each in (RAIN, WIND)]
    assert [names(each) for each in held] == [["Decided", "Held"]] * 2

    one(scenario.wait(16).control(BreakSignalled()), DeliveryAsked)
    dropped = [each for each in scenario.outputs() if isinstance(each, Dropped)]

    why = [(each.reason, each.detail) for each in dropped]
    assert why == [("cooldown", "0 s after another quip")]


def begun(scenario: Scenario, text: str = LOW) -> str:
    """Something is being said; return the id of its ask."""
    ask_id = output(scenario.sense(text), DeliveryAsked).id
    scenario.tell(DeliveryBegun(ask_id=ask_id, channel="speech"))
    return ask_id


def cut(ask_id: str, after_ms: float = 700.0) -> DeliveryInterrupted:
    """The end of speech that was cut off."""
    return DeliveryInterrupted(
        ask_id=ask_id, channel="speech", reason="asked", after_ms=after_ms
    )


def test_it_is_known_what_is_being_said() -> None:
    """From when it was asked for until its end, which comes once."""
    scenario = alive()
    ask_id = begun(scenario)
    [now] = scenario.mind.executive.speech.asked
    assert (now.ask_id, now.begun_at) == (ask_id, scenario.at)

    ended = Delivered(ask_id=ask_id, channel="speech")
    assert names(scenario.tell(ended)) == ["Handled"]
    assert scenario.mind.executive.speech.asked == ()
    scenario.tell(cut(ask_id))
    assert scenario.mind.executive.speech.unsaid == ()


def test_who_interrupts_stops_what_is_being_said() -> None:
    """What is still to be said is not concerned; what was cut off is remembered."""
    scenario = alive()
    ask_id = begun(scenario)
    scenario.sense(FIRE)
    turn = scenario.control(OutputInterrupted())

    [stop] = said(turn, StopAsked)
    assert stop.ask_id == ask_id
    scenario.tell(cut(ask_id))
    [unsaid] = scenario.mind.executive.speech.unsaid
    assert (unsaid.decision_id, unsaid.after_ms) == (stop.decision_id, 700.0)
    assert applied(scenario.control(OutputInterrupted())) == "nothing is being said"


def test_a_response_can_be_named() -> None:
    """Then it stops even before it began, and nothing else does."""
    scenario = alive()
    begun(scenario)
    later = output(scenario.sense(FIRE), DeliveryAsked)
    assert isinstance(later.message, DeliveryAsked)
    named = OutputInterrupted(decision_id=later.message.decision_id)

    assert one(scenario.control(named), StopAsked).ask_id == later.id
    text = OutputInterrupted(channel="say")
    assert applied(scenario.control(text)) == "nothing is being said"


def test_what_is_remembered_of_speech_is_bounded() -> None:
    """Of what never ends, and of what is cut off."""
    scenario = alive()
    asks = [begun(scenario) for _ in range(limits.SPEECHES + 5)]
    assert len(scenario.mind.executive.speech.asked) == limits.SPEECHES
    for each in asks:
        scenario.tell(cut(each))

    assert scenario.mind.executive.speech.asked == ()
    assert len(scenario.mind.executive.speech.unsaid) == limits.UNSAID


def talking(**executive: Any) -> Scenario:
    """A scenario that speaks, and is spoken to in English and German."""
    known = {"phrases": shipped(("en", "de")), "quiet_cuts": True}
    return alive(**known, **executive)


def says(scenario: Scenario, text: str) -> Turn:
    """A person says so."""
    return scenario.wait(1).sense(text, source="user", type_="message", person="ana")


@pytest.mark.parametrize(
    ("text", "means"),
    [
        ("Stop!", "output_interrupted"),
        ("that's enough, thanks", "output_interrupted"),
        ("Stopp!", "output_interrupted"),
        ("Hör bitte auf", "output_interrupted"),
        ("hör auf, bitte", "output_interrupted"),
        ("sei still", "muted"),
        ("be quiet for ten minutes", "muted"),
        ("mute", "muted"),
        ("stop telling me about food", "salience_modulated"),
        ("stop the washing machine", None),
    ],
)
def test_words_that_stop_what_is_being_said(text: str, means: str | None) -> None:
    """As a control that was inferred; the acknowledgement comes after it and is heard."""
    scenario = talking()
    ask_id = begun(scenario)
    turn = says(scenario, text)

    inferred = [each.control for each in said(turn, ControlInferred)]
    assert inferred == ([means] if means else [])
    stops = [each.ask_id for each in said(turn, StopAsked)]
    is_stop = means in ("output_interrupted", "muted")
    assert stops == ([ask_id] if is_stop else [])
    if is_stop:
        acknowledged = output(turn, DeliveryAsked)
        assert names(turn).index("StopAsked") < names(turn).index("DeliveryAsked")
        assert acknowledged.id not in stops


def test_stop_ends_only_what_is_being_said() -> None:
    """What is still to be said is said; quiet takes it away, and lets an alert go on."""
    scenario = talking()
    ask_id, alert = begun(scenario), output(scenario.sense(FIRE), DeliveryAsked).id
    [stop] = said(says(scenario, "stop"), StopAsked)
    assert stop.ask_id == ask_id
    scenario.tell(cut(ask_id))
    [acknowledgement, later] = [
        output(says(scenario, "help"), DeliveryAsked).id,
        output(scenario.sense(RING, person="ana"), DeliveryAsked).id,
    ]
    waiting = [each.ask_id for each in scenario.mind.executive.speech.asked]
    assert alert in waiting
    assert later not in waiting  # an action is not spoken

    quiet = [each.ask_id for each in said(says(scenario, "be quiet"), StopAsked)]
    assert acknowledgement in quiet
    assert alert not in quiet


@pytest.mark.parametrize(
    ("control", "stopped"),
    [
        (Muted(mode="mute"), ["low", "fire"]),
        (Muted(mode="quiet"), ["low"]),
        (Muted(mode="mute", off=True), []),
    ],
)
def test_a_mute_cuts_what_is_being_said(control: Muted, stopped: list[str]) -> None:
    """By command as by words; a quiet spares alerts."""
    scenario = talking()
    asks = {"low": begun(scenario), "fire": begun(scenario, FIRE)}
    turn = scenario.control(control)

    stops = [each.ask_id for each in said(turn, StopAsked)]
    assert stops == [asks[each] for each in stopped]
    before = alive()
    begun(before)
    assert not said(before.control(control), StopAsked)


@pytest.mark.parametrize("words", ["stop", "be quiet"])
def test_who_may_infer_it(words: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """By its words a person may, by its own idea no model."""
    scenario = talking()
    begun(scenario)
    monkeypatch.setattr(
        told, "infer", lambda turn, each, _, **of: infer(turn, each, "model", **of)
    )
    turn = says(scenario, words)

    assert names(turn) == ["Decided", "DeliveryAsked"]
    assert one(turn, DeliveryAsked).text == "I can't do that."
    assert scenario.mind.executive.peace.restraints == ()


def test_a_models_words_stop_nothing() -> None:
    """They are nobody's wish."""
    scenario = Scenario(
        PACK,
        relevance=0.0,
        model=MODEL,
        executive={"speech": True, "phrases": shipped(("en",)), "quiet_cuts": True},
    )
    begun(scenario)
    asked = scenario.sense("what is that?", source="user", type_="message")
    answered = scenario.answer_model(asked, "Stop! Mute. Be quiet.")

    assert not said(answered, ControlInferred)
    assert not said(answered, StopAsked)
    assert said(answered, DeliveryAsked)
