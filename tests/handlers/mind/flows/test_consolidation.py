"""Tidying: what says the same is merged and what is of no use retired, if anybody agrees."""

from typing import Any

import pytest

from handlers.mind.turn import Turn
from schemas.messages.arms import Action
from schemas.messages.controls import (
    HeuristicEdited,
    HeuristicFrozen,
    HeuristicSeeded,
    ProposalApplied,
    ProposalReverted,
    ProposalSubmitted,
    SleepRequested,
)
from schemas.messages.decisions import Decided
from schemas.messages.feedback import FeedbackGiven
from schemas.messages.learning import LifecycleChanged, ProposalMade
from schemas.messages.repertoire import RepertoireChange
from schemas.messages.sleep import SleepEnded
from schemas.values.learning_settings import LearningWeights
from tests.factories import heuristic, pack, plain_learning, plain_sleep
from tests.handlers.mind.sleepers import state
from tests.scenario import Scenario, applied, names, one, refused, said

WEATHER, SAYS = "the rain is over and the sun shines", "Go out for a walk."
DAYS = 86_400.0


def living(*packs: Any, **settings: Any) -> Scenario:
    """A scenario without a model, which remembers nothing but its heuristics."""
    return Scenario(*(packs or (pack(),)), **{"relevance": 0.0, **settings})


def taught(scenario: Scenario, name: str, **more: Any) -> str:
    """Teach a heuristic of the garden."""
    fields = {"condition": WEATHER, "text": SAYS, "domain": "garden", **more}
    seeded = {"heuristic_id": name, "name": name, "confidence": 0.5, **fields}
    applied(scenario.control(HeuristicSeeded.from_fields(seeded)))
    return name


def slept(scenario: Scenario, policy: Any = None) -> Turn:
    """A sleep, which is over at once."""
    turn = scenario.control(SleepRequested(apply=policy))
    assert names(turn)[-1] == "SleepEnded"
    return turn


def changes(turn: Turn) -> list[RepertoireChange]:
    """What a sleep would change."""
    made = [each.repertoire for each in said(turn, ProposalMade)]
    return [each for each in made if each is not None]


def goes(turn: Turn) -> list[tuple[str, str]]:
    """What would go, and why."""
    return [(each.reason, each.going[0].heuristic_id) for each in changes(turn)]


def voted(scenario: Scenario, id_: str, rating: Any, count: int = 1) -> None:
    """People's votes on a heuristic itself."""
    for number in range(count):
        given = FeedbackGiven(heuristic_id=id_, rating=rating, actor=f"p{number}")
        scenario.wait(1).tell(given)


def test_of_two_that_say_the_same_the_one_with_more_evidence_stays() -> None:
    """The proposal tells both as they are and as they would be; nothing is done yet."""
    scenario = living()
    taught(scenario, "a")
    taught(scenario, "b")
    voted(scenario, "a", "positive")

    turn = slept(scenario)

    (change,) = changes(turn)
    assert (change.kind, change.reason, change.domain) == (
        "merge",
        "duplicate",
        "garden",
    )
    assert [(e.heuristic_id, e.in_use) for e in change.before] == [
        ("a", True),
        ("b", True),
    ]
    assert [(e.heuristic_id, e.in_use) for e in change.after] == [
        ("a", True),
        ("b", False),
    ]
    assert change.before[0].confidence > change.before[1].confidence == 0.5
    assert change.similarity == change.action_similarity == 1.0
    made = one(turn, ProposalMade)
    assert (made.by, made.evidence) == ("sleep", "b says the same as a")
    assert len(scenario.mind.frozen) == 0


@pytest.mark.parametrize(
    "other",
    [
        {"condition": "a storm comes from the west tonight"},
        {"text": "Close every window of the house."},
        {"when": "health < 3"},
        {"domain": "home"},
        {"action": Action(type="walk")},
    ],
)
def test_what_differs_in_anything_is_not_merged(other: dict[str, Any]) -> None:
    """Another situation, test, answer, deed or domain is another heuristic."""
    scenario = living()
    taught(scenario, "a")
    taught(scenario, "b", **other)

    assert changes(slept(scenario)) == []


def test_tests_that_mean_the_same_are_the_same() -> None:
    """However they are written."""
    scenario = living()
    taught(scenario, "a", when="health < 3 and food > 1")
    taught(scenario, "b", when="health<3  and food>1")

    assert goes(slept(scenario)) == [("duplicate", "a")]


