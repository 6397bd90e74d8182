"""Conversations: the source design's four examples, and what they leave open."""

from datetime import timedelta
from typing import Any

import pytest

from handlers.mind.characters.place.scheduler import likelihood, seconds_of
from schemas.codec import checkpoint
from schemas.messages.asks import DeliveryAsked
from schemas.messages.controls import SessionStarted
from schemas.messages.results import ClockTicked
from schemas.state import limits
from tests.handlers.mind.characters.clearing import Clearing
from tests.scenario import occurred, said


def test_example_1_nobody_listens() -> None:
    """15 tokens are 7.5 seconds; no conversation is begun."""
    clearing = Clearing({"aria": 0, "luna": 15.1})
    clearing.say("aria", "These berries are amazing!", tokens=15)
    assert clearing.spoke == [(0.0, "aria", 7.5)]
    assert clearing.talks() == ()
    assert clearing.why() == "nobody hears it; it lasts 7.5 s"
    assert clearing.scenario.mind.character.due is None


def test_example_2_a_conversation_of_three() -> None:
    """Asked at 9 s of 10, 11 of 12, 13 of 14; the next begins as the last one ends."""
    clearing = Clearing({"aria": 0, "luna": 8, "kai": -12})
    clearing.say("aria", "Luna! The berries here are amazing!", tokens=20)
    clearing.until(9)
    assert clearing.asked() == [(9.0, "luna"), (9.0, "kai")]
    clearing.say("luna", "Really?", tokens=24)
    clearing.say("kai", "Berries?", tokens=4)
    clearing.until(10)
    assert clearing.spoke[1:] == [(10.0, "luna", 12.0)]
    clearing.heard.clear()

    # Kai stands 20 tiles from Luna: he hears her once he has come closer.
    clearing.move("kai", 0)
    clearing.until(10 + 11)
    assert clearing.asked() == [(21.0, "aria"), (21.0, "kai")]
    clearing.say("kai", "Mind if I join you?", tokens=28)
    clearing.until(10 + 12)
    assert clearing.spoke[2:] == [(22.0, "kai", 14.0)]
    clearing.heard.clear()

    clearing.until(22 + 13)
    assert clearing.asked() == [(35.0, "aria"), (35.0, "luna")]
    clearing.say("luna", "Gladly.", tokens=4)
    clearing.say("aria", "Of course!", tokens=4)
    clearing.until(36)
    assert clearing.spoke[3:] == [(36.0, "aria", 2.0)]
    assert clearing.members() == ("aria", "luna", "kai")


def test_example_3_nobody_answers() -> None:
    """6 seconds, asked at 5; ten seconds after the end it is over."""
    clearing = Clearing({"aria": 0, "luna": 10})
    clearing.say("aria", "I love these berries!", tokens=12)
    clearing.until(5)
    assert clearing.spoke == [(0.0, "aria", 6.0)]
    assert clearing.asked() == [(5.0, "luna")]
    clearing.until(15.999)
    assert len(clearing.talks()) == 1
    clearing.until(60)
    assert clearing.over == [16.0]
    assert clearing.talks() == ()
    assert clearing.scenario.mind.character.due is None


def test_example_4_who_is_likely_answers() -> None:
    """Luna and Zara answer, Kai does not; Luna is the likeliest and speaks first."""
    where = {"aria": (0, 0.8), "luna": (3, 0.7), "kai": (-14, 0.3), "zara": (8, 0.5)}
    clearing = Clearing(where)
    clearing.say("aria", "Anyone know where the best berries are?", tokens=18)
    clearing.until(8)
    assert clearing.asked() == [(8.0, "luna"), (8.0, "zara"), (8.0, "kai")]
    clearing.say("zara", "The forest has good patches too.", tokens=10)
    clearing.say("luna", "I found some great ones by the river!", tokens=16)
    clearing.until(9)
    assert clearing.spoke == [(0.0, "aria", 9.0), (9.0, "luna", 8.0)]
    clearing.heard.clear()
    clearing.until(16)
    assert clearing.asked() == [(16.0, "aria"), (16.0, "zara")]
    clearing.say("zara", "The forest has good patches too.", tokens=10)
    clearing.until(17)
    assert clearing.members() == ("aria", "luna", "zara")


@pytest.mark.parametrize(
    ("extraversion", "distance", "likely"),
    [(0.7, 3, 0.79), (0.3, 14, 0.14), (0.5, 8, 0.48), (1, 0, 0.98), (0, 15, 0.02)],
)
def test_how_likely_one_answers(
    extraversion: float, distance: float, likely: float
) -> None:
    """The source design's three, in numbers; never certain."""
    assert round(likelihood(extraversion, distance), 2) == likely


@pytest.mark.parametrize(
    ("text", "tokens", "seconds"),
    [
        ("a", None, 1.0),
        ("one two three", None, 2.0),
        ("a b c d", None, 3.0),
        ("a", 15, 7.5),
    ],
)
def test_how_long_speech_lasts(text: str, tokens: float | None, seconds: float) -> None:
    """Its tokens, else four thirds of its words rounded up, over two a second."""
    assert seconds_of(text, tokens, 2.0) == seconds


