"""Reinforcing: what is known already is not made again, and earns the vote instead."""

from typing import Any

import pytest

from schemas.messages.controls import HeuristicFrozen
from schemas.messages.learning import (
    FeedbackApplied,
    HeuristicFormed,
    HeuristicReinforced,
)
from schemas.packs.compiled import compile_pack
from tests.factories import heuristic, pack
from tests.handlers.mind.forming import (
    CONDITION,
    EVENT,
    MESSAGE,
    WARM,
    alive,
    answered,
    formed,
    learnt,
    liked,
    rule,
)
from tests.scenario import decision_id, names, one

SAME = pack(
    heuristic("low", CONDITION, MESSAGE, WARM, when="health<=3"),
    heuristic("other_test", CONDITION, MESSAGE, WARM, when="health <= 4"),
    heuristic("other_words", CONDITION, "Run as far as you can.", WARM),
)


def test_what_is_known_already_is_reinforced() -> None:
    """Same situation, same test, same advice: the vote counts for it, nothing is made."""
    scenario = alive(SAME)
    asked = liked(scenario)
    rapport = scenario.mind.rapport["user"].value
    turn = scenario.answer_model(asked, rule(when="health  <=  3.0"))

    assert names(turn) == ["Handled", "FeedbackApplied", "HeuristicReinforced"]
    vote, told = one(turn, FeedbackApplied), one(turn, HeuristicReinforced)
    assert vote.heuristic_id == told.heuristic_id == SAME.ids[0]
    assert (vote.decision_id, vote.fire_id) == (None, None)
    assert vote.through == told.decision_id == decision_id(scenario.turns[2])
    assert (told.similarity, told.action_similarity) == (1.0, 1.0)
    held = scenario.belief(SAME.ids[0], SAME.content_hashes[0])
    assert told.confidence == held.confidence == round((1.2 + 0.8) / 2.8, 6)
    assert scenario.mind.rapport["user"].value == rapport
    assert len(scenario.mind.beliefs) == 1
    assert learnt(scenario) == []


def test_a_formed_heuristic_is_reinforced_by_the_next_like_it() -> None:
    """Two answers with one rule make one heuristic."""
    scenario = alive()
    first = one(formed(scenario), HeuristicFormed)

    asked = scenario.wait(60).feedback(
        answered(scenario, "again health became very low")
    )
    turn = scenario.answer_model(asked, rule())

    assert one(turn, HeuristicReinforced).heuristic_id == first.heuristic_id
    (held,) = learnt(scenario)
    assert scenario.belief(held.heuristic_id, held.content_hash).confidence == 0.5


def test_a_changed_mind_takes_the_reinforcement_back() -> None:
    """Later votes on that decision count for the heuristic, in the same place."""
    scenario = alive(SAME)
    asked = liked(scenario)
    scenario.answer_model(asked, rule())
    id_ = one(asked, FeedbackApplied).decision_id or ""

    again = scenario.feedback(id_)
    same = scenario.belief(SAME.ids[0], SAME.content_hashes[0])
    turned = scenario.feedback(id_, "negative")

    assert one(again, FeedbackApplied).heuristic_id == SAME.ids[0]
    assert same.confidence == round((1.2 + 0.8) / 2.8, 6)
    assert one(turned, FeedbackApplied).through == id_
    held = scenario.belief(SAME.ids[0], SAME.content_hashes[0])
    assert held.confidence == round(1.2 / 2.8, 6)
    assert len(held.signals) == 1


def test_what_a_person_froze_is_not_made_again() -> None:
    """A twin of a frozen heuristic would be a way around the person's word."""
    scenario = alive(SAME)
    scenario.control(HeuristicFrozen(heuristic_id=SAME.ids[0]))
    asked = liked(scenario)

    turn = scenario.answer_model(asked, rule())

    assert one(turn, HeuristicReinforced).heuristic_id == SAME.ids[0]
    assert learnt(scenario) == []


@pytest.mark.parametrize(
    "changes",
    [
        {"when": None},
        {"condition": "the rain has begun to fall on all of the dry fields here"},
        {"message": "Leave this place at once and do not look back on your way"},
    ],
)
def test_what_differs_in_one_of_the_three_is_another_heuristic(
    changes: dict[str, Any],
) -> None:
    """Situation, test and advice must all agree."""
    scenario = alive(
        pack(heuristic("low", CONDITION, MESSAGE, WARM, when="health <= 3"))
    )

    assert names(formed(scenario, **changes)) == ["Handled", "HeuristicFormed"]


def test_another_domain_knows_nothing_of_it() -> None:
    """The same rule in another domain is a heuristic of its own there."""
    scenario = alive(SAME)
    id_ = answered(scenario, EVENT, source="porch", type_="seen")
    asked = scenario.feedback(id_)

    turn = scenario.answer_model(asked, rule())

    assert one(turn, HeuristicFormed).domain == "porch"
    assert len(learnt(scenario, "porch")) == 1


def test_a_pack_without_embedded_words_is_never_the_same() -> None:
    """Nothing is told to say the same of which nobody knows what it says."""
    bare = compile_pack(SAME.pack, SAME.vectors)
    scenario = alive(bare)

    assert names(formed(scenario)) == ["Handled", "HeuristicFormed"]
