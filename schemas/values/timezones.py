"""Time zones, read from the pinned `tzdata` wheel alone and never from the system.

So an agent's quiet hours begin at the same instant on every machine; which edition of the
wheel decided is recorded with `MindStarted`.
"""

import re
from datetime import UTC, datetime, tzinfo
from functools import lru_cache
from importlib import metadata, resources
from zoneinfo import ZoneInfo

_PARTS = re.compile(r"[A-Za-z0-9_+-]+(/[A-Za-z0-9_+-]+)*")


def edition() -> str:
    """Return the version of the wheel; empty if it is not installed."""
    try:
        return metadata.version("tzdata")
    except metadata.PackageNotFoundError:
        return ""


# Data of an installed package, read once like a module: no input can change it.
@lru_cache(maxsize=64)
def zone(name: str) -> tzinfo | None:
    """Return a time zone by its name, such as `Europe/Berlin`; None if there is none."""
    if name == "UTC":
        return UTC
    # No dots, so a name leads to no other file.
    if not _PARTS.fullmatch(name):
        return None
    try:
        place = resources.files("tzdata").joinpath("zoneinfo", *name.split("/"))
        with place.open("rb") as file:
            return ZoneInfo.from_file(file, key=name)
    except (OSError, ValueError, ModuleNotFoundError):
        return None


def local(at: datetime, name: str) -> datetime:
    """Return a moment in a time zone; in UTC if the zone is unknown."""
    return at.astimezone(zone(name) or UTC)


def is_within(hours: str, local_time: datetime) -> bool:
    """Tell whether a local time lies within hours such as `22:00-07:00`.

    The first minute belongs to them, the last does not; they may pass midnight.
    """
    start, _, end = hours.partition("-")
    now = f"{local_time:%H:%M}"
    # Texts of one form order as the times do.
    return start <= now < end if start <= end else now >= start or now < end
