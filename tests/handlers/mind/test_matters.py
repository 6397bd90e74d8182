"""What goes on is said again after a while, what is another matter at once; and watches."""

from typing import Any

import pytest

from echoic.packs import phrases
from schemas.messages.asks import DeliveryAsked
from schemas.messages.decisions import Decided, Held
from schemas.messages.executive import SalienceModulated
from tests import factories
from tests.factories import heuristic, pack
from tests.handlers.mind.test_restraint import THREAT, closed, gate
from tests.scenario import Scenario, one, said

OVEN = "the oven is still on"
TYPES: tuple[dict[str, Any], ...] = (
    {"type": "oven"},
    {"type": "oven_changed", "ends": ["oven"], "ends_when": "on = false"},
    {"type": "bell", "tau_s": 5},
    {"type": "tank", "state": "level"},
    {"type": "window", "about": ["room"]},
    {"type": "crumbs", "about": []},
    {"type": "doing", "means": "user_state"},
)
HOUSE = pack(
    heuristic("oven", OVEN, "The oven is still on.", 0.8, when='type = "oven"'),
    heuristic("lamp", "a lamp is on", "A lamp is on.", 0.8, when='type = "lamp"'),
    heuristic("bell", "somebody rings", "Ding.", 0.8, when='type = "bell"'),
    heuristic("tank", "the tank", "Mind the tank.", 0.8, when='type = "tank"'),
    types=("lamp",),
    events=TYPES,
    setting="home",
)
TRIVIAL: dict[str, Any] = {"salience": {"actionability": 0.1}}


def lived(*packs: Any, **executive: Any) -> Scenario:
    """A house with relevance as it is shipped, and no cooldowns."""
    settings = {"relevance": True, "again_s": 900.0, **executive}
    return Scenario(*(packs or (HOUSE,)), relevance=0.5, executive=settings)


def on(
    scenario: Scenario,
    after_s: float,
    text: str = OVEN,
    type_: str = "oven",
    **more: Any,
) -> str | None:
    """What is said of an event so much later; None: nothing."""
    more = {"entities": [], **more}
    return scenario.wait(after_s).decide(text, type_=type_, **more).text


def test_what_goes_on_is_said_again_after_a_quarter_of_an_hour() -> None:
    """A taught heuristic, a sensor without hints: at 0, 15 and 30 minutes, at no other."""
    scenario = lived()
    heard = [
        on(scenario, 300.0, f"the oven is still on, for {minutes} minutes")
        for minutes in range(0, 40, 5)
    ]

    assert [index for index, each in enumerate(heard) if each] == [0, 3, 6]


def test_from_the_fifth_time_on_it_is_said_more_and_more_seldom() -> None:
    """An oven that is on all day does not nag."""
    scenario = lived()
    heard = [on(scenario, 900.0) for _ in range(24)]

    assert [n for n, each in enumerate(heard) if each] == [0, 1, 2, 3, 4, 6, 10, 18]


def test_what_comes_now_and_then_is_not_said_more_seldom_for_it() -> None:
    """The tenth ring of a day is heard as the first: it did not ring ever since."""
    scenario = lived()
    ring: dict[str, Any] = {"text": "somebody rings", "type_": "bell", "urgency": 0.9}
    rings = [on(scenario, seconds, **ring) for seconds in (600.0, 20.0) * 6]

    assert rings == ["Ding."] * 12


@pytest.mark.parametrize(
    ("first", "second", "is_said"),
    [
        ({"room": "bath"}, {"room": "hall"}, True),
        ({"room": "bath"}, {"room": "bath"}, False),
        ({"room": "bath", "watt": 40}, {"room": "bath", "watt": 60}, False),
        ({"room": "bath", "bright": False}, {"room": "bath", "bright": True}, True),
        ({}, {}, False),
    ],
)
def test_another_thing_or_another_state_is_news(
    first: dict[str, Any], second: dict[str, Any], is_said: bool
) -> None:
    """Fields that are words tell which one it is, those that are true or false its state."""
    scenario = lived()
    on(scenario, 1.0, "a lamp is on", "lamp", fields=first)
    again = on(scenario, 1.0, "a lamp is on", "lamp", fields=second)

    assert (again is not None) is is_said