def test_ten_hear_and_four_are_asked() -> None:
    """All of them hear; the four likeliest are asked."""
    where: dict[str, Any] = {f"v{number}": number + 1 for number in range(10)}
    clearing = Clearing({"aria": 0, **where})
    clearing.say("aria", "Hello, all of you!", tokens=10)
    clearing.until(4)
    assert len(clearing.heard) == 10
    assert [who for _, who in clearing.asked()] == ["v0", "v1", "v2", "v3"]


def test_a_hearer_who_dies_and_a_model_that_hangs() -> None:
    """The next who is ready speaks; without any it ends ten seconds later."""
    clearing = Clearing({"aria": 0, "luna": 3, "kai": 5, "zara": 6})
    clearing.say("aria", "Hello!", tokens=10)
    clearing.until(4)
    clearing.say("luna", "Hi!", tokens=4)
    clearing.say("zara", "Hello!", tokens=4)
    clearing.leave("luna", "gone")
    # Kai's model hangs: Zara, who comes after him, is ready.
    clearing.until(5)
    assert clearing.spoke[1:] == [(5.0, "zara", 2.0)]
    clearing.leave("zara", "gone")
    assert clearing.talks() == ()
    assert clearing.over == [5.0]


def test_a_speaker_who_dies_is_cut_off() -> None:
    """And the next begins at once."""
    clearing = Clearing({"aria": 0, "luna": 3, "kai": 5})
    for agent in ("aria", "luna"):
        clearing.say(agent, "Hello!", tokens=20)
    clearing.until(9)
    clearing.say("kai", "Hello!", tokens=4)
    clearing.until(12)
    clearing.say("kai", "Well met!", tokens=4)
    clearing.say("aria", "Well!", tokens=4)
    clearing.leave("luna", "gone")
    assert clearing.spoke[-1] == (12.0, "kai", 2.0)
    assert clearing.members() == ("aria", "kai")


def test_two_begin_at_once_and_the_second_joins() -> None:
    """There is one conversation, and nobody's words are lost."""
    clearing = Clearing({"aria": 0, "luna": 3})
    clearing.say("aria", "Luna!", tokens=10)
    clearing.say("luna", "Aria!", tokens=6)
    assert len(clearing.talks()) == 1
    clearing.until(5)
    assert clearing.spoke == [(0.0, "aria", 5.0), (5.0, "luna", 3.0)]
    # She has words ready, and is not asked for others.
    assert clearing.asked() == []


def test_one_leaves_who_is_too_far_from_the_middle() -> None:
    """Strictly over 15 tiles from it; with one left it is over."""
    clearing = Clearing({"aria": 0, "luna": 3})
    clearing.say("aria", "Luna!", tokens=2)
    clearing.say("luna", "Aria!", tokens=2)
    clearing.until(1.5)
    clearing.move("luna", 30)
    assert clearing.members() == ("aria", "luna")
    clearing.move("luna", 30.1)
    assert clearing.talks() == ()


def test_one_leaves_by_saying_so_or_goodbye() -> None:
    """By action at once; with words when they are said."""
    clearing = Clearing({"aria": 0, "luna": 3, "kai": 5})
    for agent in ("aria", "luna", "kai"):
        clearing.say(agent, "Hello!", tokens=4)
    clearing.until(5)
    assert clearing.members() == ("aria", "luna", "kai")
    clearing.leave("luna")
    assert clearing.members() == ("aria", "kai")
    clearing.until(5.5)
    clearing.say("aria", "Goodbye!", tokens=4, goodbye=True)
    clearing.until(9)
    assert clearing.spoke[-1] == (6.0, "aria", 2.0)
    assert clearing.over == [8.0]


def test_whoever_comes_to_it_is_told_the_last_five_lines() -> None:
    """Once; the others heard them."""
    clearing = Clearing({"aria": 0, "luna": 3, "kai": 100})
    for number in range(7):
        clearing.say(("aria", "luna")[number % 2], f"Line {number}.", tokens=2)
        clearing.until(number + 1)
    clearing.move("kai", 1)
    clearing.say("luna", "Last.", tokens=4)
    clearing.until(8)
    turn = clearing.scenario.turns[-1]
    lines = {
        each.action.target: each.action.params.get("lines")
        for each in said(turn, DeliveryAsked)
        if each.action is not None
    }
    assert lines["aria"] is None
    told = lines["kai"]
    assert isinstance(told, list)
    speakers = ["aria", "luna", "aria", "luna", "aria"]
    assert told == [[who, f"Line {number}."] for number, who in enumerate(speakers, 2)]