def test_what_a_pack_says_stays_and_what_was_taught_goes() -> None:
    """Only what the agent has besides its packs gives way."""
    scenario = living(pack(heuristic("walk", WEATHER, SAYS)))
    taught(scenario, "b")
    voted(scenario, "b", "positive", 3)

    assert goes(slept(scenario)) == [("duplicate", "b")]


def test_what_is_frozen_neither_goes_nor_takes_another_s_place() -> None:
    """It is out of use already."""
    scenario = living()
    taught(scenario, "a")
    taught(scenario, "b")
    scenario.control(HeuristicFrozen(heuristic_id="a"))

    assert changes(slept(scenario)) == []


def test_what_was_not_embedded_is_like_nothing() -> None:
    """Without vectors nobody can tell."""
    scenario = living(pack(heuristic("other", "dusk", "Go in.")))
    scenario.vectorless = True
    taught(scenario, "a")
    taught(scenario, "b")

    assert changes(slept(scenario)) == []


def test_of_three_that_say_the_same_one_stays() -> None:
    """One change touches no heuristic that another one takes away."""
    scenario = living()
    for name in "abc":
        taught(scenario, name)

    slept(scenario.wait(40 * DAYS), "safe")
    assert sorted(scenario.mind.frozen) == ["a", "c"]


def test_what_is_applied_is_out_of_use_and_back_exactly_when_reverted() -> None:
    """The one that goes answers no more, and does again afterwards."""
    scenario = living()
    taught(scenario, "a", confidence=0.9)
    taught(scenario, "b", confidence=0.8)
    made = one(slept(scenario), ProposalMade)

    turn = scenario.control(ProposalApplied(proposal_id=made.proposal_id))

    assert names(turn) == ["ControlApplied", "LifecycleChanged"]
    assert one(turn, LifecycleChanged).after == "frozen"
    decided = one(scenario.sense(WEATHER), Decided)
    reasons = {each.arm.split("@")[0]: each.reason for each in decided.candidates}
    assert reasons["heuristic:b"] == "frozen"
    assert reasons["heuristic:a"] is None

    back = scenario.control(ProposalReverted(proposal_id=made.proposal_id))
    assert names(back) == ["ControlApplied", "LifecycleChanged"]
    again = one(scenario.wait(3_600).sense(WEATHER), Decided)
    assert all(each.reason is None for each in again.candidates)


def test_a_merge_that_is_taken_back_leaves_no_trace_on_heuristics() -> None:
    """Shelves, freezes and beliefs are what they were, byte for byte."""
    scenario = living()
    taught(scenario, "a")
    taught(scenario, "b")
    voted(scenario, "b", "positive")
    made = one(slept(scenario), ProposalMade)
    before = state(scenario)

    scenario.control(ProposalApplied(proposal_id=made.proposal_id))
    assert state(scenario) != before
    scenario.control(ProposalReverted(proposal_id=made.proposal_id))

    assert state(scenario) == before


def test_safe_changes_are_in_force_at_once_and_others_wait() -> None:
    """What answers by itself today goes by hand alone."""
    safe = living()
    taught(safe, "a")
    taught(safe, "b")
    turn = slept(safe, "safe")
    assert names(turn) == [
        "ControlApplied",
        "SleepBegun",
        "ProposalMade",
        "LifecycleChanged",
        "SleepEnded",
    ]
    made = one(turn, ProposalMade)
    assert made.applied is True
    assert one(turn, SleepEnded).applied == (made.proposal_id,)
    assert dict(safe.mind.frozen) == {"a": True}
    safe.control(ProposalReverted(proposal_id=made.proposal_id))
    assert len(safe.mind.frozen) == 0

    trusted = living()
    taught(trusted, "a", confidence=0.9)
    taught(trusted, "b", confidence=0.9)
    turn = slept(trusted, "safe")
    assert one(turn, ProposalMade).applied is None
    assert len(trusted.mind.frozen) == 0


def test_a_biased_threshold_is_what_safety_is_judged_by() -> None:
    """Who is trusted sooner has more that answers today."""
    scenario = living(biases={"confidence_threshold": -0.1})
    taught(scenario, "a", confidence=0.65)
    taught(scenario, "b", confidence=0.65)

    assert one(slept(scenario, "safe"), ProposalMade).applied is None


def test_the_same_is_not_proposed_twice() -> None:
    """Nobody is asked again for what they know, or took back."""
    scenario = living()
    taught(scenario, "a")
    taught(scenario, "b")
    made = one(slept(scenario), ProposalMade)

    assert changes(slept(scenario)) == []
    scenario.control(ProposalApplied(proposal_id=made.proposal_id))
    scenario.control(ProposalReverted(proposal_id=made.proposal_id))
    assert changes(slept(scenario, "safe")) == []


