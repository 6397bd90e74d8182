"""What a timer says is in character, too: reminders, milestones and check-ins."""

from typing import Any, Literal

import pytest

from echoic.packs import personalities
from echoic.packs import skills as shipped
from handlers.aids import AidProvider, PackLibrary
from replay.verify import Span, verify
from schemas.messages.asks import DeliveryAsked
from schemas.messages.decisions import Completed, Decided
from schemas.messages.executive import (
    ContextSwitched,
    Muted,
    PersonalitySelected,
    ReminderSet,
    SkillLoaded,
    TraitAdjusted,
    UserStateChanged,
)
from schemas.messages.results import ClockTicked
from schemas.values.phrases import Phrases
from tests.factories import pack, plain_executive
from tests.handlers.mind.test_named_facts import PHONE
from tests.handlers.mind.test_unasked import feels, start, tick
from tests.replay.scenarios import WordsEmbedder, recording_of_scenario
from tests.scenario import Scenario, one, said

WORDS = Phrases(
    language="en", patterns={}, replies={}, refusal="No.", check_ins=("It is late?",)
)
HOMEWARD = {
    "name": "way",
    "kind": "capability",
    "requires": ["user.location"],
    "lines": [{"when": 'type = "reminder"', "texts": ["{text} ({user.location})"]}],
}


def living(template: str = "jester", **own: Any) -> Scenario:
    """A scenario in which all is said in character."""
    given: dict[str, Any] = {
        "templates": personalities.shipped(),
        "skills": shipped.shipped(),
        "phrases": (WORDS,),
        "template": template,
        "consistent": True,
        **own,
    }
    garden = pack(name="phone", types=("moved",), skills=[PHONE, HOMEWARD])
    settings = plain_executive(**given)
    return Scenario(garden, executive=settings, relevance=0.0)


def reminded(
    scenario: Scenario, text: str = "It is tea time!", **control: Any
) -> Decided:
    """The decision on a reminder that is due."""
    scenario.control(ReminderSet(text=text, in_s=60.0, **control))
    scenario.wait(60)
    return one(scenario.tell(ClockTicked(due_at=scenario.at)), Decided)


@pytest.mark.parametrize(
    ("template", "text"),
    [
        ("butler", "It is tea time."),
        ("coach", "It's tea time!"),
        ("engineer", "It's tea time."),
        ("jester", "It's tea time!"),
        ("", "It is tea time!"),
    ],
)
@pytest.mark.parametrize("purpose", ["reminder", "milestone"])
def test_a_reminder_is_said_in_character(
    template: str, text: str, purpose: Literal["reminder", "milestone"]
) -> None:
    """In its register, and no turn of style after what somebody wanted to be told.

    A milestone has one. The decision says as whom, by which skills, and what was set.
    """
    scenario = living(template)
    decided = reminded(scenario, purpose=purpose)
    if purpose == "milestone":
        assert (decided.text != text) is (template not in ("", "butler"))
        return

    assert decided.text == text
    assert one(scenario.turns[-1], DeliveryAsked).text == text
    if not template:
        assert decided.skills is None
        return
    assert decided.voice is not None
    assert decided.voice.template == template
    assert decided.wording is not None
    assert decided.wording.intent == "It is tea time!"
    assert decided.skills


def test_an_order_of_before_says_what_was_set() -> None:
    """Without the setting not one byte is other: neither voice nor skills."""
    decided = reminded(living(consistent=False))
    assert decided.text == "It is tea time!"
    for field in (b"voice", b"skills", b"wording"):
        assert field not in decided.to_bytes()


def test_what_waits_is_said_in_the_words_that_were_decided_on() -> None:
    """Also if the personality is another one by then."""
    scenario = living(timing=True)
    scenario.control(UserStateChanged(busy=True))
    decided = reminded(scenario)
    assert decided.timing == "queued"
    scenario.control(PersonalitySelected(template="butler"))
    turn = scenario.control(UserStateChanged(busy=False))
    assert one(turn, Completed).text == decided.text != "It is tea time!"


def test_a_muted_reminder_waits_in_its_words() -> None:
    """They are chosen when it is due, and said at the end of the mute."""
    scenario = living()
    scenario.control(Muted(mode="mute"))
    decided = reminded(scenario)
    turn = scenario.control(Muted(mode="mute", off=True))
    assert decided.timing == "queued"
    assert decided.voice is not None
    assert decided.voice.template == "jester"
    assert one(turn, Completed).text == decided.text


