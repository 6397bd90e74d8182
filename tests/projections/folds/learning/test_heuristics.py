"""The heuristics of an agent, one list for whoever looks at them."""

from projections.folds.learning.heuristics import all_heuristics
from schemas.messages.controls import HeuristicSeeded
from tests.factories import heuristic, pack
from tests.scenario import Scenario


def seeded(id_: str, domain: str) -> HeuristicSeeded:
    """A person teaches something."""
    return HeuristicSeeded(
        heuristic_id=id_, name=id_, domain=domain, condition="it rains", text="Go in."
    )


def test_all_heuristics_are_those_of_packs_and_then_what_was_taught() -> None:
    """Each with its origin and words; what was taught stands by domain and id."""
    game = pack(heuristic("creeper", "a creeper is near", "Run."), name="game")
    scenario = Scenario(game)
    for message in (seeded("b", "work"), seeded("c", "home"), seeded("a", "work")):
        scenario.control(message)

    found = list(all_heuristics(scenario.mind, [game]))

    assert [(each.domain, each.name, each.origin) for each in found] == [
        ("game", "creeper", "skill_pack"),
        ("home", "c", "seeded"),
        ("work", "a", "seeded"),
        ("work", "b", "seeded"),
    ]
    assert (found[0].heuristic_id, found[0].content_hash) == (
        game.ids[0],
        game.content_hashes[0],
    )
    assert found[0].condition == "a creeper is near"
