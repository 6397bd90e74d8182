"""What an agent knows once a person was forgotten: nothing by that name, wherever it stood."""

import ast
import re
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any, get_args

from msgspec import Struct
from pydantic import BaseModel

import schemas.state
from projections.folds.executive.forgotten import FORGETTING
from schemas.codec import catalogue
from schemas.messages.controls import (
    HeuristicSeeded,
    PersonForgotten,
    ProfileSet,
    ProposalSubmitted,
    SleepRequested,
)
from schemas.messages.decisions import Dropped, Held
from schemas.messages.executive import (
    ContextSwitched,
    FactStated,
    Muted,
    OfPerson,
    OutputRequested,
    PersonsGranted,
    ReminderSet,
    SalienceModulated,
    TraitAdjusted,
    UserStateChanged,
)
from schemas.messages.feedback import FeedbackGiven
from schemas.messages.notes import ControlApplied
from schemas.state.agent import AgentState
from schemas.values.bounded_map import Bounded
from tests import factories
from tests.handlers.mind.wild_controls import EVERYTHING
from tests.scenario import Scenario, decision_id, one, said

NAME = "ada-zq"
OTHER = "bo"


def home() -> Scenario:
    """A sealed mind with all that the executive can do."""
    known = factories.pack(
        factories.heuristic("low", "food is low", "Eat now.", 0.9),
        patterns=[factories.pattern("food", "ate", 600)],
    )
    led = Scenario(
        known,
        relevance=0.0,
        sealed=True,
        model=factories.MODEL,
        learning={"calibrate_raters": True},
        executive=EVERYTHING.model_copy(update={"quip_interval_s": 0.0}),
    )
    led.control(
        HeuristicSeeded(
            heuristic_id="h",
            name="dusk",
            domain="game",
            condition="dusk falls",
            text="Rest.",
            confidence=0.9,
        )
    )
    return led


def lived(led: Scenario) -> None:
    """Name a person by whatever names one, so that all that can be kept of them is."""
    led.feedback(led.sense("food is low", person=NAME), actor=NAME)
    led.tell(FeedbackGiven(heuristic_id="h", rating="positive", actor=NAME))
    asked: tuple[Any, ...] = (
        TraitAdjusted(trait="humor", by_amount=0.2, person=NAME, by=NAME),
        TraitAdjusted(trait="sarcasm", by_amount=0.2, by=NAME),
        ContextSwitched(context="home", person=NAME, by=NAME),
        ContextSwitched(context="general", by=OTHER, for_s=86_400.0),
        Muted(mode="quiet", person=OTHER, by=NAME),
        Muted(mode="quiet", person=NAME, by=OTHER),
        SalienceModulated(change="heighten", about="rain", person=OTHER, by=NAME),
        SalienceModulated(change="heighten", about="snow", person=NAME, by=OTHER),
        FactStated(subject="x", relation="likes", object="tea", person=NAME, by=OTHER),
        FactStated(subject="y", relation="likes", object="tea", by=NAME),
        ProfileSet(person=NAME, name="A", language="en"),
        ProfileSet(person=NAME, name="B", for_s=86_400.0),
        ReminderSet(text="tea", in_s=7_200, person=NAME, by=OTHER),
        ReminderSet(text="cake", in_s=7_200, person=OTHER, by=NAME),
        PersonsGranted(source="phone", persons=(NAME, OTHER)),
        ProposalSubmitted(proposal_id="p", changes={"learning.gamma": 0.9}, by=NAME),
        SleepRequested(by=NAME, limit=0),
    )
    for each in asked:
        assert said(led.control(each), ControlApplied), each
    for person in (NAME, OTHER):
        led.sense("how are you", source="user", type_="message", person=person)
        felt = UserStateChanged(person=person, focus="tea", sentiment=-0.5)
        led.control(felt)
        shown = led.wait(20).sense(
            "food is low", person=person, entities=[person], sentiment=0.5
        )
        led.feedback(shown, actor=person)
        led.wait(20).sense("dusk falls", person=person, entities=[person])
    # Asked of the model, which has not answered yet.
    led.wait(20).sense("a stranger rings", person=NAME, entities=[NAME])


