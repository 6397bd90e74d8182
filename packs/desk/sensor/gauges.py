"""From readings of the machine to events.

Pure functions. A gauge makes an event when it crosses a mark upward, and another when it
falls back under its relief; the gap between the two (hysteresis) keeps a value that swings
around a mark from making one event after the other.
"""

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from types import MappingProxyType

from schemas.messages.sensing import Fields, Sensed

_Levels = Mapping[str, int]
"""The highest mark that each gauge has crossed: 0 none, 1 alarm, 2 severe."""

CALM: _Levels = MappingProxyType({})


@dataclass(frozen=True, slots=True, kw_only=True)
class Readings:
    """The machine at one moment; None is what it does not have."""

    load_percent: float
    """The load average of one minute, per core; over 100 programs wait for a processor."""
    cores: int
    memory_percent: float
    memory_free_gb: float
    disk_percent: float
    disk_free_gb: float
    battery_percent: float | None = None
    charging: bool | None = None
    celsius: float | None = None
    """Of its hottest part."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Gauge:
    """One thing to watch; `strain` grows as it gets worse."""

    name: str
    strain: Callable[[Readings], float | None]
    marks: tuple[float, float]
    relief: float
    """The strain under which the alarm ends; lower than the first mark."""
    alarm: str
    """The type of event when a mark is crossed."""
    calm: str
    """The type of event when it is relieved."""
    alarm_text: Callable[[Readings], str]
    severe_text: Callable[[Readings], str]
    calm_text: Callable[[Readings], str]
    fields: Callable[[Readings], Fields]
    threat: float
    """The salience and urgency of the severe mark, 0 to 1."""


def observe(levels: _Levels, now: Readings) -> tuple[_Levels, tuple[Sensed, ...]]:
    """Return the new levels, and an event for each gauge that changed."""
    changed = dict(levels)
    events = []
    for gauge in _GAUGES:
        strain = gauge.strain(now)
        if strain is None:
            continue
        before = levels.get(gauge.name, 0)
        level = _level(gauge, strain, before)
        if level != before:
            events.append(_alarm(gauge, now, level) if level else _relief(gauge, now))
        changed[gauge.name] = level
    return changed, tuple(events)


def greet(now: Readings) -> Sensed:
    """Return the event with which the sensor starts: the present readings."""
    return Sensed(
        type="machine_seen",
        text=(
            f"This machine is watched from now on: load {now.load_percent:g} percent, "
            f"memory {now.memory_percent:g} percent used, "
            f"disk {now.disk_percent:g} percent full."
        ),
        fields={
            "load_percent": now.load_percent,
            "memory_percent": now.memory_percent,
            "disk_percent": now.disk_percent,
            "battery_percent": now.battery_percent,
            "celsius": now.celsius,
        },
        intent="informational",
    )


def _level(gauge: Gauge, strain: float, before: int) -> int:
    """Return the highest mark crossed since the gauge was last relieved."""
    if strain < gauge.relief:
        return 0
    # A level never falls by itself: only relief ends an alarm, and only a rise is news.
    return max(before, sum(strain >= mark for mark in gauge.marks))


def _alarm(gauge: Gauge, now: Readings, level: int) -> Sensed:
    is_severe = level == len(gauge.marks)
    return Sensed(
        type=gauge.alarm,
        text=gauge.severe_text(now) if is_severe else gauge.alarm_text(now),
        fields=gauge.fields(now),
        salience={"threat": gauge.threat} if is_severe else {},
        urgency=gauge.threat if is_severe else 0.3,
        entities=(gauge.name,),
    )


def _relief(gauge: Gauge, now: Readings) -> Sensed:
    return Sensed(
        type=gauge.calm,
        text=gauge.calm_text(now),
        fields=gauge.fields(now),
        intent="informational",
        entities=(gauge.name,),
    )


def _battery_strain(now: Readings) -> float | None:
    """Return the negative charge, since strain must grow as things get worse."""
    if now.battery_percent is None:
        return None
    # The least strain there is: while it charges, even an empty battery is no alarm.
    return -100.0 if now.charging else -now.battery_percent


# In percent of what the cores can do: over 100 programs already wait.
_LOAD = Gauge(
    name="load",
    strain=lambda now: now.load_percent,
    marks=(90, 150),
    relief=60,
    alarm="load_high",
    calm="load_normal",
    alarm_text=lambda now: f"The processor load is high: {_load(now)}.",
    severe_text=lambda now: f"The processor load is very high: {_load(now)}.",
    calm_text=lambda now: f"The processor load is normal again: {_load(now)}.",
    fields=lambda now: {"load_percent": now.load_percent, "cores": now.cores},
    threat=0.4,
)

MEMORY = Gauge(
    name="memory",
    strain=lambda now: now.memory_percent,
    marks=(90, 97),
    relief=80,
    alarm="memory_low",
    calm="memory_normal",
    alarm_text=lambda now: f"Memory is running low: {_memory(now)}.",
    severe_text=lambda now: f"Memory is almost used up: {_memory(now)}.",
    calm_text=lambda now: f"There is enough memory again: {_memory(now)}.",
    fields=lambda now: {
        "used_percent": now.memory_percent,
        "free_gb": now.memory_free_gb,
    },
    threat=0.7,
)

_DISK = Gauge(
    name="disk",
    strain=lambda now: now.disk_percent,
    marks=(90, 97),
    relief=85,
    alarm="disk_low",
    calm="disk_normal",
    alarm_text=lambda now: f"Disk space is running low: {_disk(now)}.",
    severe_text=lambda now: f"Disk space is almost used up: {_disk(now)}.",
    calm_text=lambda now: f"There is enough disk space again: {_disk(now)}.",
    fields=lambda now: {"used_percent": now.disk_percent, "free_gb": now.disk_free_gb},
    threat=0.6,
)

_BATTERY = Gauge(
    name="battery",
    strain=_battery_strain,
    # Alarms below 20 and 8 percent of charge, negative since strain has to grow.
    marks=(-20, -8),
    relief=-30,
    alarm="battery_low",
    calm="battery_charging",
    alarm_text=lambda now: f"The battery is low: {now.battery_percent:g} percent.",
    severe_text=lambda now: (
        f"The battery is almost empty: {now.battery_percent:g} percent."
    ),
    calm_text=lambda now: (
        f"The battery is charging: {now.battery_percent:g} percent so far."
    ),
    fields=lambda now: {
        "battery_percent": now.battery_percent,
        "charging": now.charging,
    },
    threat=0.8,
)

_TEMPERATURE = Gauge(
    name="temperature",
    strain=lambda now: now.celsius,
    marks=(85, 95),
    relief=75,
    alarm="temperature_high",
    calm="temperature_normal",
    alarm_text=lambda now: f"The computer is getting hot: {now.celsius:g} degrees.",
    severe_text=lambda now: f"The computer is far too hot: {now.celsius:g} degrees.",
    calm_text=lambda now: f"The computer has cooled down to {now.celsius:g} degrees.",
    fields=lambda now: {"celsius": now.celsius},
    threat=0.6,
)

_GAUGES = (_LOAD, MEMORY, _DISK, _BATTERY, _TEMPERATURE)


def _load(now: Readings) -> str:
    return f"{now.load_percent:g} percent of {now.cores} cores"


def _memory(now: Readings) -> str:
    return f"{now.memory_percent:g} percent used, {now.memory_free_gb:g} GB free"


def _disk(now: Readings) -> str:
    return f"{now.disk_percent:g} percent full, {now.disk_free_gb:g} GB free"
