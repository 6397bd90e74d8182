"""Salience: whether an event matters, with every gate's value on record."""

from datetime import timedelta
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from msgspec.structs import replace
from pydantic import JsonValue

from handlers.mind.stages import salience
from schemas.messages.asks import ModelAsked
from schemas.messages.controls import HeuristicSeeded
from schemas.messages.decisions import Decided, Gate
from schemas.state.agent import SourceMemory
from schemas.values.exact_math import clamp, power, round6
from schemas.values.vectors import likenesses
from tests import factories
from tests.factories import NOON, embed
from tests.scenario import Scenario, one


def gate(decided: Decided, name: str) -> Gate:
    """The gate of a decision by its name."""
    (found,) = (each for each in decided.gates if each.name == name)
    return found


def weighing(
    threshold: float | None = None,
    weights: dict[str, float] | None = None,
    **event: JsonValue,
) -> Scenario:
    """A scenario with one declared type `vital`, and no computed novelty in what follows."""
    pack = factories.pack(
        types=(),
        events=[{"type": "vital", **event}],
        salience={"threshold": threshold, "weights": weights or {}},
    )
    return Scenario(pack)


def test_salience_is_the_mean_of_what_is_known() -> None:
    """Hints and computed novelty count alike where the pack says nothing."""
    decided = Scenario().decide("a", salience={"threat": 0.5, "social": 0.2})

    assert decided.salience.dimensions == {"novelty": 1.0, "social": 0.2, "threat": 0.5}
    assert decided.salience.score == pytest.approx(1.7 / 3, abs=1e-6)


def test_weights_are_the_packs() -> None:
    """S is the weighted mean; a weight of 0 leaves a dimension out."""
    weights = {"threat": 2.0, "novelty": 0.0, "social": 1.0}
    hints = {"threat": 0.6, "social": 0.3, "novelty": 0.9}
    decided = weighing(weights=weights).decide("a", salience=hints)

    assert decided.salience.score == pytest.approx((1.2 + 0.3) / 3, abs=1e-6)


def test_without_any_weight_nothing_matters() -> None:
    """A mean over nothing is 0."""
    scenario = weighing(weights={"novelty": 0.0})

    assert scenario.decide("a").salience.score == 0.0


def test_a_sensors_hint_goes_before_the_packs_default() -> None:
    """The pack says what such an event means where its sensor gives no hint."""
    scenario = weighing(salience={"threat": 0.9, "social": 0.4})
    decided = scenario.decide("a", salience={"threat": 0.2})

    assert decided.salience.dimensions == {"novelty": 1.0, "social": 0.4, "threat": 0.2}


@pytest.mark.parametrize(("value", "passed"), [(0.5, True), (0.499999, False)])
def test_relevance_has_an_exact_limit(value: float, passed: bool) -> None:
    """Half is enough, less is not."""
    decided = Scenario().decide("a", salience={"novelty": value})

    assert passed == gate(decided, "relevance").passed
    assert decided.silence == ("llm_unavailable" if passed else "below_relevance")
    assert decided.path == ("rejected" if passed else "none")


def test_a_packs_threshold_goes_before_the_settings() -> None:
    """The gate records value, threshold and margin."""
    pack_gate = gate(weighing(0.6).decide("a", salience={"novelty": 0.55}), "relevance")
    scenario = Scenario(relevance=0.3)

    assert pack_gate == Gate(
        name="relevance", passed=False, value=0.55, threshold=0.6, margin=-0.05
    )
    assert gate(scenario.decide("a", salience={"novelty": 0.3}), "relevance").passed


def test_a_threshold_is_rounded_like_the_value() -> None:
    """0.1 + 0.2 is more than 0.3 in floats, and not here."""
    scenario = Scenario(relevance=0.1 + 0.2)

    assert gate(scenario.decide("a", salience={"novelty": 0.3}), "relevance").passed