def test_two_things_of_one_heuristic_need_no_rest_between_them() -> None:
    """Its own cooldown is for one matter; two lamps are two."""
    scenario = lived(heuristic_cooldown_s=30.0)
    heard = [
        on(scenario, 1.0, "a lamp is on", "lamp", fields={"room": room})
        for room in ("bath", "hall", "attic")
    ]

    assert heard == ["A lamp is on."] * 3


@pytest.mark.parametrize(
    ("between", "is_said"),
    [
        ({"type_": "oven_changed", "fields": {"on": False}}, True),
        ({"type_": "oven_changed", "fields": {"on": True}}, False),
        ({"type_": "oven_changed", "fields": {"on": False}, "source": "other"}, False),
    ],
)
def test_what_is_over_is_news_when_it_comes_back(
    between: dict[str, Any], is_said: bool
) -> None:
    """As the pack declares which event ends it, and when."""
    scenario = lived()
    on(scenario, 1.0)
    scenario.wait(60.0).decide("the oven was switched", **{**between, **TRIVIAL})

    assert (on(scenario, 60.0) is not None) is is_said


def test_a_type_that_habituates_sooner_repeats_sooner() -> None:
    """A second ring sixteen seconds later is heard, one after five is not."""
    scenario = lived()
    ring: dict[str, Any] = {"text": "somebody rings", "type_": "bell", "urgency": 0.9}

    assert [on(scenario, s, **ring) for s in (1.0, 5.0, 11.0)] == [
        "Ding.",
        None,
        "Ding.",
    ]


def test_a_pack_names_the_field_that_tells_the_state() -> None:
    """Then a number counts, which else is a reading."""
    scenario = lived()
    heard = [
        on(scenario, 1.0, "the tank", "tank", fields={"level": level})
        for level in (3, 3, 2)
    ]

    assert heard == ["Mind the tank.", None, "Mind the tank."]


@pytest.mark.parametrize(("type_", "heard"), [("window", 2), ("crumbs", 1)])
def test_a_pack_names_the_fields_that_tell_which_one_it_is(
    type_: str, heard: int
) -> None:
    """Whatever its sensor says that it is about; with none of them all are one."""
    scenario = lived(pack(heuristic("all", "it lies", "Look.", 0.8), events=TYPES))
    places = [("bath", ["a"]), ("bath", ["b"]), ("hall", ["a"])]
    texts = [
        on(scenario, 1.0, "it lies", type_, fields={"room": room}, entities=about)
        for room, about in places
    ]

    assert len([each for each in texts if each]) == heard


def test_a_threat_is_not_said_again_and_again() -> None:
    """It passes all that is about being too much, and not that it was heard."""
    scenario = lived()
    on(scenario, 1.0, **THREAT)
    again = scenario.wait(60.0).decide(OVEN, type_="oven", **THREAT)

    assert again.silence == "already_said"
    found = gate(again, "already_said")
    assert found is not None
    assert (found.value, found.threshold, found.passed) == (60.0, 900.0, False)


@pytest.mark.parametrize(
    ("fields", "is_said"), [({"smoke": 80}, True), ({"smoking": True}, False)]
)
def test_what_is_of_a_moment_and_matters_is_said_each_time(
    fields: dict[str, Any], is_said: bool
) -> None:
    """Only what can be over goes on; a sensor that says what it is worth is believed."""
    scenario = lived(pack(heuristic("hut", "smoke", "Get out.", 0.8), types=("hut",)))
    heard = [
        on(scenario, 60.0, "smoke", "hut", fields=fields, **THREAT) for _ in range(2)
    ]

    assert heard == ["Get out.", "Get out." if is_said else None]