def test_nothing_of_the_state_names_the_person() -> None:
    """Not as a key, not as a value, in no part of it; the other person is still there."""
    led = home()
    lived(led)
    before = set(named(led.mind, NAME))
    assert len(before) > 20, sorted(before)
    assert said(led.control(PersonForgotten(person=NAME)), ControlApplied)

    assert sorted(named(led.mind, NAME)) == []
    assert named(led.mind, OTHER)
    assert led.mind.executive.granted["phone"] == (OTHER,)


def test_its_traits_and_moods_are_gone_and_others_stay() -> None:
    """What was moved for that person is not applied any more."""
    led = home()
    lived(led)
    led.control(TraitAdjusted(trait="formality", by_amount=0.3, person=OTHER, by=OTHER))
    led.control(PersonForgotten(person=NAME))
    personality = led.mind.executive.personality

    assert personality.overrides.sorted_keys() == ["", OTHER]
    assert personality.overrides[""]["sarcasm"].by == "unknown"
    assert personality.sentiments.sorted_keys() == [OTHER]


def test_what_a_vote_taught_stays_without_its_voter() -> None:
    """Two people who are forgotten are two voters still, and confidence is as it was."""
    led = home()
    turn = led.sense("food is low")
    for person in (NAME, OTHER, "unknown"):
        led.feedback(turn, actor=person)
    (key,) = (each for each in led.mind.beliefs)
    confidence = led.mind.beliefs[key].confidence
    for person in (NAME, OTHER):
        led.control(PersonForgotten(person=person))
    belief = led.mind.beliefs[key]
    remembered = led.mind.decisions.get(decision_id(turn))

    assert belief.confidence == confidence
    assert sorted(belief.signals[-1].votes) == ["unknown", "unknown-2", "unknown-3"]
    assert remembered is not None
    assert sorted(remembered.votes) == ["unknown", "unknown-2", "unknown-3"]


def test_what_waits_to_be_said_is_dropped() -> None:
    """Whoever it is for: a replay could not read any more what would be said."""
    led = home()
    for person in (NAME, OTHER):
        led.control(UserStateChanged(person=person, busy=True))
        wanted = OutputRequested(text="Dinner is ready.", person=person)
        assert said(led.wait(60).control(wanted), Held)
    turn = led.control(PersonForgotten(person=NAME))

    assert [each.reason for each in said(turn, Dropped)] == ["cancelled"] * 2
    assert led.mind.executive.waiting == ()
    assert one(turn, ControlApplied).control == "person_forgotten"


def test_an_agent_that_knows_nobody_is_the_same_object_within() -> None:
    """What names nobody is not copied."""
    led = home()
    led.sense("food is low")
    before = led.mind
    led.control(PersonForgotten(person=NAME))

    assert led.mind.decisions is before.decisions
    assert led.mind.beliefs is before.beliefs


CONTROLS = sorted(
    (
        each
        for each in get_args(catalogue.ControlMessage)
        if issubclass(each, OfPerson) or "by" in each.__struct_fields__
    ),
    key=lambda each: each.token,
)
LIVED = {
    "break_signalled", "context_switched", "experiment_started", "fact_stated",
    "muted", "output_interrupted", "output_requested", "person_forgotten",
    "personality_selected", "prior_updated", "proposal_applied", "proposal_reverted",
    "proposal_submitted", "reflection_requested", "reminder_set", "salience_modulated",
    "skill_loaded",
    "skill_unloaded", "sleep_requested", "trait_adjusted", "user_state_changed",
}  # fmt: skip
"""Controls that name somebody, of which it is known what is kept: whom it names is in a
case here, or nothing of it is kept."""


def test_each_control_that_names_somebody_was_thought_of() -> None:
    """A new one fails here until it is known what the state keeps of it."""
    assert {each.token for each in CONTROLS} == LIVED


BY_PERSON = {
    "AgentState.rapport", "AgentState.raters", "Remembered.votes", "Signal.votes",
    "Signal.bases", "Signal.ages", "Personality.overrides", "Personality.sentiments",
    "_Presence.people", "Memory.profiles", "Memory.said", "Memory.silent",
}  # fmt: skip
"""What the state keeps by person, each of which a forgetting empties or renames."""


