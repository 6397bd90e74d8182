"""Time zones, read from the pinned `tzdata` wheel alone and never from the system.

So an agent's quiet hours begin at the same instant on every machine; which edition of the
wheel decided is recorded with `MindStarted`.
"""

import re
from datetime import UTC, date, datetime, time, timedelta, tzinfo
from functools import lru_cache
from zoneinfo import ZoneInfo

_PARTS = re.compile(r"[A-Za-z0-9_+-]+(/[A-Za-z0-9_+-]+)*")


def edition() -> str:
    """Return the version of the wheel; empty if it is not installed."""
    # Imported here and below: few commands ask for a zone, and these read mails, too.
    from importlib import metadata

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
    from importlib import resources

    try:
        place = resources.files("tzdata").joinpath("zoneinfo", *name.split("/"))
        with place.open("rb") as file:
            return ZoneInfo.from_file(file, key=name)
    except (OSError, ValueError, ModuleNotFoundError):
        return None


def local(at: datetime, name: str) -> datetime:
    """Return a moment in a time zone; in UTC if the zone is unknown."""
    return at.astimezone(zone(name) or UTC)


def next_at(now: datetime, name: str, hour: int, minute: int) -> datetime:
    """Return the first moment after `now` at which clocks of a zone show a time of the day.

    In UTC. An hour that a clock goes through twice has each of its times twice; one that it
    leaps over is read by the offset from before the leap (RFC 5545 §3.3.5), so that 02:30
    comes as 03:30.
    """
    here = local(now, name)
    shown = here.replace(hour=hour, minute=minute, second=0, microsecond=0)
    # As instants, since the next day may have 23 or 25 hours, or be left out (Samoa, 2011).
    walls = [shown + timedelta(days=day) for day in (0, 1, 2)]
    found = [moment for wall in walls for moment in _moments(wall)]
    return min(each for each in found if each > now)


def on(day: date, name: str, hour: int, minute: int) -> datetime:
    """Return the first moment, in UTC, at which clocks of a zone show a time on a day.

    One that they leap over is read as in `next_at`.
    """
    shown = datetime.combine(day, time(hour, minute), zone(name) or UTC)
    return _moments(shown)[0]


def _moments(wall: datetime) -> list[datetime]:
    """Return the moments, in UTC, at which a zone's clocks show a time."""
    first, second = (wall.replace(fold=fold).astimezone(UTC) for fold in (0, 1))
    # In a leap the second reading lies before the first, and no clock shows either.
    return [first, second] if second > first else [first]


def is_within(hours: str, local_time: datetime) -> bool:
    """Tell whether a local time lies within hours such as `22:00-07:00`.

    The first minute belongs to them, the last does not; they may pass midnight.
    """
    start, _, end = hours.partition("-")
    now = f"{local_time:%H:%M}"
    # Texts of one form order as the times do.
    return start <= now < end if start <= end else now >= start or now < end
