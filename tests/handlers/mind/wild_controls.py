"""What lives at random may be set to, and told: the executive's part of it."""

from random import Random

from echoic.packs import personalities
from echoic.packs import skills as skills_shipped
from echoic.packs.phrases import shipped
from schemas.codec.catalogue import ControlMessage
from schemas.messages.controls import ProfileSet
from schemas.messages.executive import (
    BreakSignalled,
    ContextSwitched,
    FactStated,
    Muted,
    OutputInterrupted,
    OutputRequested,
    PersonalitySelected,
    PersonsGranted,
    ReminderSet,
    SalienceModulated,
    SkillLoaded,
    SkillUnloaded,
    TraitAdjusted,
    UserStateChanged,
)
from schemas.values.personality import TRAITS
from tests.factories import plain_executive

SKILLS: tuple[dict[str, object], ...] = (
    {
        "name": "where",
        "kind": "domain",
        "context_binding": "gaming.garden",
        "provides": {"a.b": {"type": "vital", "field": "health"}},
        "knowledge": "There is a garden.",
        "lines": [{"texts": ["{text} At {health}.", "{health}: {text}"]}],
    },
    {
        "name": "able",
        "kind": "capability",
        "requires": ["a.b"],
        "lines": [{"when": "a.b < 5", "texts": ["{text} It was {a.b}."]}],
    },
)
"""Those of a pack."""

EXECUTIVES = (
    plain_executive(),
    plain_executive(timing=True),
    plain_executive(timing=True, relevance=True, shares_votes=True),
    plain_executive(
        timing=True,
        cooldown_s=4.0,
        heuristic_cooldown_s=30.0,
        rate_per_hour=5,
        quiet_hours="22:00-07:00",
        timezone="Asia/Tokyo",
        modulates=True,
        budget_calls=2,
        budget_tokens=1_000,
        phrases=shipped(("en",)),
    ),
    plain_executive(
        timing=True,
        check_in=True,
        check_in_interval_s=60.0,
        check_in_probability=0.5,
        observation=True,
        observation_events=3,
        observation_interval_s=120.0,
        mood_comment=True,
        phrases=shipped(("en",)),
    ),
    plain_executive(
        timing=True,
        relevance=True,
        templates=personalities.shipped(),
        template="jester",
        skills=skills_shipped.shipped(),
        consistent=True,
        prompt_tokens=200,
    ),
    plain_executive(timing=True, speech=True, quip_interval_s=300.0, quiet_cuts=True),
    plain_executive(
        timing=True, prompt_tokens=200, stream=True, phrases=shipped(("en", "de"))
    ),
    plain_executive(
        templates=personalities.shipped(),
        template="jester",
        skills=skills_shipped.shipped(),
    ),
)


EVERYTHING = plain_executive(
    timing=True,
    shares_votes=True,
    relevance=True,
    modulates=True,
    cooldown_s=1.0,
    heuristic_cooldown_s=3.0,
    again_s=0.0,
    check_in=True,
    check_in_interval_s=60.0,
    check_in_probability=0.5,
    quip_interval_s=300.0,
    speech=True,
    stream=True,
    recall=True,
    recent_events=True,
    prompt_tokens=500,
    phrases=shipped(("en", "de")),
    templates=personalities.shipped(),
    template="jester",
    skills=skills_shipped.shipped(),
    consistent=True,
)
"""All that the executive can do, and little that keeps it from speaking."""


def of_executive(random: Random, known: tuple[str, ...]) -> list[ControlMessage]:
    """One control of each kind that the executive has; `known` are ids of modulations."""
    choice, person = random.choice, random.choice([None, "ada", "lee"])
    maybe, by = [None, True, False], choice(["user", "ada", "lee"])
    return [
        Muted(
            mode=choice(["quiet", "quiet", "mute"]),
            for_s=choice([5.0, 60.0, 300.0]),
            off=random.random() < 0.6,
            person=choice([None, None, person]),
            by=by,
        ),
        SalienceModulated(
            change=choice(["suppress", "heighten", "habituate", "threshold", "focus"]),
            about=choice([None, "zombie", "health low"]),
            type=choice([None, "vital"]),
            amount=choice([None, random.uniform(-1, 1)]),
            for_s=choice([None, 50.0]),
            person=person,
            by=by,
        ),
        SalienceModulated(change="clear", modulation_id=choice([None, *known])),
        UserStateChanged(
            person=person,
            busy=choice(maybe),
            typing=choice([None, None, *maybe]),
            in_menu=choice([None, None, *maybe]),
            asleep=choice([None, None, *maybe]),
            away=choice([None, None, *maybe]),
            activity=choice([None, "dinner"]),
            focus=choice([None, "", "health low"]),
            sentiment=choice([None, random.uniform(-1, 1)]),
        ),
        BreakSignalled(person=person, signal=choice(["asked", "typing_paused"])),
        ReminderSet(
            reminder_id=choice([None, "tea"]),
            text="Tea.",
            in_s=choice([1.0, 60.0, 600.0]),
            person=person,
            by=by,
            urgent=random.random() < 0.3,
            off=random.random() < 0.2,
        ),
        OutputInterrupted(channel=choice([None, "speech", "say"])),
        OutputRequested(
            text="Dinner.",
            person=person,
            by=by,
            response_type=choice(["observation", "alert"]),
            urgent=random.random() < 0.3,
        ),
        PersonsGranted(source="game", persons=choice([(), ("ada",), ("ada", "lee")])),
        *of_character(random),
        *of_memory(random),
    ]


def of_character(random: Random) -> list[ControlMessage]:
    """Controls of personality, traits and contexts, some of them to be refused."""
    choice = random.choice
    return [
        PersonalitySelected(template=choice(["butler", "coach", "none", "x", "a/b"])),
        ContextSwitched(context=choice(["gaming", "work", "x"])),
        SkillLoaded(skill=choice(["garden/where", "garden/able", "x"])),
        SkillUnloaded(skill=choice(["sarcasm", "formality", "garden/able", "x"])),
        TraitAdjusted(
            trait=choice(TRAITS),
            by_amount=choice([None, random.uniform(-1, 1)]),
            for_s=choice([None, 30.0]),
            person=choice([None, "ada"]),
        ),
    ]


def of_memory(random: Random) -> list[ControlMessage]:
    """Profiles and facts, some of them to be refused."""
    choice = random.choice
    return [
        ProfileSet(person=choice([None, "ada"]), name=choice([None, "Ada"])),
        FactStated(
            person=choice([None, "ada"]),
            subject=choice(["health", "ada"]),
            relation=choice(["", "is"]),
            object=choice(["", "low", "at home"]),
            forget=random.random() < 0.3,
        ),
    ]