def test_a_like_event_is_habituated_at_once() -> None:
    """The second of two like events has a tenth of its salience left."""
    scenario = Scenario()
    scenario.sense("player health is low")
    decided = scenario.decide("player health is low", salience={"novelty": 1.0})

    assert decided.silence == "habituated"
    assert decided.salience.sensitivity == 0.1
    assert decided.salience.effective == 0.1
    assert gate(decided, "relevance").passed
    assert gate(decided, "habituation").margin == -0.4


def test_an_irrelevant_event_is_no_habituated_one() -> None:
    """What would not matter anyway says so."""
    scenario = Scenario()
    scenario.sense("player health is low")

    assert scenario.decide("player health is low").silence == "below_relevance"


@pytest.mark.parametrize(
    ("setting", "tau_s"), [("game", 60), ("work", 180), ("home", 300), ("other", 120)]
)
def test_habituation_recovers_at_the_settings_pace(setting: str, tau_s: float) -> None:
    """After tau a like event has 1 - 0.9/e of its salience back, which is enough."""
    text, new = "player health is low", {"novelty": 1}
    scenario = Scenario(factories.pack(setting=setting))
    scenario.sense(text)
    soon = scenario.wait(tau_s * 0.58).decide(text, salience=new)
    later = scenario.wait(tau_s * 0.42).decide(text, salience=new)

    assert soon.silence == "habituated"
    assert later.salience.sensitivity == pytest.approx(0.668909, abs=1e-5)
    assert later.silence != "habituated"


def test_an_event_types_own_pace_goes_before() -> None:
    """A pack may say how fast one type recovers."""
    scenario = weighing(tau_s=1.0)
    scenario.sense("player health is low")

    later = scenario.wait(5).decide("player health is low", salience={"novelty": 1.0})
    assert later.salience.sensitivity > 0.99


def test_only_what_passed_habituates() -> None:
    """Silenced events do not keep the mind habituated."""
    scenario = Scenario()
    scenario.sense("player health is low", salience={"novelty": 0.1})
    first = scenario.decide("player health is low", salience={"novelty": 1.0})
    scenario.wait(60).sense("player health is low", salience={"novelty": 1.0})
    later = scenario.wait(60).decide("player health is low", salience={"novelty": 1.0})

    assert first.salience.sensitivity == 1.0
    assert later.salience.sensitivity == pytest.approx(0.668909, abs=1e-5)


def test_another_sort_of_event_is_not_habituated() -> None:
    """Like events share source, type, words and the fields that conditions name."""
    pack = factories.pack(
        factories.heuristic("low", "x", "y", when='health < 3 or player.mood = "sad"')
    )
    scenario = Scenario(pack)
    fields = {"health": 2, "player": {"mood": "sad"}, "step": 1}
    scenario.sense("player health is low", fields=fields)

    def sensitivity(text: str = "player health is low", **more: object) -> float:
        return scenario.decide(text, **{"fields": fields, **more}).salience.sensitivity

    assert sensitivity(source="camera") == 1.0
    assert sensitivity(type_="thing") == 1.0
    assert sensitivity("a zombie comes near") == 1.0
    assert sensitivity(fields={**fields, "health": 8}) == 1.0
    assert sensitivity(fields={**fields, "player": {"mood": "glad"}}) == 1.0
    assert sensitivity(fields={**fields, "player": {}}) == 1.0
    assert sensitivity(fields={**fields, "step": 2}) < 0.2


def test_a_threat_always_passes() -> None:
    """At 0.8 neither relevance nor habituation holds it back, and the gates say so."""
    scenario = Scenario()
    scenario.sense("a zombie bites", salience={"threat": 0.95})
    bitten = scenario.decide("a zombie bites", salience={"threat": 0.95, "social": 0.0})
    almost = scenario.decide("a zombie bites", salience={"threat": 0.799999})

    assert bitten.salience.sensitivity == 0.1
    assert bitten.silence == "llm_unavailable"
    assert gate(bitten, "habituation").note == "a threat always passes"
    assert gate(bitten, "relevance").passed
    assert almost.silence == "below_relevance"
    assert scenario.decide("b", salience={"threat": 0.8}).path == "rejected"