def test_each_part_that_is_kept_by_person_was_thought_of() -> None:
    """A new one, by the words that declare it, fails here until it is forgotten as well."""
    found = {
        name
        for path in Path(schemas.state.__path__[0]).glob("*.py")
        for name in _by_person(path)
    }

    assert found == BY_PERSON


ONLY_NAMED = {
    "asks", "beliefs", "biases", "chain", "character", "clock", "decisions",
    "domain_biases", "domain_goals", "experiment", "fires", "fits", "forming", "frozen",
    "goal_vectors", "goals", "habits", "heard_at", "intake", "lessons", "moments", "now",
    "occasions", "packs", "pending", "priors", "proposals", "session", "shown",
    "sleeping", "slept", "sources", "strategy", "timers", "tuned",
    "executive.context", "executive.granted", "executive.initiative",
    "executive.known", "executive.peace.ignored", "executive.personality.began_at",
    "executive.personality.began_in", "executive.personality.failures",
    "executive.personality.mood", "executive.personality.opportunity",
    "executive.personality.template", "executive.personality.threat",
    "executive.presence.heard_at", "executive.reminders.awaited",
    "executive.sayings.said", "executive.skills", "executive.speech.asked",
    "executive.speech.doubtful", "executive.speech.unsaid", "executive.spent",
    "executive.waiting",
}  # fmt: skip
"""Of which no more goes than names, or what their own folds take out."""


def test_each_field_is_forgotten_or_named_as_holding_names_alone() -> None:
    """A new one fails here until it has a row, or nothing of a person but a name."""
    assert set(left_alone(AgentState(), FORGETTING)) == ONLY_NAMED


def left_alone(held: Any, rows: Mapping[str, Any], place: str = "") -> Iterator[str]:
    """The fields of a slice without a row; those of slices that have rows by their own."""
    assert rows.keys() <= set(held.__struct_fields__)
    for name in held.__struct_fields__:
        row = rows.get(name)
        if row is None:
            yield place + name
        elif isinstance(row, Mapping):
            yield from left_alone(getattr(held, name), row, f"{place}{name}.")


def test_what_is_given_back_is_not_given_to_who_was_forgotten() -> None:
    """Neither the name of before, nor the one in whose place another stands for a while."""
    led = home()
    lived(led)
    assert len(led.mind.executive.lent) == 2
    led.control(PersonForgotten(person=NAME))

    assert [each.was for each in led.mind.executive.lent] == [("home", "unknown")]


def test_each_such_part_is_filled_before() -> None:
    """So that its emptiness afterwards says something."""
    led = home()
    lived(led)

    assert BY_PERSON - set(named(led.mind, NAME)) == set()


def named(value: Any, name: str, place: str = "") -> list[str]:
    """In which fields of a state a name stands, as a key or within a value."""
    if isinstance(value, str):
        return [place] if name in value else []
    found = []
    for key, inner in _inside(value):
        is_map = isinstance(value, Mapping | Bounded)
        if is_map and name in key:
            found.append(place)
        is_field = isinstance(value, Struct | BaseModel) and not is_map
        found += named(
            inner, name, f"{type(value).__name__}.{key}" if is_field else place
        )
    return found


def _inside(value: Any) -> Iterator[tuple[Any, Any]]:
    match value:
        case Bounded():
            for key in value.sorted_keys():
                yield key, value[key]
        case Struct():
            for field in value.__struct_fields__:
                yield field, getattr(value, field)
        case BaseModel():
            yield from dict(value).items()
        case Mapping():
            yield from ((key, value[key]) for key in sorted(value))
        case tuple():
            yield from enumerate(value)
        case _:
            return


_SAYS_SO = re.compile(r"\bby person\b|\beach (person|actor)\b", re.IGNORECASE)


def _by_person(path: Path) -> Iterator[str]:
    for class_ in ast.parse(path.read_text(encoding="utf-8")).body:
        if not isinstance(class_, ast.ClassDef):
            continue
        for field, text in zip(class_.body, class_.body[1:], strict=False):
            if not isinstance(field, ast.AnnAssign) or not isinstance(text, ast.Expr):
                continue
            if _SAYS_SO.search(ast.unparse(text)):
                yield f"{class_.name}.{ast.unparse(field.target)}"
