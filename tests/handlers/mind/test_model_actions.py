"""What a model may do besides speaking: what is declared, for a known person, once asked."""

from pathlib import Path
from typing import Any

import orjson
import pytest
from ruamel.yaml import YAML

from echoic.packs import phrases
from handlers.mind.stages import prompts
from handlers.mind.turn import Turn
from schemas.messages.asks import DeliveryAsked, ModelAsked
from schemas.messages.decisions import Completed, Decided, Dropped, Held
from schemas.messages.executive import Muted, UserStateChanged
from schemas.messages.learning import HeuristicFormed
from schemas.packs.model_actions import ModelAction
from schemas.values.subjects import SHARED_AGENT
from tests import factories
from tests.factories import heuristic, pack
from tests.handlers.mind.injections import TEXTS
from tests.scenario import Scenario, applied, names, one, said

LIGHT = {
    "type": "light",
    "by": "model",
    "does": "switch a light on or off",
    "targets": ["kitchen", "living room"],
    "params": {
        "state": {"one_of": ["on", "off"]},
        "brightness": {"type": "number", "least": 0, "most": 100, "needed": False},
    },
}
DOOR = {
    "type": "unlock_door",
    "by": "model",
    "does": "unlock the front door",
    "confirm": "Shall I unlock the front door?",
}
HEAT = {"type": "heat", "by": "model", "does": "heat up", "answers": "anything"}
PLAY = {"type": "play", "by": "model", "does": "play music", "answers": "anyone"}
HOUSE = pack(
    heuristic("low", "food is low", "Eat now.", 0.8),
    types=("vital", "message"),
    actions=[LIGHT, DOOR, HEAT, PLAY],
)
ON = {"type": "light", "target": "kitchen", "params": {"state": "on"}}


def alive(**executive: Any) -> Scenario:
    """A house whose model may switch its lights and unlock its door."""
    known = {"phrases": phrases.shipped(("en", "de")), **executive}
    return Scenario(
        HOUSE, relevance=0.0, model=factories.MODEL, executive=known, formation=True
    )


def asks(
    scenario: Scenario, text: str = "light, please!", person: str | None = "ada"
) -> Turn:
    """A person's words that nothing learnt answers."""
    told: dict[str, Any] = {"source": "user", "type_": "message", "person": person}
    return scenario.wait(1).sense(text, **told)


def reply(words: str | None = "Here you are.", action: Any = None) -> str:
    """A model's reply."""
    told = {"response": words, "action": action}
    return orjson.dumps({k: v for k, v in told.items() if v is not None}).decode()


def acts(turn: Turn) -> list[tuple[str, str | None, dict[str, Any]]]:
    """What is asked of the program that takes actions."""
    asked = (each for each in said(turn, DeliveryAsked) if each.action is not None)
    assert all(
        each.output == "action" for each in said(turn, DeliveryAsked) if each.action
    )
    return [
        (e.action.type, e.action.target, e.action.params) for e in asked if e.action
    ]


def heard(turn: Turn) -> list[str]:
    """What is said aloud or written of an answer: not that there is none."""
    told = (each for each in said(turn, DeliveryAsked) if each.path != "fallback")
    return [each.text for each in told if each.action is None]


def call(name: str, arguments: Any) -> str:
    """The calls of a tool, as a server gives them and the log keeps them."""
    function = {"name": name, "arguments": orjson.dumps(arguments).decode()}
    return orjson.dumps(
        [{"id": "c1", "type": "function", "function": function}]
    ).decode()


def test_a_known_persons_words_are_followed() -> None:
    """What is done goes to who does it, what is said to who hears it, both on record."""
    scenario = alive()
    asked = asks(scenario)
    turn = scenario.answer_model(asked, reply(action=ON))

    assert one(asked, ModelAsked).acts
    assert "- light: switch a light on or off; target: kitchen or living room" in (
        one(asked, ModelAsked).prompt
    )
    assert acts(turn) == [("light", "kitchen", {"state": "on"})]
    assert heard(turn) == ["Here you are."]
    completed = one(turn, Completed)
    assert completed.action is not None
    assert completed.action.target == "kitchen"