def test_informational_events_are_recorded_and_not_answered() -> None:
    """Intent is the first gate, even for a threat."""
    scenario = Scenario(model=factories.MODEL)
    decided = scenario.decide("saved", intent="informational", salience={"threat": 1.0})

    assert (decided.silence, decided.path) == ("informational", "none")
    assert decided.gates == (Gate(name="intent", passed=False, note="informational"),)


def test_a_report_is_informational_unless_it_says_otherwise() -> None:
    """How advice turned out is worth knowing, and no new occasion."""
    scenario = Scenario()
    report = scenario.decide("done", in_reply_to="d1", outcome="succeeded")
    asking = scenario.decide("and now?", in_reply_to="d1", intent="actionable")

    assert report.silence == "informational"
    assert asking.silence == "llm_unavailable"


def test_novelty_is_the_distance_to_the_last_events() -> None:
    """1 minus the highest cosine to the source's last ten; 1 for the first."""
    memory = SourceMemory(recent=(embed("a b c d"), embed("x y z w")))

    assert salience.novelty(None, embed("a")) == 1.0
    assert salience.novelty(memory, None) == 1.0
    assert salience.novelty(SourceMemory(), embed("a")) == 1.0
    assert salience.novelty(memory, embed("a b c d")) == 0.0
    assert salience.novelty(memory, embed("a b c e")) == 0.25
    assert salience.novelty(memory, bytes(factories.DIMENSION)) == 1.0
    opposite = SourceMemory(recent=(b"\x01",))
    assert salience.novelty(opposite, b"\xff") == 1.0


def test_novelty_forgets_after_ten_events() -> None:
    """Only the source's own last ten are compared with."""
    scenario = Scenario()
    scenario.sense("the first word")
    for index in range(9):
        scenario.sense(f"w{index}")
    other = scenario.decide("the first word", source="camera")
    known = scenario.decide("the first word")
    scenario.sense("w10")
    for index in range(10):
        scenario.sense(f"other{index}")

    assert other.salience.dimensions["novelty"] == 1.0
    assert known.salience.dimensions["novelty"] == 0.0
    assert scenario.decide("the first word").salience.dimensions["novelty"] == 1.0


def test_a_burst_is_noted_across_events() -> None:
    """The fifth like event within ten seconds recovers with tau 30."""
    scenario = Scenario()
    for _ in range(4):
        scenario.sense("ping", salience={"novelty": 1.0})
        scenario.wait(2)
    turn = scenario.sense("ping", salience={"novelty": 1.0})

    # The first of them passed 8 s ago, and the burst makes tau 30 s instead of 120.
    assert one(turn, Decided).salience.sensitivity == pytest.approx(
        1 - 0.9 * 2.718281828 ** (-8 / 30), abs=1e-6
    )


OVEN = "The oven is still on and nobody is at home"
LEFT_ON = HeuristicSeeded(
    heuristic_id="oven",
    name="oven",
    domain="kitchen",
    condition="The oven is on and nobody is home",
    text="You left the oven on.",
    confidence=0.8,
)


def kitchen(**settings: Any) -> Scenario:
    """A companion that was taught the README's heuristic in the evening."""
    scenario = Scenario(**{"novelty_half_life": 20.0, **settings})
    scenario.control(LEFT_ON)
    return scenario


def test_the_oven_is_answered_again_the_next_morning() -> None:
    """Half of what made it known is forgotten after 20 tau of its domain, 40 minutes."""
    scenario = kitchen()
    evening = scenario.decide(OVEN, source="kitchen", type_="oven")
    minute = scenario.wait(60).decide(OVEN, source="kitchen", type_="oven")
    later = scenario.wait(40 * 60).decide(OVEN, source="kitchen", type_="oven")
    morning = scenario.wait(10 * 3600).decide(OVEN, source="kitchen", type_="oven")

    assert (evening.text, morning.text) == (LEFT_ON.text, LEFT_ON.text)
    assert (minute.text, minute.silence) == (None, "below_relevance")
    assert later.salience.dimensions["novelty"] == pytest.approx(0.5, abs=0.02)
    assert morning.salience.dimensions["novelty"] > 0.99


SEEN = st.tuples(st.binary(min_size=4, max_size=4), st.integers(-50, 5_000))


