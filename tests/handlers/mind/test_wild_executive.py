"""The executive at random: whatever people ask for in whatever order, peace is kept."""

from collections.abc import Callable, Iterator
from functools import cache
from random import Random
from typing import get_args

import pytest
from msgspec import Struct

from handlers.mind.turn import Turn
from projections.folds import controls
from projections.folds.executive import people
from schemas.codec.catalogue import EXECUTIVE_TOKENS
from schemas.messages.asks import DeliveryAsked, ModelAsked, RecallAsked, StopAsked
from schemas.messages.controls import StrategySelected
from schemas.messages.decisions import Decided, Dropped, Held
from schemas.messages.executive import BreakSignalled
from schemas.messages.notes import ControlApplied, ControlInferred, OpportunityDrawn
from schemas.messages.results import Delivered, DeliveryBegun, ModelAnswered, Recalled
from schemas.messages.sensing import PERSON, SOMEBODY
from schemas.packs.characters import Layer
from schemas.state import limits
from schemas.state.agent import AgentState, PartitionState
from schemas.state.executive import EVERYBODY, Executive, Personality, Restraint, Spent
from schemas.state.memory import Memory
from schemas.values.reasons import Path
from tests.handlers.mind import wild_controls
from tests.handlers.mind.test_wild_scenarios import check_books
from tests.handlers.mind.wild import Wild
from tests.scenario import Scenario, said

SEEDS = (*range(11), 30)
TEXTS = ("health low", "zombie near", "dusk falls", "player died")
THREAT = 0.8
URGENT = 0.7


class Restless(Wild):
    """A scenario with all of the executive on, whose people ask for much."""

    def __init__(self, seed: int) -> None:
        """Lead the scenario of this seed; half of them have a model."""
        super().__init__(seed, executives=(wild_controls.EVERYTHING,))
        self.scenario.control(StrategySelected(strategy="heuristic_first"))

    def lead(self, steps: int) -> Scenario:
        """Let so many things happen, few of them long after each other."""
        for _ in range(steps):
            self.scenario.wait(self.random.choice([0.05, 0.1, 1, 3, 9, 20, 120]))
            self.random.choice(self.happenings())()
            for _ in range(3):
                self._perform()
        return self.scenario

    def happenings(self) -> list[Callable[[], None]]:
        """What may happen, each as often as it is likely."""
        return [*[self._happen] * 6, *[self._ask] * 4, self._speak, self._judge]

    def _text(self) -> str:
        # Few, so that what happens is often what is known.
        return self.random.choice(TEXTS)

    def _happen(self) -> None:
        choice, random = self.random.choice, self.random.random
        dimension = choice(["threat", "social", "opportunity", "humor"])
        self.scenario.sense(
            self._text(),
            type_=choice(["vital", "other"]),
            person=choice([None, None, "ada", "lee"]),
            salience={dimension: choice([0.3, 0.7, 0.9]), "novelty": random()},
            urgency=choice([None, None, 0.2, 0.9]),
            entities=[choice("yz")],
            ttl_s=choice([30.0, 300.0]),
            fields={"health": choice([1, 5])},
        )

    def _ask(self) -> None:
        held = self.scenario.mind.executive.peace.modulations
        known = tuple(each.id for each in held)
        controls = wild_controls.of_executive(self.random, known)
        self.scenario.control(self.random.choice(controls))

    def _perform(self) -> None:
        """Do what was asked last, now and then, as effects would."""
        last = self.scenario.turns[-1].outputs[-1]
        if self.random.random() < 0.2:
            return
        ask_id = last.id
        if isinstance(last.message, RecallAsked):
            memory = Recalled(ask_id=ask_id, ids=("x",), texts=(self._text(),), as_of=1)
            self.scenario.tell(memory)
        elif isinstance(last.message, ModelAsked):
            text = self.random.choice(["Well.", "Is it?", "Mind that."])
            self.scenario.wait(self.random.choice([0.1, 3]))
            self.scenario.tell(
                ModelAnswered(ask_id=ask_id, request_hash="r", model="m", text=text)
            )
        elif isinstance(last.message, DeliveryAsked):
            self.scenario.tell(DeliveryBegun(ask_id=ask_id, channel="speech"))
            if self.random.random() < 0.7:
                self.scenario.tell(Delivered(ask_id=ask_id, channel="speech"))