def test_what_answers_a_speech_that_is_over_is_not_said() -> None:
    """Another spoke since, or the conversation has ended."""
    clearing = Clearing({"aria": 0, "luna": 3, "kai": 5})
    clearing.say("aria", "Hello!", tokens=4)
    id_ = clearing.talks()[0].id
    clearing.until(1)
    clearing.say("kai", "Hi!", tokens=4, conversation=id_, turn=1)
    clearing.until(3)
    clearing.say("luna", "Hi!", tokens=4, conversation=id_, turn=1)
    assert clearing.why() == "it answers what is over"
    clearing.until(60)
    clearing.say("luna", "Hi!", tokens=4, conversation=id_, turn=2)
    assert clearing.why() == "it answers what is over"
    assert [who for _, who, _ in clearing.spoke] == ["aria", "kai"]


def test_none_lasts_for_ever() -> None:
    """After so many speeches it is over; before the last one they are told."""
    clearing = Clearing({"aria": 0, "luna": 3}, longest=3)
    for number in range(3):
        clearing.say(("aria", "luna")[number % 2], "Words.", tokens=4)
        clearing.until(2 * number + 1)
    assert [is_asked for _, _, is_asked in clearing.heard] == [True, True, False]
    clearing.until(6)
    assert clearing.over == [6.0]


def test_a_crowd_draws_extroverts_and_drives_introverts_off() -> None:
    """From four members on, within hearing, and no members."""
    where: dict[str, Any] = {
        "a": 0,
        "b": 1,
        "c": 2,
        "d": (3, 0.9),
        "merry": (5, 0.61),
        "so": (5, 0.6),
        "la": (5, 0.4),
        "shy": (5, 0.39),
        "far": (40, 0.9),
    }
    clearing = Clearing(where)
    for number, agent in enumerate(("a", "b", "c", "d")):
        clearing.say(agent, "Words.", tokens=2)
        clearing.until(number)
    clearing.until(4)
    pulls = [
        each.action.params.get("pulls")
        for turn in clearing.scenario.turns
        for each in said(turn, DeliveryAsked)
        if each.action is not None and each.action.type == "speak"
    ]
    assert pulls == [None, None, None, {"merry": 0.3, "shy": -0.3}]


@pytest.mark.parametrize(
    "fields",
    [
        {},
        {"agent": 5},
        {"agent": ""},
        {"agent": "aria", "x": "far", "y": None},
        {"agent": "aria", "x": True, "y": 1},
        {"agent": "aria", "tokens": -4, "turn": "x", "conversation": []},
        {"agent": "nobody", "tokens": 1e300},
    ],
)
@pytest.mark.parametrize("type_", ["said", "position", "left", "gone", "chatter"])
def test_nonsense_moves_nothing_it_should_not(
    type_: str, fields: dict[str, Any]
) -> None:
    """No fault, whatever a world tells."""
    clearing = Clearing({"aria": 0, "luna": 3})
    clearing.scenario.sense("x", source="world", type_=type_, fields=fields)
    clearing.until(2_000)
    assert clearing.talks() == ()


def test_a_place_stays_bounded() -> None:
    """Of so many it is known where they are, the latest; so many take part."""
    clearing = Clearing({f"v{number}": 0 for number in range(limits.PRESENT + 10)})
    present = clearing.scenario.mind.character.place.present
    assert len(present) == limits.PRESENT
    clearing.scenario.wait(1)
    clearing.move("new", 0)
    assert "new" in clearing.scenario.mind.character.place.present


def test_a_place_that_restarts_goes_on() -> None:
    """From its checkpoint, and late: whoever was asked still has ten seconds."""
    clearing = Clearing({"aria": 0, "luna": 3})
    clearing.say("aria", "Luna!", tokens=10)
    scenario = clearing.scenario
    state = checkpoint.load(checkpoint.dump(scenario.state))
    assert state == scenario.state
    scenario.state = state
    # It was away while the speech ended; its timer runs at the next occasion.
    scenario.wait(100)
    clearing.note(scenario.tell(ClockTicked(due_at=scenario.at)))
    assert clearing.asked() == [(100.0, "luna")]
    clearing.say("luna", "Aria!", tokens=4)
    assert clearing.spoke[-1] == (100.0, "luna", 2.0)
    clearing.until(300)
    assert clearing.over == [112.0]


def test_a_place_on_another_clock_goes_on() -> None:
    """What was to come keeps its distance when a session has a clock of its own."""
    clearing = Clearing({"aria": 0, "luna": 3})
    scenario = clearing.scenario
    clearing.say("aria", "Luna!", tokens=10)
    scenario.control(SessionStarted(session_id="s", clock="event"))
    long_ago = scenario.at - timedelta(days=1000)
    told = {"agent": "luna", "x": 4, "y": 0}
    scenario.sense(
        "x",
        source="world",
        type_="position",
        fields=told,
        occurred_at=occurred(long_ago),
    )
    assert scenario.mind.now == long_ago
    assert scenario.mind.character.due == long_ago + timedelta(seconds=4)
    speech = clearing.talks()[0].speech
    assert speech is not None
    assert speech.until == long_ago + timedelta(seconds=5)
