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
from schemas.values.learning_settings import LearningSettings, LearningWeights
from schemas.values.settings import SleepSettings
from tests.factories import heuristic, pack
from tests.handlers.mind.sleepers import state
from tests.life import Life, applied, names, one, refused, said

WEATHER, SAYS = "the rain is over and the sun shines", "Go out for a walk."
DAYS = 86_400.0


def living(*packs: Any, **settings: Any) -> Life:
    """A life without a model, which remembers nothing but its heuristics."""
    return Life(*(packs or (pack(),)), **{"relevance": 0.0, **settings})


def taught(life: Life, name: str, **more: Any) -> str:
    """Teach a heuristic of the garden."""
    fields = {"condition": WEATHER, "text": SAYS, "domain": "garden", **more}
    seeded = {"heuristic_id": name, "name": name, "confidence": 0.5, **fields}
    applied(life.control(HeuristicSeeded.model_validate(seeded)))
    return name


def slept(life: Life, policy: Any = None) -> Turn:
    """A sleep, which is over at once."""
    turn = life.control(SleepRequested(apply=policy))
    assert names(turn)[-1] == "SleepEnded"
    return turn


def changes(turn: Turn) -> list[RepertoireChange]:
    """What a sleep would change."""
    made = [each.repertoire for each in said(turn, ProposalMade)]
    return [each for each in made if each is not None]


def goes(turn: Turn) -> list[tuple[str, str]]:
    """What would go, and why."""
    return [(each.reason, each.going[0].heuristic_id) for each in changes(turn)]


def voted(life: Life, id_: str, rating: Any, count: int = 1) -> None:
    """People's votes on a heuristic itself."""
    for number in range(count):
        given = FeedbackGiven(heuristic_id=id_, rating=rating, actor=f"p{number}")
        life.wait(1).tell(given)


def test_of_two_that_say_the_same_the_one_with_more_evidence_stays() -> None:
    """The proposal tells both as they are and as they would be; nothing is done yet."""
    life = living()
    taught(life, "a")
    taught(life, "b")
    voted(life, "a", "positive")

    turn = slept(life)

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
    assert len(life.mind.frozen) == 0


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
    life = living()
    taught(life, "a")
    taught(life, "b", **other)

    assert changes(slept(life)) == []


def test_tests_that_mean_the_same_are_the_same() -> None:
    """However they are written."""
    life = living()
    taught(life, "a", when="health < 3 and food > 1")
    taught(life, "b", when="health<3  and food>1")

    assert goes(slept(life)) == [("duplicate", "a")]


def test_what_a_pack_says_stays_and_what_was_taught_goes() -> None:
    """Only what the agent has besides its packs gives way."""
    life = living(pack(heuristic("walk", WEATHER, SAYS)))
    taught(life, "b")
    voted(life, "b", "positive", 3)

    assert goes(slept(life)) == [("duplicate", "b")]


def test_what_is_frozen_neither_goes_nor_takes_another_s_place() -> None:
    """It is out of use already."""
    life = living()
    taught(life, "a")
    taught(life, "b")
    life.control(HeuristicFrozen(heuristic_id="a"))

    assert changes(slept(life)) == []


def test_what_was_not_embedded_is_like_nothing() -> None:
    """Without vectors nobody can tell."""
    life = living(pack(heuristic("other", "dusk", "Go in.")))
    life.vectorless = True
    taught(life, "a")
    taught(life, "b")

    assert changes(slept(life)) == []


def test_of_three_that_say_the_same_one_stays() -> None:
    """One change touches no heuristic that another one takes away."""
    life = living()
    for name in "abc":
        taught(life, name)

    slept(life.wait(40 * DAYS), "safe")
    assert sorted(life.mind.frozen) == ["a", "c"]


def test_what_is_applied_is_out_of_use_and_back_exactly_when_reverted() -> None:
    """The one that goes answers no more, and does again afterwards."""
    life = living()
    taught(life, "a", confidence=0.9)
    taught(life, "b", confidence=0.8)
    made = one(slept(life), ProposalMade)

    turn = life.control(ProposalApplied(proposal_id=made.proposal_id))

    assert names(turn) == ["ControlApplied", "LifecycleChanged"]
    assert one(turn, LifecycleChanged).after == "frozen"
    decided = one(life.sense(WEATHER), Decided)
    reasons = {each.arm.split("@")[0]: each.reason for each in decided.candidates}
    assert reasons["heuristic:b"] == "frozen"
    assert reasons["heuristic:a"] is None

    back = life.control(ProposalReverted(proposal_id=made.proposal_id))
    assert names(back) == ["ControlApplied", "LifecycleChanged"]
    again = one(life.wait(3_600).sense(WEATHER), Decided)
    assert all(each.reason is None for each in again.candidates)


