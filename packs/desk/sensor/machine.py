"""Readings of the machine: the only module of this sensor that asks the system."""

import psutil  # type: ignore[import-untyped]  # it ships no types

from packs.desk.sensor.gauges import Readings

_GB = 1_000_000_000


def read(disk: str = "/") -> Readings:
    """Read the machine; battery and temperature are None where it has none."""
    cores = psutil.cpu_count() or 1
    memory = psutil.virtual_memory()
    space = psutil.disk_usage(disk)
    # psutil lacks these functions on some systems, instead of returning nothing.
    battery = psutil.sensors_battery() if hasattr(psutil, "sensors_battery") else None
    return Readings(
        load_percent=round(100 * psutil.getloadavg()[0] / cores, 1),
        cores=cores,
        memory_percent=memory.percent,
        memory_free_gb=round(memory.available / _GB, 1),
        disk_percent=space.percent,
        disk_free_gb=round(space.free / _GB, 1),
        battery_percent=round(battery.percent, 1) if battery else None,
        charging=bool(battery.power_plugged) if battery else None,
        celsius=_hottest(),
    )


def _hottest() -> float | None:
    """Return the temperature of the hottest part, where there are sensors for it."""
    if not hasattr(psutil, "sensors_temperatures"):
        return None
    chips = psutil.sensors_temperatures().values()
    degrees = [part.current for parts in chips for part in parts if part.current]
    return round(max(degrees), 1) if degrees else None
