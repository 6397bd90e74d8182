"""A person's own words, as a model understood them, change what they ask for, and no more."""

from itertools import product
from pathlib import Path
from typing import Any

import orjson
import pytest

from echoic.packs import personalities, phrases
from handlers.mind.reply import reading
from handlers.mind.turn import Turn
from schemas.messages.asks import DeliveryAsked, ModelAsked
from schemas.messages.decisions import Completed
from schemas.messages.notes import ControlInferred
from schemas.values.phrases import Phrases
from tests import factories
from tests.factories import pack, plain_executive
from tests.scenario import Scenario, names, one, said

HOUSE = pack(types=("vital", "message"), people=[{"name": "ada"}, {"name": "lee"}])
UNSETTLED = (
    "I changed nothing: I am not sure that you want that. Say it once more, plainly."
)
GUEST = "I changed nothing: that is for those who live here to say."
REFUSED = "I can't do that, so nothing was changed."


def wordless() -> tuple[Phrases, ...]:
    """The shipped phrases, of which without a model nothing is understood but "undo"."""
    return tuple(
        each.model_copy(
            update={
                name: {"undo": ("undo",)}
                if name == "patterns"
                else field.get_default(call_default_factory=True)
                for name, field in Phrases.model_fields.items()
                if name in ("patterns", "evidence", "hearing")
            }
        )
        for each in phrases.shipped(("en", "de"))
    )


def talking(**more: Any) -> Scenario:
    """A house in which Ada and Lee live, with a model."""
    how = {
        "situated": True,
        "settles": True,
        "prompt_tokens": 500,
        "stream": True,
        "phrases": wordless(),
        "templates": personalities.shipped(),
    }
    executive = plain_executive(**{**how, **more})
    return Scenario(HOUSE, relevance=0.0, model=factories.MODEL, executive=executive)


def answered(
    scenario: Scenario, text: str, control: Any, person: str | None = "ada"
) -> Turn:
    """The model's answer to somebody's words."""
    turn = scenario.wait(5).sense(text, source="user", type_="message", person=person)
    if not said(turn, ModelAsked):
        raise AssertionError(f"no model was asked of {text!r}")
    reply = {"control": control, "response": "OK, as you wish."}
    return scenario.answer_model(turn, orjson.dumps(reply).decode())


def set_(turn: Turn) -> list[tuple[str, dict[str, Any]]]:
    """What was changed."""
    return [(each.control, each.fields) for each in said(turn, ControlInferred)]


def told(turn: Turn) -> str:
    """What was said."""
    return one(turn, DeliveryAsked).text


CASES: dict[str, list[Any]] = orjson.loads(
    (Path(__file__).parents[2] / "fixtures" / "settling.json").read_bytes()
)
RIGHT: list[tuple[str, dict[str, Any], str, str]] = list(map(tuple, CASES["right"]))
"""What is said, what the model understood, what was set, and what is said of it."""


@pytest.mark.parametrize(("text", "control", "token", "tells"), RIGHT)
def test_what_the_words_ask_for_is_set_and_named(
    text: str, control: dict[str, Any], token: str, tells: str
) -> None:
    """Sixty-four such fields: each is set, and what is said names what was set."""
    turn = answered(talking(), text, control)

    assert [each for each, _ in set_(turn)] == [token]
    assert tells in told(turn)
    assert one(turn, Completed).path == "acknowledged"
    assert "as you wish" not in told(turn)


def test_there_are_sixty_four_of_them() -> None:
    """Each its own."""
    assert len({text for text, *_ in RIGHT}) == len(RIGHT) == 64


ANY: list[dict[str, Any]] = [
    {"do": "quiet", "minutes": 60},
    {"do": "suppress", "about": "the weather"},
    {"do": "watch", "about": "the weather"},
    {"do": "trait", "trait": "humor", "more": True},
    {"do": "context", "context": "work"},
    {"do": "profile", "address": "Weather"},
    {"do": "goal", "goal": "the weather"},
    {"do": "reminder", "text": "the weather", "minutes": 5},
]
NO_WISH: list[str] = CASES["no_wish"]
BAD: list[tuple[str, Any]] = list(map(tuple, CASES["bad"]))
HOSTILE: list[tuple[str, Any]] = [*product(NO_WISH, ANY), *BAD]


@pytest.mark.parametrize(("text", "control"), HOSTILE)
def test_what_the_words_do_not_ask_for_is_not_set(text: str, control: Any) -> None:
    """Whatever a model makes of them; and that is said."""
    turn = answered(talking(), text, control)

    assert set_(turn) == []
    if control not in ({}, ""):
        assert told(turn) in (UNSETTLED, REFUSED, *GERMAN)


GERMAN = (
    "Ich habe nichts geändert: Ich bin nicht sicher, ob du das willst."
    " Sag es noch einmal deutlich.",
)


@pytest.mark.parametrize("control", ANY)
@pytest.mark.parametrize(
    "text", ["be quiet about the weather", "call me Weather, work"]
)
def test_a_sensor_sets_nothing(text: str, control: dict[str, Any]) -> None:
    """Its words wish for nothing, and its answer is words alone."""
    scenario = talking()
    turn = scenario.sense(text, person="ada")
    reply = orjson.dumps({"control": control, "response": "Well."}).decode()
    heard = scenario.answer_model(turn, reply)

    assert set_(heard) == []
    assert told(heard) == "Well."


def test_there_are_two_hundred_of_them() -> None:
    """Of texts without a wish, of wishes for something else, and of sensors."""
    assert len(HOSTILE) + 2 * len(ANY) >= 188