def test_a_struggling_person_is_reminded_without_mockery() -> None:
    """What was left out is named, and it is that person's state that counts."""
    scenario = living()
    scenario.sense("no", source="user", type_="message", person="ann", sentiment=-0.9)
    for person in ("ann", "bob"):
        scenario.control(
            ReminderSet(text="Tea.", in_s=60.0, person=person, purpose="milestone")
        )
    scenario.wait(60)
    ann, bob = said(scenario.tell(ClockTicked(due_at=scenario.at)), Decided)
    assert ann.text == "Tea."
    assert ann.wording is not None
    assert "sarcasm@1" in (ann.wording.filtered or ())
    assert bob.text != "Tea."


def test_a_reminder_reads_named_facts() -> None:
    """A capability adds the place, once it is enabled and the place is known."""
    scenario = living("butler")
    assert reminded(scenario, "Buy milk.").text == "Buy milk."
    for name in ("phone/place", "phone/way"):
        scenario.control(SkillLoaded(skill=name))
    assert reminded(scenario, "Buy milk.").text == "Buy milk."
    moved: dict[str, Any] = {
        "type_": "moved",
        "source": "phone",
        "fields": {"where": "Rome"},
    }
    scenario.sense("you move", **moved)
    decided = reminded(scenario, "Buy milk.")
    assert decided.text == "Buy milk. (Rome)"
    assert decided.skills == ("phone/way@1",)


def test_milestones_observations_and_mood_comments_are_in_character() -> None:
    """Whatever a timer brings: the words, as whom, and by which skills."""
    made: dict[str, Any] = {
        "type": "made",
        "milestones": [{"counts": [1], "text": "It is the first!"}],
        "observation": "It is a lot!",
    }
    words = WORDS.model_copy(update={"mood_comments": ("It is hard!",)})
    scenario = start(
        pack(events=[made]),
        templates=personalities.shipped(),
        skills=shipped.shipped(),
        phrases=(words,),
        template="butler",
        consistent=True,
    )
    scenario.sense("made one", type_="made")
    tick(scenario)
    for _ in range(4):
        scenario.wait(10).sense("made one", type_="made")
    tick(scenario)
    feels(scenario, -0.6)
    tick(scenario)
    found = {
        each.type: each
        for turn in scenario.turns
        for each in said(turn, Decided)
        if each.timer is not None and each.text is not None
    }
    assert {type_: each.text for type_, each in found.items()} == {
        "milestone": "It is the first.",
        "observation": "It is a lot.",
        "mood_comment": "It is hard.",
    }
    for each in found.values():
        assert each.voice is not None
        assert each.voice.template == "butler"
        assert each.skills == ("enthusiasm@1",)


def test_a_check_in_is_in_character() -> None:
    """In the register of whoever asks."""
    scenario = living("engineer", check_in=True)
    scenario.sense("hello", source="user", type_="message")
    scenario.at = scenario.mind.timers[0].due
    decided = one(scenario.tell(ClockTicked(due_at=scenario.at)), Decided)
    assert decided.type == "check_in"
    assert decided.text == "It's late?"


async def test_it_is_replayed_as_it_was() -> None:
    """With contexts, traits moved by hand, and two timers at one instant."""
    scenario = living()
    scenario.control(ContextSwitched(context="gaming"))
    for text in ("One is here.", "Two.", "Three."):
        scenario.control(ReminderSet(text=text, in_s=90.0, purpose="milestone"))
    scenario.wait(90)
    both = said(scenario.tell(ClockTicked(due_at=scenario.at)), Decided)
    scenario.control(TraitAdjusted(trait="sarcasm", by_amount=-0.6))
    plain = reminded(scenario, "Four.", purpose="milestone")
    # Each style draws for each reminder, though they are due at one input.
    assert len({each.text for each in (*both, plain)}) == 4
    draws = [each.wording.draws or () for each in both if each.wording]
    assert len({draw.value for each in draws for draw in each}) == 6
    assert plain.skills == ("enthusiasm@1",)

    recording, made_by = recording_of_scenario(scenario), WordsEmbedder()
    span = Span(recording.partition, recording.first - 1, recording.last)
    bringer = AidProvider(made_by, PackLibrary(recording.log, made_by))
    found = await verify(recording.log, span, bringer, start=recording.start)
    assert found.is_identical, found.divergence
