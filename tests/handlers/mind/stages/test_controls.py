"""Controls: what changes behaviour is applied or refused, and in force from there."""

from typing import Any

import pytest

from schemas.codec.catalogue import ControlMessage
from schemas.messages.asks import ModelAsked
from schemas.messages.controls import (
    GoalsSet,
    PackLoaded,
    ProfileSet,
    SessionEnded,
    SessionStarted,
    StrategySelected,
)
from schemas.messages.decisions import Decided
from schemas.messages.notes import ControlRefused
from schemas.values.subjects import SHARED_AGENT
from tests import factories
from tests.factories import heuristic, mind_started, pack, pack_loaded
from tests.scenario import Scenario, applied, one, refused

THREAT = {"threat": 0.9}


@pytest.mark.parametrize(
    ("way", "sealed", "reason"),
    [
        ("control.person_forgotten", False, "unfit"),
        ("sensor.app.control", False, "not_granted"),
        ("sensor.app.control", True, "not_granted"),
    ],
)
def test_who_may_not_have_somebody_forgotten(
    way: str, sealed: bool, reason: str
) -> None:
    """No sensor may, and nobody in a log that has no keys to destroy."""
    scenario = Scenario(sealed=sealed)
    body = b'{"control": "person_forgotten", "person": "ana"}'
    turn = scenario.take(f"ev.{scenario.partition}.in.ana.{way}", body)

    assert refused(turn) == reason
    assert one(turn, ControlRefused).control == "person_forgotten"


def test_goals_of_an_agent_go_before_the_settings() -> None:
    """Also when there are none."""
    scenario = Scenario(model=factories.MODEL, goals=("Survive",))

    def system() -> str:
        return one(scenario.sense(f"x{len(scenario.turns)}"), ModelAsked).system

    assert "- Survive" in system()
    assert applied(scenario.control(GoalsSet(goals=("Explore",)))) == ""
    assert "- Explore" in system()
    assert "- Survive" not in system()
    scenario.control(GoalsSet(goals=()))
    assert "goals" not in system()


def test_a_profile_biases_the_threshold() -> None:
    """An agent's biases go before the settings' of the same name."""
    garden = pack(heuristic("h", "health low", "Rest.", confidence=0.65))
    scenario = Scenario(garden, biases={"confidence_threshold": 0.1})

    def path() -> str:
        return scenario.decide("health low", salience=THREAT).path

    assert path() == "rejected"
    assert (
        applied(scenario.control(ProfileSet(biases={"confidence_threshold": -0.05})))
        == ""
    )
    assert path() == "heuristic"
    scenario.control(ProfileSet(biases={"other": 0.1}))
    assert path() == "rejected"


def test_biases_go_by_domain() -> None:
    """The agent's for a domain, its own, the pack's, the settings': the nearest counts."""
    garden = pack(
        heuristic("h", "health low", "Rest.", confidence=0.65),
        biases={"confidence_threshold": -0.1},
    )
    scenario = Scenario(garden, biases={"confidence_threshold": 0.1})

    def threshold(**event: Any) -> float | None:
        decided = scenario.wait(3600).decide("health low", salience=THREAT, **event)
        gates = [each for each in decided.gates if each.name == "confidence"]
        return gates[0].threshold if gates else None

    def told(bias: float | None, domain: str | None = None) -> None:
        biases = {} if bias is None else {"confidence_threshold": bias}
        scenario.control(ProfileSet(biases=biases, domain=domain))

    assert threshold() == 0.6
    told(0.05)
    assert threshold() == 0.75
    told(-0.05, "garden")
    assert threshold() == 0.65
    told(0.02, "elsewhere")
    assert threshold() == 0.65
    told(None, "garden")
    assert threshold() == 0.75
    assert sorted(scenario.mind.domain_biases) == ["elsewhere"]


def test_a_bias_moves_a_threshold_by_a_tenth_at_most() -> None:
    """A larger one is refused, and one of the settings is cut."""
    garden = pack(heuristic("h", "health low", "Rest.", confidence=0.65))
    scenario = Scenario(garden, biases={"confidence_threshold": -0.3})
    larger = ProfileSet(biases={"confidence_threshold": 0.100001})

    smaller = ProfileSet(biases={"confidence_threshold": 0.1})

    assert scenario.decide("health low", salience=THREAT).gates[-1].threshold == 0.6
    assert refused(scenario.control(larger)) == "invalid"
    assert applied(scenario.control(smaller)) == ""


def test_a_strategy_is_selected_for_one_agent() -> None:
    """It decides from there; the record says which one did, and how it was set."""
    scenario = Scenario(model=factories.MODEL)
    before = scenario.decide("a")
    assert applied(scenario.control(StrategySelected(strategy="silent"))) == "silent"
    after = scenario.decide("b")

    assert (before.strategy, after.strategy) == ("heuristic_first", "silent")
    assert before.config_hash != after.config_hash
    assert after.silence == "strategy_silent"


