"""Matching: which heuristics know the situation, and which of them may answer."""

from handlers.mind.stages.matching import MATCH_LIMIT
from schemas.messages.controls import HeuristicFrozen, HeuristicSeeded, PackLoaded
from schemas.messages.decisions import Candidate, Decided
from tests import factories
from tests.factories import heuristic, pack
from tests.scenario import Scenario


def weighed(decided: Decided) -> dict[str, Candidate]:
    """The heuristics that a decision weighed, by id."""
    return {
        each.arm.removeprefix("heuristic:").partition("@")[0]: each
        for each in decided.candidates
        if each.arm.startswith("heuristic:")
    }


def seeded(id_: str, condition: str, **more: object) -> HeuristicSeeded:
    """A taught heuristic of the source `game`."""
    fields = {"name": id_, "domain": "game", "text": f"Advice of {id_}.", **more}
    return HeuristicSeeded.from_fields(
        {"heuristic_id": id_, "condition": condition, **fields}
    )


def test_what_is_near_is_weighed_nearest_first() -> None:
    """Similarity is the share of words in common here; below the limit is far."""
    scenario = Scenario()
    scenario.control(seeded("far", "a b x y"))
    scenario.control(seeded("near", "a b c x"))
    scenario.control(seeded("same", "a b c d"))
    decided = scenario.decide("a b c d")

    assert [each.similarity for each in weighed(decided).values()] == [1.0, 0.75]
    assert list(weighed(decided)) == ["same", "near"]


def test_the_match_limit_is_exact() -> None:
    """A cosine at the limit matches."""
    scenario = Scenario(limits=factories.LIMITS.model_copy(update={"match": 0.75}))
    scenario.control(seeded("h", "a b c x"))

    assert list(weighed(scenario.decide("a b c d"))) == ["h"]


def test_a_condition_that_does_not_hold_is_named() -> None:
    """Near misses are on record with the reason, and do not answer."""
    scenario = Scenario(
        pack(heuristic("low", "player health", "Rest.", when="health <= 3"))
    )
    (missed,) = weighed(scenario.decide("player health", fields={"health": 8})).values()
    hit = scenario.decide(
        "player health", fields={"health": 3}, salience={"threat": 0.9}
    )

    assert (missed.eligible, missed.probability) == (False, 0.0)
    assert missed.reason == "when: health <= 3 (is 8)"
    assert hit.text == "Rest."


def test_taught_conditions_hold_like_a_packs() -> None:
    """A `when` of a taught heuristic is tested too."""
    scenario = Scenario()
    scenario.control(seeded("h", "player health", when="health <= 3"))
    (missed,) = weighed(scenario.decide("player health", fields={"health": 8})).values()

    assert missed.reason == "when: health <= 3 (is 8)"


def test_near_misses_do_not_crowd_out_what_is_eligible() -> None:
    """However many nearer conditions fail, the one that holds is weighed."""
    misses = [
        heuristic(f"miss{n}", "player health", "No.", when=f"health = {n}")
        for n in range(2 * MATCH_LIMIT)
    ]
    right = heuristic("right", "player health now", "Rest.", when="health = 99")
    decided = Scenario(pack(*misses, right)).decide(
        "player health", fields={"health": 99}
    )

    assert decided.text == "Rest."
    eligible = [each.eligible for each in weighed(decided).values()]
    assert eligible == [True, *[False] * (MATCH_LIMIT - 1)]


def test_frozen_heuristics_are_named_and_do_not_answer() -> None:
    """By hand or by its confidence, a frozen one is no choice."""
    garden = pack(
        heuristic("hand", "player health", "Rest."),
        heuristic("low", "player health", "Run.", confidence=0.05),
    )
    scenario = Scenario(garden)
    scenario.control(HeuristicFrozen(heuristic_id=garden.ids[0]))
    found = weighed(scenario.decide("player health"))

    assert {each.reason for each in found.values()} == {"frozen"}
    assert {each.eligible for each in found.values()} == {False}
    scenario.wait(3600).control(
        HeuristicFrozen(heuristic_id=garden.ids[0], frozen=False)
    )
    assert scenario.decide("player health", salience={"threat": 0.9}).text == "Rest."


def test_a_failed_condition_goes_before_frozen() -> None:
    """One reason is named, the event's own."""
    garden = pack(heuristic("hand", "player health", "Rest.", when="health < 3"))
    scenario = Scenario(garden)
    scenario.control(HeuristicFrozen(heuristic_id=garden.ids[0]))
    (missed,) = weighed(scenario.decide("player health")).values()

    assert missed.reason == "when: health < 3 (is missing)"


def test_nothing_matches_across_domains() -> None:
    """A pack's events are its own; a source that no pack declares is its own domain."""
    garden = pack(heuristic("g", "player health", "Rest."), name="garden")
    desk = pack(heuristic("d", "player health", "Save."), name="desk", types=("load",))
    scenario = Scenario(garden, desk)
    scenario.control(seeded("s", "player health", domain="camera"))

    def answers(**event: str) -> list[str]:
        threat = {"threat": 0.9}
        return list(weighed(scenario.decide("player health", salience=threat, **event)))

    assert answers(type_="vital") == [garden.ids[0]]
    assert answers(type_="load") == [desk.ids[0]]
    assert answers(type_="other", source="camera") == ["s"]
    assert answers(type_="other", source="game") == []
    assert scenario.decide("x", type_="other").domain == "game"
    assert scenario.decide("x", type_="load").domain == "desk"


def test_a_declared_source_narrows_a_type() -> None:
    """A pack that declares a type for one sensor does not take another's events."""
    garden = pack(
        heuristic("g", "player health", "Rest."),
        types=(),
        events=[{"type": "vital", "source": "game"}],
    )
    scenario = Scenario(garden)

    assert scenario.decide("player health", source="game").domain == "garden"
    assert scenario.decide("player health", source="camera").domain == "camera"


def test_taught_and_packed_heuristics_are_weighed_together() -> None:
    """What a person taught in a pack's domain stands beside the pack's own."""
    garden = pack(heuristic("g", "player health low", "Rest."))
    scenario = Scenario(garden)
    scenario.control(seeded("s", "player health", domain="garden"))

    assert list(weighed(scenario.decide("player health"))) == ["s", garden.ids[0]]


def test_an_agents_own_pack_goes_before_the_shared_one() -> None:
    """A newer version loaded for one agent is in force for that agent alone."""
    old = pack(heuristic("g", "player health", "Rest."))
    new = pack(heuristic("g", "player health", "Eat."), version="2.0.0")
    scenario = Scenario(old)
    scenario.blobs[new.digest] = new
    scenario.control(PackLoaded(name="garden", pack_version="2.0.0", digest=new.digest))

    assert scenario.decide("player health").text == "Eat."


def test_without_a_vector_nothing_is_weighed() -> None:
    """A text that no embedder could read still gets its decision."""
    scenario = Scenario()
    scenario.control(seeded("s", "player health"))
    scenario.vectorless = True

    assert weighed(scenario.decide("player health")) == {}