@cache
def led(seed: int) -> Scenario:
    """The scenario of a seed, which the tests share."""
    return Restless(seed).lead(70)


Step = tuple[AgentState, Turn, AgentState]


def steps(scenario: Scenario) -> Iterator[Step]:
    """Each turn, with what was known of its agent before and after."""
    before = PartitionState()
    for turn in scenario.turns:
        agent, none = turn.input.agent, AgentState()
        after = turn.state
        yield before.agents.get(agent, none), turn, after.agents.get(agent, none)
        before = after


@cache
def decisions(seed: int) -> dict[str, Decided]:
    """Each decision of a scenario, by its id."""
    outputs = [each for turn in led(seed).turns for each in turn.outputs]
    return {
        each.id: each.message for each in outputs if isinstance(each.message, Decided)
    }


def throughout(before: AgentState, after: AgentState, mode: str) -> list[Restraint]:
    """The restraints of everybody that were in force at a turn's begin and at its end."""
    ids = {each.id for each in before.executive.peace.restraints}
    now = after.now
    return [
        each
        for each in after.executive.peace.restraints
        if each.id in ids and each.mode == mode and each.person == EVERYBODY
        if each.until is None or (now is not None and now < each.until)
    ]


def is_persons(decided: Decided) -> bool:
    """Whether somebody's own words were decided on."""
    return (decided.source, decided.type) == (PERSON, "message")


def is_alert(decided: Decided, asked: DeliveryAsked) -> bool:
    """Whether an answer is one that passes a quiet."""
    threat = decided.salience.dimensions.get("threat", 0.0)
    return threat >= THREAT or asked.response_type == "alert"


def test_there_is_a_control_of_each_kind() -> None:
    """So that a new one is drawn from its first day on."""
    drawn = wild_controls.of_executive(Random(0), ())

    assert {each.token for each in drawn} >= EXECUTIVE_TOKENS


def test_such_scenarios_hold_everything() -> None:
    """Each control is applied, each path is gone, and each part says something."""
    turns = [turn for seed in SEEDS for turn in led(seed).turns]
    applied = {each.control for turn in turns for each in said(turn, ControlApplied)}
    inferred = {each.control for turn in turns for each in said(turn, ControlInferred)}
    outputs = {type(each.message) for turn in turns for each in turn.outputs}
    paths = {each.path for turn in turns for each in said(turn, Decided)}
    drops = {each.reason for turn in turns for each in said(turn, Dropped)}
    silences = {each.silence for turn in turns for each in said(turn, Decided)}

    assert applied >= EXECUTIVE_TOKENS
    assert inferred >= {"muted", "reminder_set"}
    # A model's failure is told by the end of its decision; layers need a character.
    assert paths == {*get_args(Path)} - {"fallback", "autonomous", *get_args(Layer)}
    parts = {Held, StopAsked, OpportunityDrawn, RecallAsked, ModelAsked, DeliveryAsked}
    assert outputs >= parts
    assert silences >= {"muted", "quiet", "cooldown"}
    assert "stale" in drops


@pytest.mark.parametrize("seed", SEEDS)
def test_the_books_are_kept(seed: int) -> None:
    """No decision is without an end, and no timer without what it is for."""
    check_books(led(seed))


@pytest.mark.parametrize("seed", SEEDS)
def test_every_persons_words_are_answered_or_refused(seed: int) -> None:
    """With words, with a question to the model, or with the reason of the silence."""
    for turn in led(seed).turns:
        held = {each.decision_id for each in said(turn, Held)}
        for output in turn.outputs:
            each = output.message
            if isinstance(each, Decided) and is_persons(each):
                assert each.text or each.silence or not each.final
                assert output.id not in held