def test_an_action_alone_is_an_answer() -> None:
    """It is told by its name, and nothing is said."""
    scenario = alive()
    turn = scenario.answer_model(asks(scenario), reply("", action=ON))
    assert (acts(turn), heard(turn)) == ([("light", "kitchen", {"state": "on"})], [])
    assert one(turn, Completed).text == "light"


@pytest.mark.parametrize(
    ("calls", "words", "does"),
    [
        (call("light", {"target": "kitchen", "state": "on"}), "", True),
        (call("light", {"target": "kitchen", "state": "on"}), "It is on.", True),
        (call("light", {"target": "moon", "state": "on"}), "It is on.", False),
        (call("shell", {"line": "ls"}), "", False),
        ("[" * 3_000, "", False),
        ('[{"function": {"name": "light"', "", False),
        ("[]", "", False),
        ('"light"', "", False),
        ('{"name": "heat", "arguments": "{}"}', "", True),
        (call("heat", {})[:-1] + ", " + call("heat", {})[1:], "", False),
    ],
)
def test_a_call_of_a_tool_is_an_action(calls: str, words: str, does: bool) -> None:
    """Read like one in the reply; one that cannot be read, or is not declared, is none."""
    scenario = alive()
    turn = scenario.answer_model(asks(scenario), words, tool_calls=calls)
    assert bool(acts(turn)) == does
    assert does or one(turn, Dropped).reason == "llm_malformed"
    assert heard(turn) == ([words] if does and words else [])


READ = [
    (ON, {"state": "on"}),
    ({"name": "Light", "target": "Kitchen", "state": "OFF"}, {"state": "off"}),
    (ON | {"params": {"state": "on", "brightness": "40"}}, {"state": "on", "brightness": 40.0}),
    (ON | {"params": {"state": "on", "brightness": None}}, {"state": "on"}),
]  # fmt: skip
REFUSED = [
    ("light", "light without a target: it can be done to kitchen or living room"),
    ({"type": "light", "target": "moon"}, "light on 'moon'"),
    (ON | {"params": {}}, "light: state is missing; it takes on or off"),
    (ON | {"params": {"state": "dim"}}, "light: state is 'dim'; it takes on or off"),
    (ON | {"params": {"state": "on", "brightness": 101}}, "a number from 0 to 100"),
    (ON | {"params": {"state": "on", "brightness": True}}, "a number from 0 to 100"),
    (ON | {"params": {"state": "on", "brightness": "nan"}}, "a number from 0 to 100"),
    (ON | {"params": {"state": "on", "colour": "red"}}, "it takes no 'colour'"),
    ({"type": "format_disk"}, "'format_disk' is no action"),
]


@pytest.mark.parametrize(("told", "params"), READ)
def test_what_is_meant_is_done(told: Any, params: dict[str, Any]) -> None:
    """Models write names and numbers in their own way."""
    scenario = alive()
    turn = scenario.answer_model(asks(scenario), reply(action=told))
    assert acts(turn) == [("light", "kitchen", params)]


@pytest.mark.parametrize(("told", "why"), REFUSED)
def test_what_is_not_declared_is_neither_done_nor_told(told: Any, why: str) -> None:
    """Its words tell of it as done; a heuristic that stands by would answer."""
    scenario = alive()
    turn = scenario.answer_model(asks(scenario), reply("Done!", action=told))
    assert (acts(turn), heard(turn)) == ([], [])
    assert why in one(turn, Dropped).detail


@pytest.mark.parametrize("told", [5, ["light"], {}, {"target": "kitchen"}, "", True])
def test_what_is_no_action_is_not_read(told: Any) -> None:
    """The words are said as they always were."""
    scenario = alive()
    turn = scenario.answer_model(asks(scenario), reply(action=told))
    assert (acts(turn), heard(turn)) == ([], ["Here you are."])