@given(st.lists(SEEN, min_size=1, max_size=10), st.integers(0, 10), SEEN)
def test_the_highest_cosine_left_is_that_of_all(
    seen: list[tuple[bytes, int]], undated: int, event: tuple[bytes, int]
) -> None:
    """Weights that are not worked out could not have won; some times lie ahead."""
    vectors = tuple(vector for vector, _ in seen)
    ages = [age for _, age in seen[undated:]]
    times = tuple(NOON - timedelta(seconds=age) for age in ages)
    memory = SourceMemory(recent=vectors, recent_at=times)
    weights = [power(0.5, age / 600.0) if age >= 0 else 0.0 for age in ages]
    cosines = likenesses(vectors, event[0])
    left = zip(cosines, [1.0] * (len(seen) - len(ages)) + weights, strict=True)

    assert salience.novelty(memory, event[0], NOON, 600.0) == round6(
        clamp(1.0 - max(each * weight for each, weight in left), 0.0, 1.0)
    )


def test_without_a_half_life_nothing_is_forgotten() -> None:
    """As it was before there was one: the oven is answered once."""
    scenario = kitchen(novelty_half_life=0.0)
    scenario.sense(OVEN, source="kitchen", type_="oven")
    morning = scenario.wait(10 * 3600).decide(OVEN, source="kitchen", type_="oven")

    assert (morning.text, morning.silence) == (None, "below_relevance")


def test_each_memory_fades_by_its_own_age() -> None:
    """What was nearest may be so long ago that something else is nearer now."""
    memory = SourceMemory(
        recent=(embed("a b c d"), embed("a b x y")),
        recent_at=(NOON - timedelta(seconds=200), NOON),
    )

    def novelty(known: SourceMemory) -> float:
        return salience.novelty(known, embed("a b c d"), NOON, 100.0)

    assert salience.novelty(memory, embed("a b c d")) == 0.0
    assert novelty(memory) == 0.5
    assert novelty(replace(memory, recent_at=(NOON,))) == 0.0
    assert novelty(replace(memory, recent_at=())) == 0.0


def test_what_is_still_to_come_is_no_memory() -> None:
    """A recording played after a later scenario meets what it tells as new."""
    memory = SourceMemory(
        recent=(embed("a"),), recent_at=(NOON + timedelta(seconds=1),)
    )

    assert salience.novelty(memory, embed("a"), NOON, 100.0) == 1.0


def test_a_person_who_asks_twice_is_answered_twice() -> None:
    """Neither relevance nor habituation holds their words back, and the gates say so."""
    scenario = Scenario(model=factories.MODEL)
    asked = [
        scenario.decide("how is the oven", source="user", type_="message")
        for _ in range(3)
    ]

    assert [each.path for each in asked] == ["llm"] * 3
    assert asked[1].salience.effective == 0.0
    for name in ("relevance", "habituation"):
        assert gate(asked[1], name).note == "a person's words always pass"
    other = scenario.decide("how is the oven", source="user", type_="vital")
    assert other.silence == "below_relevance"


def test_a_person_who_refers_to_what_was_said_is_answered() -> None:
    """Only a report of an outcome, or words said to be information, are none to answer."""
    scenario = Scenario()

    def silence(**more: Any) -> str | None:
        given = scenario.sense("and then?", source="user", type_="message", **more)
        return one(given, Decided).silence

    assert silence(in_reply_to="d1") == "llm_unavailable"
    assert silence(in_reply_to="d1", outcome="succeeded") == "informational"
    assert silence(intent="informational") == "informational"


def test_a_persons_words_are_served_before_events_and_after_threats() -> None:
    """They never give way to what a sensor noticed."""
    scenario = Scenario(model=factories.MODEL)
    scenario.sense("hello", source="user", type_="message")
    again = scenario.sense("hello", source="user", type_="message")
    event = scenario.sense("a door opens")
    threat = scenario.sense("a zombie bites", salience={"threat": 0.8})

    event_, person, threat_ = (
        one(turn, ModelAsked).priority for turn in (event, again, threat)
    )
    assert event_ <= person < threat_