def test_a_merge_that_is_taken_back_leaves_no_trace_on_heuristics() -> None:
    """Shelves, freezes and beliefs are what they were, byte for byte."""
    life = living()
    taught(life, "a")
    taught(life, "b")
    voted(life, "b", "positive")
    made = one(slept(life), ProposalMade)
    before = state(life)

    life.control(ProposalApplied(proposal_id=made.proposal_id))
    assert state(life) != before
    life.control(ProposalReverted(proposal_id=made.proposal_id))

    assert state(life) == before


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
    life = living(biases={"confidence_threshold": -0.3})
    taught(life, "a")
    taught(life, "b")

    assert one(slept(life, "safe"), ProposalMade).applied is None


def test_the_same_is_not_proposed_twice() -> None:
    """Nobody is asked again for what they know, or took back."""
    life = living()
    taught(life, "a")
    taught(life, "b")
    made = one(slept(life), ProposalMade)

    assert changes(slept(life)) == []
    life.control(ProposalApplied(proposal_id=made.proposal_id))
    life.control(ProposalReverted(proposal_id=made.proposal_id))
    assert changes(slept(life, "safe")) == []


def test_one_sleep_proposes_so_much_and_no_more() -> None:
    """The rest comes with the next one."""
    life = living()
    for number in range(40):
        taught(life, f"h{number:02}", condition=f"thing{number // 2}", text="Do it.")

    assert len(changes(slept(life))) == 16
    assert len(changes(slept(life))) == 4


def test_what_never_fired_for_long_is_of_no_use() -> None:
    """Unless something speaks for it; a day counts from when it came."""
    life = living()
    taught(life, "old")
    taught(life, "liked", condition="snow lies on every roof", text="Stay in bed.")
    voted(life, "liked", "positive")
    life.wait(20 * DAYS)
    taught(life, "new", condition="a wolf is at the gate", text="Lock the door.")
    assert goes(slept(life.wait(9 * DAYS))) == []

    assert goes(slept(life.wait(2 * DAYS))) == [("never_fired", "old")]


def test_what_fired_once_and_never_since_is_of_no_use() -> None:
    """After as many days as the settings call stale; with none it never is."""
    life = living()
    taught(life, "a", confidence=0.9)
    life.sense(WEATHER)
    assert goes(slept(life.wait(31 * DAYS))) == [("stale", "a")]

    patient = living(learning=LearningSettings(stale_days=0.0))
    taught(patient, "a")
    assert goes(slept(patient.wait(400 * DAYS))) == []


def test_what_failed_often_enough_is_of_no_use() -> None:
    """Deprecated on little evidence it may still recover; a pack's is judged alike."""
    dusk = "dusk falls slowly"
    locked = heuristic("locked", "snow", "Hm.", 0.2, constraints={"locked": True})
    life = living(
        pack(heuristic("mine", dusk, "Sing.", 0.9), locked),
        threshold=0.3,
        learning=LearningSettings(weights=LearningWeights(explicit=1.0)),
    )
    pack_id = next(iter(life.blobs.values())).ids[0]
    taught(life, "a", confidence=0.9)
    taught(life, "little", confidence=0.4, condition="ice", text="Slide.")
    voted(life, "little", "negative")
    for _ in range(5):
        assert goes(slept(life)) == []
        for condition in (WEATHER, dusk):
            turn = life.wait(3_600).sense(condition, salience={"threat": 0.9})
            life.feedback(turn, "negative")

    turn = slept(life)

    assert goes(turn) == [("deprecated", "a"), ("deprecated", pack_id)]
    assert [each.before[0].name for each in changes(turn)] == ["a", "mine"]
    assert one(turn, SleepEnded).proposals == tuple(
        each.proposal_id for each in said(turn, ProposalMade)
    )


def test_what_is_proposed_must_still_be_so_when_it_is_applied() -> None:
    """An edited or frozen heuristic is another, and so is one that was released."""
    life = living()
    taught(life, "a")
    taught(life, "b")
    made = one(slept(life), ProposalMade)
    apply = ProposalApplied(proposal_id=made.proposal_id)
    revert = ProposalReverted(proposal_id=made.proposal_id)

    life.control(HeuristicFrozen(heuristic_id="a"))
    assert refused(life.control(apply)) == "outdated"
    life.control(HeuristicFrozen(heuristic_id="a", frozen=False))
    life.control(apply)
    life.control(HeuristicFrozen(heuristic_id="a", frozen=False))
    assert refused(life.control(revert)) == "outdated"
    life.control(HeuristicFrozen(heuristic_id="a"))
    life.control(revert)
    life.control(HeuristicEdited(heuristic_id="b", text="Run."))
    assert refused(life.control(apply)) == "outdated"


def test_changes_of_heuristics_do_not_stand_in_the_way_of_settings() -> None:
    """A later change of heuristics leaves an earlier one of settings to be taken back."""
    life = living()
    submitted = ProposalSubmitted(proposal_id="t", changes={"learning.gamma": 0.9})
    life.control(submitted)
    applied(life.control(ProposalApplied(proposal_id="t")))
    taught(life, "a")
    taught(life, "b")
    slept(life, "safe")

    applied(life.control(ProposalReverted(proposal_id="t")))


def test_a_sleep_without_memory_tidies_all_the_same() -> None:
    """No settings for sleep are needed to look at what there is."""
    life = living(sleep=SleepSettings(events=0))
    assert one(slept(life), SleepEnded).reason == "done"