@pytest.mark.parametrize(("person", "may"), [("ada", "light"), (None, "play")])
def test_who_is_not_known_may_less(person: str | None, may: str) -> None:
    """Words of somebody nobody named ask for what `anyone` may ask for."""
    scenario = alive()
    asked = asks(scenario, person=person)
    told = one(asked, ModelAsked).prompt
    assert ("- light:" in told, "- play:" in told) == (may == "light", True)
    does = scenario.answer_model(asked, reply(action=ON))
    assert bool(acts(does)) == (may == "light")


@pytest.mark.parametrize("text", list(TEXTS.values())[:40], ids=list(TEXTS)[:40])
def test_no_text_of_a_sensor_moves_anything(text: str) -> None:
    """Though the model obeys it, by word or by call: it was offered `anything`'s alone."""
    for told in (ON, {"type": "unlock_door"}, "play"):
        scenario = alive()
        asked = scenario.wait(1).sense(text, source="mail", person="ada")
        for answer in (
            scenario.answer_model(asked, reply("As you wish.", action=told)),
            asks(scenario, "yes"),
        ):
            assert acts(answer) == []


def test_a_sensor_may_ask_for_what_is_declared_for_anything() -> None:
    """A cold room is heated."""
    scenario = alive()
    turn = scenario.answer_model(scenario.sense("it is cold"), reply(action="heat"))
    assert acts(turn) == [("heat", None, {})]


def test_without_declared_actions_all_is_as_before() -> None:
    """The prompt has no word of them, and a key `action` none of its own."""
    scenario = Scenario(factories.pack(), relevance=0.0, model=factories.MODEL)
    asked = asks(scenario)
    ask = one(asked, ModelAsked)
    assert ask.acts is None
    assert prompts.listed(()) == ""
    assert '"action"' not in ask.system + ask.prompt
    turn = scenario.answer_model(asked, reply(action=ON))
    assert (acts(turn), heard(turn)) == ([], ["Here you are."])
    again = scenario.answer_model(
        asks(scenario, "more"), "", tool_calls=call("light", {})
    )
    assert one(again, Dropped).detail.endswith("it is a tool call")


@pytest.mark.parametrize(
    ("answer", "does", "ends"),
    [
        ("yes", True, "Completed"),
        ("Ja, mach das!", True, "Completed"),
        ("no", False, "Dropped"),
        ("lieber nicht", False, "Dropped"),
    ],
)
def test_what_needs_a_yes_is_asked_first(answer: str, does: bool, ends: str) -> None:
    """The person's own next word decides; until then nothing is done or claimed."""
    scenario = alive()
    asked = asks(scenario, "open up!")
    turn = scenario.answer_model(asked, reply("It is open.", {"type": "unlock_door"}))
    assert (acts(turn), heard(turn)) == ([], ["Shall I unlock the front door?"])
    assert one(turn, Held).question == "Shall I unlock the front door?"

    assert acts(asks(scenario, answer, person="ben")) == []
    after = asks(scenario, answer)
    assert ends in names(after)
    assert acts(after) == ([("unlock_door", None, {})] if does else [])
    assert all(each.question is None for each in said(after, Held))
    assert heard(after)[0] in (
        "It is open.",
        "OK, I'll leave it.",
        "Gut, ich lasse es.",
    )
    # It was asked once.
    assert acts(asks(scenario, answer)) == []


def test_nobody_waits_for_a_yes_for_ever() -> None:
    """As long as an answer may be late; a quiet in between stops it as well."""
    scenario = alive()
    scenario.answer_model(asks(scenario), reply("", {"type": "unlock_door"}))
    scenario.wait(scenario.settings.ttl_s + 1).sense("a light")
    assert one(scenario.turns[-1], Dropped).reason == "stale"
    assert acts(asks(scenario, "yes")) == []

    scenario.answer_model(asks(scenario, "open!"), reply("", {"type": "unlock_door"}))
    scenario.control(Muted(mode="mute", by="ben"))
    assert acts(asks(scenario, "yes")) == []


