"""Live experiments: each session or person gets one of two variants, by a keyed draw."""

from typing import Any

import pytest
from pydantic import JsonValue

from schemas.messages.asks import ModelAsked
from schemas.messages.controls import (
    ExperimentStarted,
    ExperimentStopped,
    SessionStarted,
    StrategySelected,
)
from schemas.messages.decisions import Completed, Decided, Dropped
from schemas.messages.experiments import Variant
from schemas.values import ids
from schemas.values.settings import StrategySpec
from schemas.values.subjects import SHARED_AGENT
from tests import factories
from tests.scenario import Scenario, applied, one, refused

SILENT = Variant(strategy=StrategySpec(name="silent"))
MODEL = Variant(strategy=StrategySpec(name="always_llm"))


def started(**changes: Any) -> ExperimentStarted:
    """An experiment that sets silence against the model."""
    return ExperimentStarted(
        **{"experiment_id": "e1", "a": SILENT, "b": MODEL, "washout_s": 60, **changes}
    )


def scenario(**changes: Any) -> Scenario:
    """A scenario in which an experiment runs."""
    led = Scenario(model=factories.MODEL)
    assert applied(led.control(started(**changes))) == changes.get(
        "experiment_id", "e1"
    )
    return led


def in_session(led: Scenario, id_: str, **event: Any) -> Decided:
    """The first decision in a new session."""
    led.control(SessionStarted(session_id=id_))
    return led.decide(f"something in {id_}", **event)


def drawn(unit: str, experiment: str = "e1") -> str:
    """The variant that a unit's draw gives."""
    value = ids.draw("echoic", "ana", f"{experiment}/{unit}", "experiment")
    return "a" if value < 0.5 else "b"


def of_variant(name: str, beginning: str = "s") -> list[str]:
    """Some units with this variant."""
    units = (f"{beginning}{place}" for place in range(60))
    return [unit for unit in units if drawn(unit) == name]


def variant(decided: Decided) -> str:
    """The variant that a decision was made under."""
    assert decided.experiment is not None
    return decided.experiment.variant


def is_washout(decided: Decided) -> bool:
    """Whether a decision was made while the other variant may still show."""
    assert decided.experiment is not None
    return decided.experiment.washout


def test_each_session_decides_by_its_own_variant() -> None:
    """The record names variant, probability and unit, and the strategy that decided."""
    led = scenario()
    quiet = in_session(led, of_variant("a")[0])
    asking = in_session(led, of_variant("b")[0])

    assert quiet.experiment is not None
    assert quiet.experiment.as_fields() == {
        "id": "e1",
        "variant": "a",
        "probability": 0.5,
        "unit": of_variant("a")[0],
        "washout": False,
    }
    assert (quiet.strategy, variant(asking), asking.strategy) == (
        "silent",
        "b",
        "always_llm",
    )
    assert quiet.config_hash != asking.config_hash


def test_half_of_the_sessions_get_each_variant() -> None:
    """As many as a fair coin would give, and just those that the key says."""
    led = scenario(washout_s=0)
    found = {f"s{place}": variant(in_session(led, f"s{place}")) for place in range(200)}

    assert found == {unit: drawn(unit) for unit in found}
    assert 75 <= sum(each == "a" for each in found.values()) <= 125


def test_another_experiment_draws_anew() -> None:
    """Its id is part of the key, so half of the units change sides."""
    units = [f"s{place}" for place in range(200)]
    moved = sum(drawn(unit) != drawn(unit, "e2") for unit in units)
    led = scenario(experiment_id="e2")

    assert variant(in_session(led, "s1")) == drawn("s1", "e2")
    assert 70 <= moved <= 130


def test_a_session_keeps_its_variant() -> None:
    """Whatever comes between, and however often it is asked."""
    led = scenario()
    first = in_session(led, "s1")
    in_session(led, "s2")
    again = in_session(led, "s1")

    assert variant(first) == variant(led.decide("more in it")) == drawn("s1")
    assert variant(again) == variant(first)


def test_a_person_keeps_the_variant_over_sessions() -> None:
    """The person is named by the event, or is who speaks; else the session stands in."""
    led = scenario(by="person")

    def unit(session: str, **event: Any) -> str:
        decided = in_session(led, session, **event)
        assert decided.experiment is not None
        assert variant(decided) == drawn(decided.experiment.unit)
        return decided.experiment.unit

    assert unit("s1", fields={"person": "ada"}) == "ada"
    assert unit("s2", fields={"person": "ada"}) == "ada"
    assert unit("s3", source="bob", type_="message") == "bob"
    assert unit("s4") == "s4"
    assert unit("s5", fields={"person": 7}) == "s5"
    assert unit("s6", fields={"person": ""}) == "s6"
    assert unit("s7", fields={"person": "x" * 500}) == ids.digest(b"x" * 500)


WORDS = {"source": "user", "type_": "message"}
OF_A_PERSON: tuple[tuple[dict[str, Any], str], ...] = (
    ({"person": "ada"}, "ada"),
    ({"person": "ada", "fields": {"person": "the cat"}}, "ada"),
    ({"person": "ada", "fields": {"person": 7}}, "ada"),
    ({"person": "ada", **WORDS}, "ada"),
    ({"person": "bo", **WORDS, "fields": {"person": "ada"}}, "bo"),
    ({**WORDS, "fields": {"person": "ada"}}, "ada"),
    (WORDS, "user"),
)