def test_what_was_not_said_is_no_matter_of_which_something_was() -> None:
    """A person who was told nothing, for a model declined, may hear of it next time."""
    scenario = Scenario(
        relevance=0.5,
        model=factories.MODEL,
        formation=True,
        executive={"relevance": True, "again_s": 900.0},
    )
    lively: dict[str, Any] = {
        "salience": {"actionability": 1.0, "social": 1.0},
        "type_": "boiler",
    }
    asked = scenario.wait(1.0).sense("the boiler hums", **lively)
    scenario.answer_model(asked, "")
    again = scenario.wait(60.0).decide("the boiler hums", **lively)

    assert "already_said" not in [each.name for each in again.gates]


@pytest.mark.parametrize(
    ("extra", "settings", "is_said"),
    [({}, {}, True), (TRIVIAL, {}, False), ({}, {"relevance": False}, False)],
    ids=["no hint", "a hint that it is trivial", "switched off"],
)
def test_what_was_taught_matters_though_it_is_nothing_new(
    extra: dict[str, Any], settings: dict[str, Any], is_said: bool
) -> None:
    """Where no sensor says what it is worth, a trusted heuristic's confidence does."""
    scenario = lived(**settings)
    for _ in range(3):
        scenario.wait(1.0).decide("a lamp is on", type_="note", source="hall")
    decided = scenario.wait(1.0).decide(
        "a lamp is on", type_="lamp", fields={"room": "bath"}, **extra
    )
    # Another thing, in the same words.
    again = scenario.wait(1.0).decide(
        "a lamp is on", type_="lamp", fields={"room": "attic"}, **extra
    )

    assert (again.text is not None) is is_said, (closed(decided), closed(again))
    if is_said:
        found = [each.note for each in again.gates if each.name == "relevance"]
        assert found == ["a trusted heuristic matches it"]


def test_who_wants_less_talk_hears_less_of_what_was_taught() -> None:
    """The confidence is held against the same threshold, moved as it is for all."""
    scenario = lived()
    on(scenario, 1.0, "a lamp is on", "lamp", fields={"room": "bath"})
    scenario.control(SalienceModulated(change="threshold", amount=0.4, by="ada"))

    quieter = on(scenario, 400.0, "a lamp is on", "lamp", fields={"room": "hall"})

    assert quieter is None


HEDGEHOG: dict[str, Any] = {"source": "garden", "type_": "visitor"}


def watching(topic: str = "hedgehogs", **settings: Any) -> Scenario:
    """Somebody asked to be told of something, in a house that knows nothing of it."""
    scenario = lived(**settings)
    scenario.control(SalienceModulated(change="heighten", about=topic, by="ada"))
    return scenario


@pytest.mark.parametrize(
    ("topic", "text", "is_said"),
    [
        ("hedgehogs", "A hedgehog is in the garden.", True),
        ("foxes", "A fox runs across the lawn.", True),
        ("the moon", "The moon has risen.", True),
        ("a parcel", "Two parcels have come.", True),
        ("bees", "It is to be sunny.", False),
        ("hedgehogs", "A cat is in the garden.", False),
    ],
)
def test_what_is_watched_for_is_told_as_it_comes(
    topic: str, text: str, is_said: bool
) -> None:
    """Without a heuristic and without a model, each time; nothing else is."""
    scenario = watching(topic)
    turns = [scenario.wait(5.0).sense(text, **HEDGEHOG) for _ in range(2)]

    told = [each.text for turn in turns for each in said(turn, DeliveryAsked)]
    assert told == ([text] * 2 if is_said else [])
    if is_said:
        decided = one(turns[0], Decided)
        assert (decided.path, decided.arm) == ("proactive", "watch")


