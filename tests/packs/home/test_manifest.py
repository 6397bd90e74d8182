"""The home's manifest and its table of needs against the sensor they were written for."""

from pathlib import Path

import pytest

from bench.home import needs
from echoic.embedders import embedder
from echoic.packs.load import load
from packs.home.sensor import daytime, evening, morning
from packs.home.sensor.plan import Concern, Planner
from schemas.messages.executive import BreakSignalled, OfPerson, UserStateChanged
from schemas.messages.sensing import Sensed
from schemas.packs import conditions, word_patterns
from schemas.packs.manifest import Heuristic
from schemas.values import vectors
from tests.packs.home.days import events

FOLDER = Path(__file__).parents[3] / "packs" / "home"
PACK = load(FOLDER)
TABLE = needs.load(FOLDER / "needs.yaml")
DAYS = range(1, 9)
EVENTS: tuple[Sensed, ...] = tuple(each for seed in DAYS for each in events(seed))
WORDS = sorted(
    {
        words
        for each in PACK.executive.outcome_patterns
        for words in (each.trigger_pattern, each.outcome_pattern)
    }
)


@pytest.mark.parametrize("heuristic", PACK.heuristics, ids=lambda each: each.name)
def test_every_heuristic_can_answer_an_event(heuristic: Heuristic) -> None:
    """Some event of the sensor means what its condition says, and fulfils its `when`."""
    model = embedder("wordllama")
    assert heuristic.when is not None
    when = conditions.parse(heuristic.when)
    fitting = {
        event.text
        for event in EVENTS
        if conditions.holds(when, event.type, event.source, event.fields)
    }

    assert fitting, "no event fulfils its `when`"
    condition, *texts = model.embed([heuristic.condition, *sorted(fitting)])
    assert vectors.top(vectors.stack(texts), condition, 1, model.limits.match), fitting


def test_every_event_is_declared() -> None:
    """What the sensor tells belongs to the pack's domain."""
    declared = {event.type for event in PACK.events}
    told = {event.type for event in EVENTS if event.source == "home"}

    assert told <= declared
    assert declared - told == {"door_locked", "action_reported"}  # answers to advice


@pytest.mark.parametrize("words", WORDS)
def test_every_outcome_pattern_can_be_seen(words: str) -> None:
    """Each pattern occurs in some event, with or without advice."""
    texts = [(each.text, each.type) for each in EVENTS]
    texts += [(each.right("ada").text, each.right("ada").type) for each in concerns()]

    assert any(word_patterns.matches(words, *each, "home", {}) for each in texts)


def test_people_know_every_advised_action() -> None:
    """What the pack advises is something that somebody in the home can do."""
    known = {each.action for each in concerns()}
    advised = {
        f"{each.action.action.type} {each.action.action.target}"
        for each in PACK.heuristics
        if each.action.action is not None
    }

    assert advised == known


def test_the_table_is_large_enough_and_each_name_is_its_own() -> None:
    """At least a dozen of each, and every topic that is named exists."""
    names = [each.name for each in TABLE.needs]
    names += [each.name for each in TABLE.annoyances]
    topics = {each.topic for each in TABLE.needs if each.topic} | {
        topic for each in TABLE.annoyances for topic in (*each.topic, *each.except_)
    }

    assert len(TABLE.needs) >= 12
    assert len(TABLE.annoyances) >= 12
    assert len(set(names)) == len(names)
    assert topics <= TABLE.topics.keys()


@pytest.mark.parametrize("need", TABLE.needs, ids=lambda each: each.name)
def test_every_need_arises_in_some_day(need: needs.Need) -> None:
    """The event at which it begins happens, and so does what ends it."""
    assert any(needs.holds(need.when, each) for each in EVENTS)
    if need.until is not None:
        ends = (*EVENTS, *(each.right("ada") for each in concerns()))
        assert any(needs.holds(need.until, each) for each in ends)


@pytest.mark.parametrize(
    "text",
    sorted(
        {
            text
            for each in TABLE.annoyances
            for text in (each.when, each.begun, each.over)
            if text is not None
        }
        | {each.events for each in TABLE.topics.values() if each.events}
    ),
)
def test_every_condition_of_the_table_holds_of_some_event(text: str) -> None:
    """No rule waits for something that the sensor never tells."""
    assert any(needs.holds(text, each) for each in EVENTS)


def concerns() -> list[Concern]:
    """All that somebody can put right in these days."""
    found = []
    for seed in DAYS:
        day = Planner(str(seed))
        for part in (morning, daytime, evening):
            part.plan(day)
        found += [each.opens for each in day.entries if each.opens]
    return found


def test_what_people_do_is_told_in_the_fields_of_the_control() -> None:
    """A state or a break of somebody can be read as the control that says the same."""
    kinds: dict[str, type[OfPerson]] = {
        "user_state": UserStateChanged,
        "break": BreakSignalled,
    }
    told = [each for each in EVENTS if each.type in kinds]
    read = [kinds[each.type].from_fields(each.fields) for each in told]

    assert told
    assert [each.person for each in read] == [each.person for each in told]
