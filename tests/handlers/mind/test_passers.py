"""Who passes each gate: as it is declared, of which explanations and docs are made."""

from typing import Any, get_args

import pytest

from schemas.messages.executive import Muted, SalienceModulated, UserStateChanged
from schemas.values.reasons import GATES, Silence, silence_of
from tests.factories import heuristic, pack
from tests.handlers.mind.test_restraint import GARDEN, LOW, THREAT, gate, happens, says
from tests.scenario import Scenario

GUARDS: dict[str, dict[str, Any]] = {
    "quiet_hours": {"quiet_hours": "00:00-23:59"},
    "cooldown": {"cooldown_s": 3_600.0},
    "heuristic_cooldown": {"heuristic_cooldown_s": 3_600.0},
    "rate": {"rate_per_hour": 1},
    "busy": {"quip_interval_s": 3_600.0},
    "quip": {"quip_interval_s": 3_600.0},
    "already_said": {"relevance": True},
    "relevance": {"relevance": True, "weight_novelty": 0.0, "again_s": 0.0},
    "habituation": {"relevance": True, "weight_novelty": 0.0, "again_s": 0.0},
}
"""Settings by which a gate can close."""
PASSERS = {
    name: declared.passers
    for name, declared in GATES.items()
    if declared.passers is not None
}
CONTROLS: dict[str, Muted | SalienceModulated | UserStateChanged] = {
    "muted": Muted(mode="mute", by="ana"),
    "quiet": Muted(by="ana"),
    "suppressed": SalienceModulated(change="suppress", about="food", by="ana"),
    "busy": UserStateChanged(busy=True, by="ana"),
}
"""Controls that close one."""
JESTER = pack(
    heuristic("low", LOW, "Ha.") | {"action": {"text": "Ha.", "type": "quip"}},
    types=("vital", "thing", "message"),
)


STANDS: dict[str, Any] = {"fields": {"low": True}}
"""What tells that it goes on, and has an end."""


def shut(name: str) -> Scenario:
    """A scenario in which a gate is closed: asked for by Ana, or by what was said before."""
    scenario = Scenario(
        JESTER if name in ("busy", "quip") else GARDEN,
        relevance=0.75 if name in ("relevance", "habituation") else 0.0,
        executive=GUARDS.get(name, {}),
    )
    if name in ("habituation", "already_said"):
        # It mattered enough the first time, and does not once it is nothing new.
        first: dict[str, Any] = {"salience": {"novelty": 1.0, "social": 1.0}}
        scenario.decide(LOW, **first, **(STANDS if name == "already_said" else {}))
    elif name in GUARDS and name not in ("busy", "relevance"):
        says(scenario, person="ana")
    if name in CONTROLS:
        scenario.control(CONTROLS[name])
    return scenario


def nothing_new(scenario: Scenario) -> Scenario:
    """Its sensor said the like before, by other events."""
    for _ in range(2):
        happens(scenario, LOW, type_="message")
    return scenario


def watching(scenario: Scenario) -> Scenario:
    """Somebody asked to be told of it, and that moves no threshold."""
    watch = SalienceModulated(change="heighten", amount=0.0, about=LOW, by="bo")
    scenario.control(watch)
    return scenario


def test_each_gate_gives_a_reason_that_is_on_the_list() -> None:
    """Its own name, if its row gives no other."""
    assert {silence_of(name) for name in GATES} <= set(get_args(Silence))


@pytest.mark.parametrize("name", sorted(PASSERS))
def test_who_passes_a_gate_is_as_declared(name: str) -> None:
    """By the declaration that explanations and docs/gates.md are made of."""
    worth = {"relevance": 0.1, "habituation": 0.8}.get(name)
    weights: dict[str, Any] = (
        {"salience": {"novelty": worth, "social": worth}} if worth else {}
    )
    if name == "intent":
        weights = {"intent": "informational"}
    elif name == "already_said":
        weights = STANDS
    found = {
        "nobody": happens(shut(name), **weights),
        "threat": happens(shut(name), **{**weights, **THREAT}),
        "own_words": says(shut(name), person="bo", **weights),
        "asker": says(shut(name), person="ana", **weights),
        "urgent": happens(shut(name), urgency=0.7, **weights),
        "trusted": happens(nothing_new(shut(name)), **({} if worth else weights)),
        "watched": happens(watching(shut(name)), **weights),
    }

    passed = {
        who
        for who, decided in found.items()
        if (kept := gate(decided, name)) is None or kept.passed
    }
    # Whoever asked says it in their own words.
    also = {"asker"} if "own_words" in PASSERS[name] else set()
    # Whose answer waits for the end of it.
    if name == "cooldown":
        also |= {"nobody", "trusted", "watched"}
    assert passed == {*PASSERS[name], *also}