@pytest.mark.parametrize(
    ("name", "parameters"), [("genius", {}), ("heuristic_first", {"max_candidates": 6})]
)
def test_a_strategy_that_cannot_be_is_refused(
    name: str, parameters: dict[str, Any]
) -> None:
    """The old one stays in force, for an agent and for everybody."""
    scenario = Scenario()
    selected = scenario.control(StrategySelected(strategy=name, parameters=parameters))
    strategy = {"name": name, "parameters": parameters}
    started = scenario.control(
        mind_started(strategy=strategy, threshold=0.1), agent=SHARED_AGENT
    )

    assert refused(selected) == refused(started) == "unknown_strategy"
    assert scenario.decide("a").strategy == "heuristic_first"
    assert scenario.settings.threshold == 0.7


def test_a_mind_starts_for_a_partition() -> None:
    """Its settings are in force for every agent of it, and for none if sent to one."""
    scenario = Scenario()
    assert applied(scenario.control(mind_started(threshold=0.4), SHARED_AGENT)) == (
        "heuristic_first"
    )
    assert refused(scenario.control(mind_started(threshold=0.1))) == "invalid"
    assert scenario.settings.threshold == 0.4


@pytest.mark.parametrize(
    "control",
    [GoalsSet(goals=()), SessionStarted(session_id="s"), ProfileSet(biases={})],
    ids=lambda control: control.token,
)
def test_what_concerns_one_agent_must_name_it(control: ControlMessage) -> None:
    """The shared agent has no goals, sessions or profile."""
    assert refused(Scenario().control(control, agent=SHARED_AGENT)) == "invalid"


def test_a_pack_is_loaded_for_all_or_for_one() -> None:
    """And replaces an older one of the same name."""
    old = pack(heuristic("h", "health low", "Rest."))
    new = pack(heuristic("h", "health low", "Eat."), version="2.0.0")
    scenario = Scenario()
    scenario.blobs = {old.digest: old, new.digest: new}

    assert applied(scenario.control(pack_loaded(old))) == "garden 1.0.0, 1 heuristics"
    assert scenario.decide("health low", salience=THREAT).text == "Rest."
    applied(scenario.control(pack_loaded(new), agent=SHARED_AGENT))
    assert scenario.decide("health low", salience=THREAT).text == "Rest."
    applied(scenario.control(pack_loaded(new)))
    assert scenario.decide("health low", salience=THREAT).text == "Eat."


def test_a_pack_is_taken_out_where_it_was_put_in_force() -> None:
    """An agent's own gives way to everybody's, which is taken out for all."""
    shared = pack(heuristic("h", "health low", "Rest."))
    own = pack(heuristic("h", "health low", "Eat."), version="2.0.0")
    scenario = Scenario()
    scenario.blobs = {shared.digest: shared, own.digest: own}
    out = pack_loaded(own, off=True)
    assert refused(scenario.control(out)) == "invalid"
    applied(scenario.control(pack_loaded(shared), agent=SHARED_AGENT))
    assert refused(scenario.control(out)) == "invalid"
    applied(scenario.control(pack_loaded(own)))

    assert applied(scenario.control(out)) == "garden is taken out"
    assert scenario.decide("health low", salience=THREAT).text == "Rest."
    applied(scenario.control(pack_loaded(shared, off=True), agent=SHARED_AGENT))
    assert scenario.decide("health low", salience=THREAT).text is None
    applied(scenario.control(pack_loaded(shared)))
    assert scenario.decide("health low", salience=THREAT).text == "Rest."


def test_a_pack_that_is_not_what_it_is_called_is_refused() -> None:
    """A missing blob, and one under another name."""
    garden = pack()
    scenario = Scenario()
    missing = PackLoaded(name="garden", pack_version="1.0.0", digest="0" * 64)
    scenario.blobs = {garden.digest: garden}
    misnamed = PackLoaded(name="desk", pack_version="1.0.0", digest=garden.digest)

    assert refused(scenario.control(missing)) == "unknown_pack"
    assert refused(scenario.control(misnamed)) == "invalid"
    assert len(scenario.mind.packs) == 0


def test_sessions_are_started_and_ended() -> None:
    """A decision names its session; there is none to end twice."""
    scenario = Scenario()
    applied(scenario.control(SessionStarted(session_id="s1", title="A walk")))
    assert one(scenario.sense("a"), Decided).session_id == "s1"
    assert applied(scenario.control(SessionEnded())) == "s1"
    assert refused(scenario.control(SessionEnded())) == "no_session"
