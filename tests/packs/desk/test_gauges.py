"""The desk's gauges: they speak on change, and their pack knows what they say."""

from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from echoic.embedders import WordLlamaEmbedder
from echoic.packs.load import load
from packs.desk.sensor import machine
from packs.desk.sensor.gauges import CALM, Readings, greet, observe
from schemas.packs.conditions import holds, parse
from schemas.values.vectors import cosine

PACK = load(Path(__file__).parents[3] / "packs" / "desk")

QUIET = Readings(
    load_percent=10,
    cores=8,
    memory_percent=40,
    memory_free_gb=9.5,
    disk_percent=50,
    disk_free_gb=200,
    battery_percent=80,
    charging=False,
    celsius=50,
)


def spoken(*readings):
    """The types of events that a series of readings gives."""
    levels, types = CALM, []
    for now in readings:
        levels, events = observe(levels, now)
        types.append([event.type for event in events])
    return types


def test_a_quiet_machine_says_nothing():
    """No gauge speaks while all is well."""
    assert spoken(QUIET, QUIET) == [[], []]


def test_each_mark_is_told_once_and_relief_once():
    """Swinging around a mark is silent; a worse mark and relief are told."""
    series = [replace(QUIET, memory_percent=used) for used in (91, 89, 92, 98, 91, 99)]
    calm = [replace(QUIET, memory_percent=used) for used in (81, 79, 78)]

    assert spoken(*series, *calm) == [
        ["memory_low"],
        [],
        [],
        ["memory_low"],
        [],
        [],
        [],
        ["memory_normal"],
        [],
    ]


def test_a_charger_relieves_the_battery():
    """The battery complains while it runs down, and stops when it is charged."""
    low = replace(QUIET, battery_percent=15)

    assert spoken(low, replace(low, charging=True), low) == [
        ["battery_low"],
        ["battery_charging"],
        ["battery_low"],
    ]


def test_what_a_machine_has_not_is_not_told():
    """A machine without battery and temperature sensors is silent about them."""
    bare = replace(QUIET, battery_percent=None, charging=None, celsius=None)
    levels, events = observe(CALM, bare)

    assert events == ()
    assert sorted(levels) == ["disk", "load", "memory"]


def test_the_greeting_asks_for_no_answer():
    """The first event says how things stand, for the record."""
    assert greet(QUIET).intent == "informational"
    assert greet(QUIET).fields["disk_percent"] == 50


@given(st.lists(st.floats(0, 400), max_size=30))
def test_alarms_and_relief_alternate(loads):
    """Between two reliefs a gauge speaks at most once for each of its marks."""
    series = (replace(QUIET, load_percent=load) for load in loads)
    types = [type_ for types in spoken(*series) for type_ in types]
    alarms = "".join("." if type_ == "load_normal" else "!" for type_ in types)

    assert "!!!" not in alarms
    assert ".." not in alarms
    assert not alarms.startswith(".")


SITUATIONS: dict[str, dict[str, Any]] = {
    "load-high": {"load_percent": 95},
    "load-very-high": {"load_percent": 200},
    "memory-low": {"memory_percent": 92.5, "memory_free_gb": 1.2},
    "memory-critical": {"memory_percent": 98, "memory_free_gb": 0.3},
    "disk-low": {"disk_percent": 91, "disk_free_gb": 20},
    "disk-critical": {"disk_percent": 99, "disk_free_gb": 2},
    "battery-low": {"battery_percent": 17},
    "battery-critical": {"battery_percent": 5},
    "temperature-high": {"celsius": 88},
    "temperature-critical": {"celsius": 99},
}


@pytest.mark.parametrize("heuristic", PACK.heuristics, ids=lambda each: each.name)
def test_each_heuristic_meets_its_situation_and_no_other(heuristic):
    """A heuristic's text is near what the sensor says, and only its `when` holds."""
    embedder = WordLlamaEmbedder()
    _, (event,) = observe(CALM, replace(QUIET, **SITUATIONS[heuristic.name]))
    (vector, condition) = embedder.embed([event.text, heuristic.condition])
    held = [
        other.name
        for other in PACK.heuristics
        if holds(parse(other.when), event.type, "desk", event.fields)
    ]

    assert held == [heuristic.name]
    assert cosine(vector, condition) >= embedder.limits.match


def test_every_event_is_declared():
    """The pack declares each type that the sensor can send, and each has its fields."""
    declared = {event.type for event in PACK.events}
    sent = {greet(QUIET).type}
    for changes in SITUATIONS.values():
        levels, alarms = observe(CALM, replace(QUIET, **changes))
        _, reliefs = observe(levels, replace(QUIET, charging=True))
        sent |= {event.type for event in (*alarms, *reliefs)}

    assert sent == declared


def test_this_machine_can_be_read():
    """The readings of whatever machine runs this test are plausible."""
    now = machine.read()

    assert now.load_percent >= 0
    assert now.cores >= 1
    assert 0 <= now.memory_percent <= 100
    assert 0 <= now.disk_percent <= 100