@pytest.mark.parametrize(("event", "unit"), OF_A_PERSON)
def test_the_person_of_an_event_is_the_unit(event: dict[str, Any], unit: str) -> None:
    """Its `person` counts first, for words too: two of a household are two units."""
    decided = in_session(scenario(by="person"), "s1", **event)

    assert decided.experiment is not None
    assert decided.experiment.unit == unit


def test_what_the_other_variant_left_is_marked() -> None:
    """From the first decision under another variant, for as long as the washout is."""
    led = scenario()
    a, b = of_variant("a"), of_variant("b")

    assert not is_washout(in_session(led, a[0]))
    assert not is_washout(in_session(led, a[1]))
    assert is_washout(in_session(led, b[0]))
    assert is_washout(led.wait(59).decide("still"))
    assert not is_washout(led.wait(1).decide("no more"))
    assert not is_washout(in_session(led, b[1]))
    assert is_washout(in_session(led, a[2]))


def test_a_switch_into_another_clock_is_no_lasting_washout() -> None:
    """In a session whose own clock goes back it lasts as long as it would have."""
    led = scenario()
    in_session(led, of_variant("a")[0])
    in_session(led, of_variant("b")[0])
    led.control(SessionStarted(session_id=of_variant("b")[1], clock="event"))

    assert is_washout(led.decide("long ago", occurred_at="2020-05-04T12:00:00Z"))
    assert not is_washout(led.decide("later", occurred_at="2020-05-04T12:01:00Z"))


def test_a_closed_gate_names_the_variant_too() -> None:
    """Silence of a gate is an answer of the variant as well."""
    decided = scenario().decide("note", intent="informational")

    assert (decided.path, decided.silence) == ("none", "informational")
    assert decided.experiment is not None


def test_a_personality_is_another_way_to_ask_the_model() -> None:
    """It stands in the prompt, and makes another arm of the same model."""
    led = Scenario(model=factories.MODEL, personality="You are kind.", relevance=0.0)
    led.control(started(a=Variant(), b=Variant(personality="You are dry.")))

    def asked(session: str) -> tuple[str, str]:
        led.control(SessionStarted(session_id=session))
        turn = led.sense(f"something in {session}")
        return one(turn, Decided).arm, one(turn, ModelAsked).system

    kind_arm, kind = asked(of_variant("a")[0])
    dry_arm, dry = asked(of_variant("b")[0])

    assert "You are kind." in kind
    assert "You are dry." not in kind
    assert "You are dry." in dry
    assert "You are kind." not in dry
    assert kind_arm != dry_arm


def test_an_answer_is_read_by_the_strategy_that_asked() -> None:
    """Also when the experiment has ended since."""
    strict: dict[str, JsonValue] = {"llm_confidence_ceiling": 0.1}
    asking = StrategySpec(name="heuristic_first", parameters=strict)
    led = scenario(a=Variant(strategy=asking), b=Variant(strategy=asking))
    turn = led.sense("health low")
    led.control(ExperimentStopped())
    told = led.answer_model(turn, "Drink.", predicted_success=1.0)

    assert one(told, Completed).predicted_success == 0.1


def test_a_wait_that_ends_in_vain_leaves_the_next_event_alone() -> None:
    """What waited under a variant is given up under it; the event after it is not."""
    led = scenario(a=MODEL, b=MODEL)
    led.sense("health low")
    led.control(ExperimentStopped())
    led.control(StrategySelected(strategy="silent"))
    turn = led.wait(3_600).sense("dusk falls")

    assert one(turn, Dropped).reason == "llm_timeout"
    assert one(turn, Decided).strategy == "silent"


def test_a_stop_puts_back_what_was_in_force() -> None:
    """The agent's own strategy decides again, and nothing names an experiment."""
    led = Scenario(model=factories.MODEL)
    led.control(StrategySelected(strategy="random"))
    led.control(started())
    during = in_session(led, "s1")
    assert applied(led.control(ExperimentStopped(experiment_id="e1"))) == "e1"
    after = in_session(led, "s1")

    assert during.strategy in ("silent", "always_llm")
    assert (after.strategy, after.experiment) == ("random", None)
    assert led.mind.experiment is None


def test_one_experiment_at_a_time() -> None:
    """A second is refused until the first is stopped."""
    led = scenario()

    assert refused(led.control(started(experiment_id="e2"))) == "experiment_running"
    led.control(ExperimentStopped())
    assert applied(led.control(started(experiment_id="e2"))) == "e2"


@pytest.mark.parametrize("side", ["a", "b"])
def test_an_unknown_strategy_is_refused(side: str) -> None:
    """On either side, and nothing begins."""
    led = Scenario()
    genius = Variant(strategy=StrategySpec(name="genius"))

    assert refused(led.control(started(**{side: genius}))) == "unknown_strategy"
    assert led.decide("x").experiment is None


def test_there_must_be_something_to_stop() -> None:
    """None runs, or another one."""
    led = Scenario()

    assert refused(led.control(ExperimentStopped())) == "no_experiment"
    led.control(started())
    assert refused(led.control(ExperimentStopped(experiment_id="x"))) == (
        "no_experiment"
    )


def test_an_experiment_concerns_one_agent() -> None:
    """The shared agent decides nothing."""
    assert refused(Scenario().control(started(), agent=SHARED_AGENT)) == "invalid"


def test_without_an_experiment_nothing_is_said_of_one() -> None:
    """The body of an ordinary decision does not know the field."""
    turn = Scenario().sense("x")

    assert b"experiment" not in turn.outputs[0].record.body