GUESTS: list[tuple[str, dict[str, Any], str | None]] = list(map(tuple, CASES["guests"]))
"""What a guest says, what the model understood, and for whom alone it holds."""


@pytest.mark.parametrize(("text", "control", "whose"), GUESTS)
def test_a_guest_moves_only_what_is_a_guests(
    text: str, control: dict[str, Any], whose: str | None
) -> None:
    """Thirty tries: nothing of the house, and nothing that is another person's."""
    scenario = talking()
    before = scenario.mind
    turn = answered(scenario, text, control, person="eve")

    assert [fields.get("person") for _, fields in set_(turn)] == (
        [whose] if whose else []
    )
    if whose is None:
        assert told(turn) == GUEST
    assert scenario.mind.goals == before.goals
    assert scenario.mind.executive.context is None
    assert scenario.mind.executive.memory.profiles.get("ada") is None
    assert len(GUESTS) == 30


UNDONE = [
    ("muted", "be quiet, friend", {"do": "quiet"}),
    ("salience", "stop mentioning the laundry", {"do": "suppress", "about": "laundry"}),
    ("trait", "be less sarcastic", {"do": "trait", "trait": "sarcasm", "more": False}),
    ("context", "I'm going to work now", {"do": "context", "context": "work"}),
    ("profile", "call me Captain", {"do": "profile", "address": "Captain"}),
]


def held(scenario: Scenario) -> tuple[Any, ...]:
    """What is in force that such words move."""
    mind = scenario.mind.executive
    known = mind.memory.profiles.get("ada")
    return (
        mind.peace.restraints,
        mind.peace.modulations,
        dict(mind.personality.overrides.get("ada", {})),
        mind.context.name if mind.context and mind.context.name != "general" else None,
        (known.name, known.address, known.language) if known else ("", "", ""),
    )


@pytest.mark.parametrize(("kind", "text", "control"), UNDONE)
def test_undo_takes_it_back(kind: str, text: str, control: dict[str, Any]) -> None:
    """By the person who wished for it."""
    scenario = talking()
    before = held(scenario)
    answered(scenario, text, control)
    assert held(scenario) != before, kind

    undo = scenario.wait(5).sense("undo", source="user", type_="message", person="ada")
    assert told(undo) == "OK, I took that back."
    assert held(scenario) == before


@pytest.mark.parametrize(("kind", "text", "control"), UNDONE)
def test_it_ends_within_a_day(kind: str, text: str, control: dict[str, Any]) -> None:
    """However long a model wants it to hold; what was before holds again."""
    scenario = talking()
    answered(scenario, text, {**control, "minutes": 1e9})
    scenario.wait(2 * 86_400).sense("a thing")

    mind, now = scenario.mind.executive, scenario.at
    restrained = [each.until for each in mind.peace.restraints]
    ends = [*restrained, *(each.until for each in mind.peace.modulations)]
    assert all(each is not None and each <= now for each in ends), kind
    assert mind.context is None
    assert mind.lent == ()
    known = mind.memory.profiles.get("ada")
    assert known is None or known.address == ""


def test_several_changes_are_settled_together() -> None:
    """Each by its own words, and each is told of."""
    wanted = [
        {"do": "quiet", "minutes": 30},
        {"do": "suppress", "about": "laundry"},
        {"do": "goal", "goal": "world peace"},
    ]
    turn = answered(talking(), "be quiet, and stop mentioning the laundry", wanted)

    assert [each for each, _ in set_(turn)] == ["muted", "salience_modulated"]
    assert told(turn) == (
        "OK, I'll be quiet for 30 min. I'll still warn you."
        f" OK, I'll stop telling you about laundry for 1 d. {UNSETTLED}"
    )


def test_a_topic_may_be_what_was_just_said() -> None:
    """ "That" is what the companion spoke of."""
    scenario = talking()
    scenario.answer_model(scenario.sense("a thing", person="ada"), "It will rain.")
    turn = answered(
        scenario, "stop mentioning that", {"do": "suppress", "about": "rain"}
    )

    assert [each for each, _ in set_(turn)] == ["salience_modulated"]


def test_what_stands_behind_the_words_is_not_done() -> None:
    """They may be out by then; nothing of them is streamed before it is settled."""
    scenario = talking()
    turn = scenario.sense(
        "be quiet, friend", source="user", type_="message", person="ada"
    )
    heard = scenario.answer_model(
        turn, '{"response": "OK.", "control": {"do": "quiet"}}'
    )

    assert set_(heard) == []
    assert told(heard) == UNSETTLED


def test_nothing_is_streamed_before_it_is_settled() -> None:
    """Of a reply with a change not a word goes out as it comes."""
    reply = '{"control": {"do": "quiet"}, "response": "OK, quiet I am, and for long."}'
    parts = {reading.words_so_far(reply[:end]) for end in range(len(reply))}
    assert parts == {""}
    without = '{"control": null, "response": "It is noon."}'
    assert reading.words_so_far(without) == "It is noon."


def test_without_the_setting_a_model_can_but_speak() -> None:
    """It is told of no changes, and makes none."""
    turn = answered(talking(settles=False), "be quiet, friend", {"do": "quiet"})

    assert set_(turn) == []
    assert told(turn) == "OK, as you wish."


def test_nothing_is_learnt_of_an_acknowledgement() -> None:
    """A vote on it makes no heuristic that promises what it does not do."""
    scenario = talking()
    turn = answered(scenario, "be quiet, friend", {"do": "quiet"})

    assert names(scenario.feedback(one(turn, Completed).decision_id)) != ["ModelAsked"]
    assert not scenario.mind.lessons
