"""Moments as people give them: `10:00`, `5 minutes ago`, `now`, or a time in full.

A time without a zone is one of this machine, and a time of day is the last one.
"""

import re
from datetime import UTC, datetime, time, timedelta

from echoic.errors import EchoicError

_EXAMPLES = "10:00, '5 minutes ago', now, or 2026-11-21T12:00:00Z"

_AGO = re.compile(r"(\d+(?:\.\d+)?)\s*([a-z]+?)s?(\s+ago)?")
_UNITS = {
    "s": "seconds", "sec": "seconds", "second": "seconds",
    "m": "minutes", "min": "minutes", "minute": "minutes",
    "h": "hours", "hour": "hours", "d": "days", "day": "days",
    "w": "weeks", "week": "weeks",
}  # fmt: skip


def moment(text: str, flag: str, now: datetime | None = None) -> datetime:
    """Return the moment that a flag names, with a zone.

    Raises:
        EchoicError: it names none, or one that is still to come.
    """
    now = now or datetime.now(UTC)
    try:
        found = _moment(text.strip().lower(), now) or _full(text)
    except (ValueError, OverflowError) as error:
        raise EchoicError(
            f"{flag} {text!r} is no time", next_step=f"{flag} {_EXAMPLES}"
        ) from error
    if found > now:
        raise EchoicError(f"{flag} {text!r}: {found.isoformat()} is still to come")
    return found


def _moment(text: str, now: datetime) -> datetime | None:
    if text == "now":
        return now
    ago = _AGO.fullmatch(text)
    if ago is not None and ago[2] in _UNITS:
        return now - timedelta(**{_UNITS[ago[2]]: float(ago[1])})
    if re.fullmatch(r"\d{1,2}:\d{2}(:\d{2})?", text):
        # `9:05` has to become `09:05`, which is all that `fromisoformat` reads.
        of_day = time.fromisoformat(text.rjust(5 if len(text) < 6 else 8, "0"))
        here = now.astimezone()
        today = datetime.combine(here.date(), of_day).astimezone()
        yesterday = datetime.combine(here.date() - timedelta(days=1), of_day)
        # Both days are localised by themselves: the offset may have changed overnight.
        return today if today <= now else yesterday.astimezone()
    return None


def _full(text: str) -> datetime:
    found = datetime.fromisoformat(text)
    # A time without a zone is meant in the zone of whoever types it.
    return found if found.tzinfo is not None else found.astimezone()
