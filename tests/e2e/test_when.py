"""Texts that mean the opposite are near each other; conditions tell them apart."""

import pytest

from schemas.messages.decisions import HeuristicFired
from tests.e2e.companion import Companion
from tests.e2e.model_double import ModelDouble

pytestmark = [pytest.mark.asyncio(loop_scope="session"), pytest.mark.services]

PAIRS = [
    (
        ("The water tank is low", 'level = "low"', {"level": "low"}, "Fill the tank."),
        (
            "The water tank is full",
            'level = "full"',
            {"level": "full"},
            "Close the tap.",
        ),
    ),
    (
        ("Stamina dropped to 2 of 9", "stamina <= 3", {"stamina": 2}, "Sit down."),
        ("Stamina dropped to 8 of 9", "stamina >= 7", {"stamina": 8}, "Keep going."),
    ),
    (
        ("The oven is on", "on = true", {"on": True}, "Do not forget the oven."),
        ("The oven is not on", "on = false", {"on": False}, "The oven is cold."),
    ),
]


@pytest.mark.parametrize("pair", PAIRS, ids=["low-full", "2-8-of-9", "on-not-on"])
async def test_opposites_never_fire_each_others_heuristic(
    ada: Companion,
    double: ModelDouble,
    pair: tuple[tuple[str, str, dict[str, object], str], ...],
) -> None:
    """Each of two near texts is answered by its own heuristic, the other is ineligible."""
    for number, (condition, when, _, says) in enumerate(pair):
        await ada.taught(f"h{number}", condition, says, when=when)

    for number, (text, _, fields, says) in enumerate(pair):
        decision = await ada.senses(text, fields=fields, salience={"threat": 0.9})

        other = f"heuristic:h{1 - number}@"
        (wrong,) = [
            each for each in decision.decided.candidates if each.arm.startswith(other)
        ]
        assert (decision.said, decision.heuristic_id) == (says, f"h{number}")
        assert not wrong.eligible
        assert wrong.reason is not None
        assert wrong.reason.startswith("when: ")
        # Similarity alone would have taken it for a match.
        assert wrong.similarity is not None
        assert wrong.similarity >= 0.5
    fires = [fire.heuristic_id for fire in await ada.outputs(HeuristicFired)]
    assert fires == ["h0", "h1"]


@pytest.mark.parametrize("pair", PAIRS, ids=["low-full", "2-8-of-9", "on-not-on"])
async def test_an_opposite_alone_is_not_even_suggested(
    ada: Companion,
    double: ModelDouble,
    pair: tuple[tuple[str, str, dict[str, object], str], ...],
) -> None:
    """If only the opposite was taught it does not answer, and the model never sees it."""
    (condition, when, _, says), (text, _, fields, _) = pair
    await ada.taught("opposite", condition, says, when=when)

    event = f"{text} ({ada.agent})"
    decision = await ada.senses(event, fields=fields)

    (asked,) = await double.asked_about(event)
    assert decision.path == "llm"
    assert says not in asked.prompt
    assert await ada.outputs(HeuristicFired) == []


async def test_what_was_learnt_in_one_domain_stays_there(
    ada: Companion, double: ModelDouble
) -> None:
    """The same words from another domain meet no heuristic of this one."""
    await ada.taught("dog", "The dog barks at the door", "Let it in.", domain="house")

    event = f"The dog barks at the door ({ada.agent})"
    decision = await ada.senses(event, type_="creature")

    await double.asked_about(event)
    arms = [each.arm for each in decision.decided.candidates]
    assert decision.path == "llm"
    assert not [arm for arm in arms if arm.startswith("heuristic:dog@")]