@pytest.mark.parametrize(
    ("words", "came", "times"),
    [
        ("watch for hedgehogs", "A hedgehog is in the garden.", 2),
        ("tell me when a hedgehog comes", "A hedgehog is in the garden.", 1),
        ("tell me whenever a hedgehog comes", "A hedgehog is in the garden.", 2),
        ("tell me when the washing is done", "The washing machine has finished.", 1),
        ("tell me when somebody is at the door", "A man stands at the door.", 1),
        ("tell me when the heating is on", "The heating is off.", 0),
        ("tell me when a hedgehog comes", "A cat is in the garden.", 0),
        ("sag mir Bescheid, wenn ein Igel kommt", "Ein Igel ist im Garten.", 1),
    ],
)
def test_a_sentence_is_watched_for_by_its_words_and_once(
    words: str, came: str, times: int
) -> None:
    """Unless it is wanted each time; a thing to watch for is told each time."""
    scenario = lived(phrases=phrases.shipped(("en", "de")))
    scenario.sense(words, source="user", type_="message", person="ada")
    turns = [scenario.wait(5.0).sense(came, **HEDGEHOG) for _ in range(2)]

    told = [each.text for turn in turns for each in said(turn, DeliveryAsked)]
    assert told == [came] * times
    assert len(scenario.mind.executive.peace.modulations) == (times != 1)


def test_a_watch_for_once_ends_with_a_heuristics_words_too() -> None:
    """Then nobody is told a second time that the oven is on."""
    scenario = lived()
    watch = SalienceModulated(change="heighten", about="oven", once=True, by="ada")
    scenario.control(watch)

    assert [on(scenario, 60.0), on(scenario, 60.0)] == ["The oven is still on.", None]


def test_a_watch_hears_what_only_informs_and_a_mute_is_above_it() -> None:
    """Who comes home is information, and still what somebody waits for."""
    scenario = watching("ben")
    home: dict[str, Any] = {
        "source": "door",
        "type_": "presence",
        "intent": "informational",
    }

    assert scenario.wait(1.0).decide("Ben is home.", **home).text == "Ben is home."
    assert scenario.decide("ben is late", source="user", type_="message").arm != "watch"


def test_what_a_heuristic_knows_is_told_in_its_words() -> None:
    """And credited to it; a watch only says what nothing else says."""
    scenario = watching("oven")

    assert [on(scenario, 60.0), on(scenario, 60.0)] == ["The oven is still on."] * 2


def test_a_watch_waits_for_a_break_as_all_else() -> None:
    """Into a call nothing is said that is no alert."""
    scenario = watching(timing=True)
    busy: dict[str, Any] = {"type_": "doing", "fields": {"busy": True}, "person": "ada"}
    scenario.sense("in a call", intent="informational", **busy)
    turn = scenario.wait(1.0).sense("A hedgehog is in the garden.", **HEDGEHOG)

    (held,) = said(turn, Held)
    assert (held.timing, held.answer.path) == ("queued", "proactive")


def test_a_topic_is_what_people_call_an_event_by_its_pack() -> None:
    """The laundry is what the washing machine has done, though no word of it says so."""
    wash = heuristic("wash", "the machine is done", "The washing is done.", 0.8)
    called = pack(wash, events=({"type": "wash", "called": ["laundry"]},))
    scenario = lived(called)
    no_more = SalienceModulated(change="suppress", about="the laundry", by="ada")
    scenario.control(no_more)

    decided = scenario.decide("the machine is done", type_="wash")

    assert decided.silence == "suppressed"


@pytest.mark.parametrize(
    ("topic", "meant"),
    [
        ("the laundry", " By that I mean: wash done."),
        ("the door", " By that I mean: front door, bell."),
        ("the bell", ""),
        ("politics", ""),
    ],
)
def test_who_wants_no_more_of_a_topic_hears_which_events_that_are(
    topic: str, meant: str
) -> None:
    """Unless the words name the only one; what is unknown is promised as it was said."""
    types: tuple[dict[str, Any], ...] = (
        {"type": "wash_done", "called": ["laundry"]},
        {"type": "front_door"},
        {"type": "bell", "called": ["door"]},
        {"type": "door_sensor", "means": "user_state"},
    )
    home = pack(heuristic("a", "b", "c", 0.8), events=types)
    scenario = lived(home, phrases=phrases.shipped(("en",)))
    told = scenario.sense(
        f"stop telling me about {topic}", source="user", type_="message", person="ada"
    )

    said_of = f"OK, I'll stop telling you about {topic}.{meant}"
    assert one(told, DeliveryAsked).text == said_of