def test_the_next_words_decide() -> None:
    """A yes that comes after others, or a second one, is to something else."""
    scenario = alive()
    scenario.answer_model(asks(scenario), reply("", {"type": "unlock_door"}))
    assert one(asks(scenario, "is it raining?"), Dropped).reason == "cancelled"
    assert acts(asks(scenario, "yes")) == []

    scenario.answer_model(asks(scenario), reply("", {"type": "unlock_door"}))
    assert said(asks(scenario, "is it raining?", person="ben"), Dropped) == []
    assert acts(asks(scenario, "yes")) == [("unlock_door", None, {})]


def test_a_yes_does_what_is_declared_then() -> None:
    """Whoever took the pack out meanwhile meant this as well."""
    scenario = alive()
    scenario.answer_model(asks(scenario), reply("", {"type": "unlock_door"}))
    applied(scenario.control(factories.pack_loaded(HOUSE, off=True), SHARED_AGENT))
    after = asks(scenario, "yes")
    assert (acts(after), one(after, Dropped).reason) == ([], "cancelled")


def test_a_yes_to_nothing_is_what_anybody_says() -> None:
    """The model is asked, as ever."""
    assert said(asks(alive(), "yes"), ModelAsked)


def test_words_that_go_with_an_action_are_not_out_before_it() -> None:
    """A stream would tell of what may turn out to be refused."""
    scenario = alive(stream=True)
    assert one(asks(scenario), ModelAsked).stream is None
    assert one(asks(scenario, person=None), ModelAsked).stream is None


def test_a_liked_deed_makes_no_rule() -> None:
    """Its words alone would promise what they do not do."""
    scenario = alive()
    asked = asks(scenario)
    scenario.answer_model(asked, reply(action=ON))
    vote = scenario.feedback(asked)
    assert said(vote, ModelAsked) == []
    assert said(vote, HeuristicFormed) == []


def test_where_there_is_speech_the_words_are_spoken() -> None:
    """And what is done is not."""
    scenario = alive(speech=True)
    turn = scenario.answer_model(asks(scenario), reply(action=ON))
    assert [(e.output, e.text) for e in said(turn, DeliveryAsked)] == [
        ("action", "Here you are."),
        ("speech", "Here you are."),
    ]


def test_what_waits_for_a_break_keeps_its_action() -> None:
    """Two that are about one thing are said apart, for each does something."""
    scenario = alive(timing=True)
    scenario.control(UserStateChanged(person="ada", busy=True))
    for words in ("It is warm soon.", "It is warm, soon."):
        asked = scenario.wait(1).sense("it is cold", person="ada", entities=["hall"])
        waits = scenario.answer_model(asked, reply(words, action="heat"))
        assert one(waits, Held).timing == "queued"
    free = scenario.control(UserStateChanged(person="ada", busy=False))
    assert acts(free) == [("heat", None, {})] * 2


def test_a_separate_prediction_keeps_the_action() -> None:
    """It waits with the words for what the model predicts of them."""
    scenario = Scenario(
        HOUSE, relevance=0.0, model=factories.MODEL, prediction="separate", executive={}
    )
    asked = asks(scenario)
    told = scenario.answer_model(asked, reply(action=ON))
    assert acts(told) == []
    turn = scenario.answer_model(told, '{"predicted_success": 0.7}')
    assert acts(turn) == [("light", "kitchen", {"state": "on"})]
    assert one(asked, Decided).final is False


def test_the_page_of_packs_shows_what_can_be_declared() -> None:
    """Its example is one."""
    page = Path(__file__).parents[3] / "docs" / "packs.md"
    section = page.read_text(encoding="utf-8").partition("## What a model may do")[2]
    block = section.partition("```yaml\n")[2].partition("```")[0]
    told = YAML(typ="safe").load(block)["actions"]
    assert [ModelAction.model_validate(each).type for each in told] == [
        "light",
        "unlock_door",
    ]
