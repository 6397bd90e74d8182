"""A cooldown loses nothing: what is urgent passes it, everything else waits for its end."""

from typing import Any

import pytest

from echoic.packs import phrases
from schemas.messages.asks import DeliveryAsked
from schemas.messages.decisions import Decided, Held
from schemas.messages.results import ClockTicked
from tests import factories
from tests.factories import heuristic, pack
from tests.handlers.mind.test_restraint import alive, happens
from tests.scenario import Scenario, one, said


@pytest.mark.parametrize(
    ("bell", "extra"),
    [
        ({"type": "alert"}, {}),
        ({"urgency": 0.8}, {}),
        ({}, {"urgency": 0.8}),
        ({}, {"salience": {"threat": 0.9}}),
    ],
    ids=["an alert", "an urgent rule", "an urgent event", "a threat"],
)
def test_what_is_urgent_meets_no_cooldown(
    bell: dict[str, Any], extra: dict[str, Any]
) -> None:
    """The doorbell after "The washing is done.", and again ten seconds later."""
    ring: dict[str, Any] = heuristic("ring", "somebody rings at the door", "Ding.", 0.8)
    if "type" in bell:
        ring["action"] = {"text": "Ding.", **bell}
    else:
        ring |= bell
    house = pack(heuristic("wash", "the washing is done", "Hang it up.", 0.8), ring)
    scenario = Scenario(
        house,
        relevance=0.0,
        executive={"cooldown_s": 4.0, "heuristic_cooldown_s": 30.0, "rate_per_hour": 2},
    )
    happens(scenario, "the washing is done")
    once = happens(scenario, "somebody rings at the door", after_s=1.8, **extra)
    again = happens(scenario, "somebody rings at the door", after_s=10.0, **extra)

    assert [once.text, once.timing] == ["Ding.", "immediate"]
    assert [again.text, again.timing] == ["Ding.", "immediate"]


def test_an_acknowledgement_starts_no_cooldown() -> None:
    """What one is told at once of one's own words delays nothing that matters."""
    scenario = alive(cooldown_s=4.0, phrases=phrases.shipped(("en",)))
    told = scenario.decide("help", source="user", type_="message", person="ada")

    assert told.path == "acknowledged"
    assert happens(scenario, after_s=0.1).timing == "immediate"


def test_a_model_is_urgent_six_times_an_hour() -> None:
    """A sensor that calls everything urgent talks no more than others."""
    scenario = Scenario(
        relevance=0.0,
        model=factories.MODEL,
        formation=True,
        executive={"cooldown_s": 4.0},
    )
    timings = []
    for number in range(8):
        asked = scenario.wait(1).sense(f"trouble {number}", urgency=0.9)
        turn = scenario.answer_model(asked, f"Mind trouble {number}.")
        timings.append([each.timing for each in said(turn, Held)])

    assert timings == [[]] * 6 + [["batched"]] * 2


WINDOWS = ("kitchen", "bath", "attic", "hall", "bedroom")


def test_what_meets_it_is_said_as_one_when_it_is_over() -> None:
    """Five windows within two seconds: the first at once, then the others together."""
    rules = [
        heuristic(f"w{n}", f"{room} window open", f"The {room} window is open.", 0.8)
        for n, room in enumerate(WINDOWS)
    ]
    scenario = Scenario(
        pack(*rules), relevance=0.0, executive={"cooldown_s": 4.0, "timing": True}
    )
    turns = [
        scenario.wait(0.4).sense(f"{room} window open", entities=["window"])
        for room in WINDOWS
    ]
    later = scenario.wait(4.0).tell(ClockTicked(due_at=scenario.at))

    assert [one(turn, Decided).timing for turn in turns] == ["immediate"] + [
        "batched"
    ] * 4
    assert [each.text for each in said(later, DeliveryAsked)] == [
        " ".join(f"The {room} window is open." for room in WINDOWS[1:])
    ]


def test_what_is_not_alike_comes_a_cooldown_apart() -> None:
    """The more urgent first."""
    rules = [
        heuristic("mail", "mail has come", "There is mail.", 0.8),
        heuristic("wash", "washing machine done", "The washing is done.", 0.8),
        heuristic("oven", "oven still hot", "The oven is on.", 0.8),
    ]
    scenario = Scenario(pack(*rules), relevance=0.0, executive={"cooldown_s": 4.0})
    happens(scenario, "mail has come")
    happens(scenario, "washing machine done", salience={"social": 0.1})
    happens(scenario, "oven still hot", salience={"goal_relevance": 0.9})
    spoken = []
    for _ in range(9):
        turn = scenario.wait(1.0).tell(ClockTicked(due_at=scenario.at))
        spoken.append([each.text for each in said(turn, DeliveryAsked)])

    assert [each for each in spoken if each] == [
        ["The oven is on."],
        ["The washing is done."],
    ]
    assert (
        spoken.index(["The washing is done."]) - spoken.index(["The oven is on."]) == 4
    )
