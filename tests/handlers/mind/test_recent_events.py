"""What happened lately is told to a model: by source, within its room, to whom it concerns."""

from typing import Any

from handlers.mind.turn import Turn
from schemas.messages.asks import ModelAsked
from schemas.messages.decisions import Decided
from schemas.state import limits
from tests import factories
from tests.factories import pack
from tests.handlers.mind.stages.test_fenced_prompts import fences
from tests.scenario import Scenario, one

GARDEN = pack(types=("thing", "secret", "message"))
LATELY = "What happened lately:"


def alive(**executive: Any) -> Scenario:
    """A scenario whose model is told of the latest events."""
    how = {"prompt_tokens": 2_000, "recent_events": True, **executive}
    return Scenario(GARDEN, relevance=0.0, model=factories.MODEL, executive=how)


def happens(scenario: Scenario, text: str, **fields: Any) -> Turn:
    """An event that a model is asked about."""
    fields = {"type_": "thing", "salience": {"social": 1.0}, **fields}
    return scenario.wait(1).sense(text, **fields)


def told(turn: Turn) -> list[str]:
    """The texts that a model was told of, as they came."""
    prompt = one(turn, ModelAsked).prompt
    if LATELY not in prompt:
        return []
    lines = prompt.partition(LATELY)[2].partition("\n\n")[0].strip().splitlines()
    return [line.removeprefix("- ") for line in lines]


def test_the_last_ten_events_of_the_source_are_told() -> None:
    """Oldest first, without the one at hand, and fenced."""
    scenario = alive()
    for number in range(12):
        happens(scenario, f"thing {number} came")
    happens(scenario, "elsewhere it rains", source="garden")
    turn = happens(scenario, "a thing went")

    found = told(turn)
    assert len(found) == limits.EVENT_TEXTS
    for number, line in zip(range(2, 12), found, strict=True):
        assert f"thing {number} came" in line
    assert "thing 5 came" in fences(one(turn, ModelAsked).prompt)


def test_at_a_persons_words_those_of_all_sources_are() -> None:
    """In the order of time; the words themselves are in the conversation."""
    scenario = alive()
    happens(scenario, "a thing came")
    happens(scenario, "it rains", source="garden")
    says = {"source": "user", "type_": "message", "person": "ada"}
    happens(scenario, "do you see it?", **says)
    found = told(happens(scenario, "and now?", **says))

    assert len(found) == 2
    assert "a thing came" in found[0]
    assert "it rains" in found[1]


def test_what_concerns_another_is_not_told() -> None:
    """Nor to nobody in particular."""
    scenario = alive()
    happens(scenario, "ada has mail", person="ada")
    happens(scenario, "lee has mail", person="lee")

    assert told(happens(scenario, "a thing came")) == []
    (line,) = told(happens(scenario, "ada is here", person="ada"))[:1]
    assert "ada has mail" in line


def test_it_keeps_within_its_room() -> None:
    """The latest are told."""
    scenario = alive(prompt_tokens=60)
    for number in range(8):
        happens(scenario, f"number {number} of so many things came by the road")
    found = told(happens(scenario, "a thing went"))

    assert 0 < len(found) < 4
    assert "number 7" in found[-1]


def test_texts_and_sources_are_bounded() -> None:
    """However long, however many."""
    scenario = alive()
    for number in range(4 * limits.EVENT_SOURCES):
        happens(scenario, "very " * 400, source=f"s{number}")
    events = scenario.mind.executive.memory.events

    assert len(events.sorted_keys()) <= 2 * limits.EVENT_SOURCES
    assert all(
        len(each.text) <= limits.EVENT_TEXT
        for source in events.sorted_keys()
        for each in events[source]
    )


def test_without_the_setting_nothing_is_kept_and_the_arm_is_as_before() -> None:
    """Nor is anything told, or where conversations are not remembered."""
    for how in ({"recent_events": False}, {"prompt_tokens": 0}):
        scenario = alive(**how)
        happens(scenario, "a thing came")
        turn = happens(scenario, "a thing went")

        assert told(turn) == []
        assert scenario.mind.executive.memory.events.sorted_keys() == []
    with_, without = (
        one(happens(alive(recent_events=each), "a thing came"), Decided).arm
        for each in (True, False)
    )
    assert with_ != without