@pytest.mark.parametrize("seed", SEEDS)
def test_nothing_is_said_while_it_is_mute(seed: int) -> None:
    """Whatever came, and whatever was under way."""
    for before, turn, after in steps(led(seed)):
        if throughout(before, after, "mute"):
            assert not said(turn, DeliveryAsked)


@pytest.mark.parametrize("seed", SEEDS)
def test_only_exceptions_are_said_while_it_is_quiet(seed: int) -> None:
    """Alerts, answers to the words of whoever asked for it, and that person's reminders."""
    for before, turn, after in steps(led(seed)):
        asked_by = {each.by for each in throughout(before, after, "quiet")}
        for each in said(turn, DeliveryAsked) if asked_by else ():
            decided = decisions(seed)[each.decision_id]
            speaker = decided.person or SOMEBODY
            is_whose = speaker == SOMEBODY or asked_by <= {PERSON, speaker}
            is_own = decided.type == "reminder" or (is_persons(decided) and is_whose)
            assert is_alert(decided, each) or is_own, (decided, asked_by)


@pytest.mark.parametrize("seed", SEEDS)
def test_who_is_busy_hears_what_is_urgent_or_asked_for(seed: int) -> None:
    """Until a break; nothing else gets through."""
    for before, turn, after in steps(led(seed)):
        if is_break(turn):
            continue
        for each in said(turn, DeliveryAsked):
            decided = decisions(seed)[each.decision_id]
            states, now = (before.executive, after.executive), after.now
            assert now is not None
            if all(people.is_busy(held, decided.person, now) for held in states):
                is_urgent = each.urgency >= URGENT or is_alert(decided, each)
                assert is_urgent or is_persons(decided), (decided, each)


def is_break(turn: Turn) -> bool:
    """Whether a turn is a break of somebody."""
    inferred = [each.control for each in said(turn, ControlInferred)]
    return (
        isinstance(turn.input.message, BreakSignalled) or "break_signalled" in inferred
    )


@pytest.mark.parametrize("seed", SEEDS)
def test_the_state_is_bounded(seed: int) -> None:
    """Each part of it by its limit, at each turn."""
    for _, _, after in steps(led(seed)):
        sizes = sized(after.executive)
        for part, most in BOUNDS.items():
            assert sizes[part] <= most, part


def sized(held: Struct) -> dict[str, int]:
    """How long each tuple is, and that of people, in whichever slice it stands."""
    found: dict[str, int] = {}
    for name in held.__struct_fields__:
        value = getattr(held, name)
        if isinstance(value, Personality | Memory | Spent):
            continue
        if isinstance(value, Struct):
            found |= {f"{name}.{each}": size for each, size in sized(value).items()}
        elif isinstance(value, tuple) or name == "people":
            found[name] = len(value)
    return found


BOUNDS = {
    "presence.people": limits.PEOPLE_PRESENT,
    "sayings.said": limits.SAYINGS,
    "peace.restraints": limits.RESTRAINTS,
    "speech.asked": limits.SPEECHES,
    "speech.unsaid": limits.UNSAID,
    "sayings.matters": limits.SAYINGS,
    "initiative.unasked": limits.UNASKED,
    "waiting": limits.WAITING_ANSWERS,
    "reminders.awaited": limits.REMINDERS,
    "reminders.said": limits.REMINDED,
    "speech.aloud": limits.ALOUD,
    "peace.modulations": limits.MODULATIONS,
    "lent": controls._LENT_MOST,
}


def test_every_part_that_grows_has_its_bound() -> None:
    """Maps that bound themselves aside, and opportunities, one for each purpose."""
    growing = set(sized(Executive())) - {"initiative.opportunities"}

    assert growing <= set(BOUNDS)