def test_one_sleep_proposes_so_much_and_no_more() -> None:
    """The rest comes with the next one."""
    scenario = living()
    for number in range(40):
        taught(
            scenario, f"h{number:02}", condition=f"thing{number // 2}", text="Do it."
        )

    assert len(changes(slept(scenario))) == 16
    assert len(changes(slept(scenario))) == 4


def test_what_never_fired_for_long_is_of_no_use() -> None:
    """Unless something speaks for it; a day counts from when it came."""
    scenario = living()
    taught(scenario, "old")
    taught(scenario, "liked", condition="snow lies on every roof", text="Stay in bed.")
    voted(scenario, "liked", "positive")
    scenario.wait(20 * DAYS)
    taught(scenario, "new", condition="a wolf is at the gate", text="Lock the door.")
    assert goes(slept(scenario.wait(9 * DAYS))) == []

    assert goes(slept(scenario.wait(2 * DAYS))) == [("never_fired", "old")]


def test_what_fired_once_and_never_since_is_of_no_use() -> None:
    """After as many days as the settings call stale; with none it never is."""
    scenario = living()
    taught(scenario, "a", confidence=0.9)
    scenario.sense(WEATHER)
    assert goes(slept(scenario.wait(31 * DAYS))) == [("stale", "a")]

    patient = living(learning=plain_learning(stale_days=0.0))
    taught(patient, "a")
    assert goes(slept(patient.wait(400 * DAYS))) == []


def test_what_failed_often_enough_is_of_no_use() -> None:
    """Deprecated on little evidence it may still recover; a pack's is judged alike."""
    dusk = "dusk falls slowly"
    locked = heuristic("locked", "snow", "Hm.", 0.2, constraints={"locked": True})
    scenario = living(
        pack(heuristic("mine", dusk, "Sing.", 0.9), locked),
        threshold=0.3,
        learning=plain_learning(weights=LearningWeights(explicit=1.0)),
    )
    pack_id = next(iter(scenario.blobs.values())).ids[0]
    taught(scenario, "a", confidence=0.9)
    taught(scenario, "little", confidence=0.4, condition="ice", text="Slide.")
    voted(scenario, "little", "negative")
    for _ in range(5):
        assert goes(slept(scenario)) == []
        for condition in (WEATHER, dusk):
            turn = scenario.wait(3_600).sense(condition, salience={"threat": 0.9})
            scenario.feedback(turn, "negative")

    turn = slept(scenario)

    assert goes(turn) == [("deprecated", "a"), ("deprecated", pack_id)]
    assert [each.before[0].name for each in changes(turn)] == ["a", "mine"]
    assert one(turn, SleepEnded).proposals == tuple(
        each.proposal_id for each in said(turn, ProposalMade)
    )


def test_what_is_proposed_must_still_be_so_when_it_is_applied() -> None:
    """An edited or frozen heuristic is another, and so is one that was released."""
    scenario = living()
    taught(scenario, "a")
    taught(scenario, "b")
    made = one(slept(scenario), ProposalMade)
    apply = ProposalApplied(proposal_id=made.proposal_id)
    revert = ProposalReverted(proposal_id=made.proposal_id)

    scenario.control(HeuristicFrozen(heuristic_id="a"))
    assert refused(scenario.control(apply)) == "outdated"
    scenario.control(HeuristicFrozen(heuristic_id="a", frozen=False))
    scenario.control(apply)
    scenario.control(HeuristicFrozen(heuristic_id="a", frozen=False))
    assert refused(scenario.control(revert)) == "outdated"
    scenario.control(HeuristicFrozen(heuristic_id="a"))
    scenario.control(revert)
    scenario.control(HeuristicEdited(heuristic_id="b", text="Run."))
    assert refused(scenario.control(apply)) == "outdated"


def test_changes_of_heuristics_do_not_stand_in_the_way_of_settings() -> None:
    """A later change of heuristics leaves an earlier one of settings to be taken back."""
    scenario = living()
    submitted = ProposalSubmitted(proposal_id="t", changes={"learning.gamma": 0.9})
    scenario.control(submitted)
    applied(scenario.control(ProposalApplied(proposal_id="t")))
    taught(scenario, "a")
    taught(scenario, "b")
    slept(scenario, "safe")

    applied(scenario.control(ProposalReverted(proposal_id="t")))


def test_a_sleep_without_memory_tidies_all_the_same() -> None:
    """No settings for sleep are needed to look at what there is."""
    scenario = living(sleep=plain_sleep(events=0))
    assert one(slept(scenario), SleepEnded).reason == "done"
