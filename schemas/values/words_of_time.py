"""Words of time that are left over: what was said with them is not understood.

A topic with "tomorrow" in it would make a promise of something else than was asked for.
"""

from collections.abc import Sequence

from schemas.values import spoken_times
from schemas.values.spoken_moments import Dated, compound
from schemas.values.spoken_times import first_of, longest

_NEAR = 6
"""Within how many words a unit of time belongs to what stands before."""


def left_over(said: Sequence[str], known: Dated) -> bool:
    """Tell whether words that are to be no moment have a word of time."""
    calendar = known.calendar
    if calendar is None:
        return False
    if " ".join(said) in calendar.again:
        return True
    rest = _without(list(said), calendar.harmless)
    tables = (
        calendar.days, calendar.weekdays, calendar.weekdays_repeated, calendar.parts,
        calendar.parts_today, calendar.parts_daily, calendar.repeats, calendar.periods,
        known.times,
    )  # fmt: skip
    at = 0
    while at < len(rest):
        lasts = _lasting(rest[at:], known)
        if lasts:
            at += lasts
            continue
        here = rest[at:]
        if any(longest(here, each) for each in tables) or first_of(here, calendar.left):
            return True
        if compound(here, calendar) is not None:
            return True
        if _is_led(here, known) or _is_span(here, known) or _is_odd(here, known):
            return True
        at += 1
    return False


def is_timely(said: Sequence[str], known: Dated) -> bool:
    """Tell whether words that stand where a moment should are meant as one."""
    calendar = known.calendar
    if calendar is None or not said:
        return False
    leads = (*calendar.at, *calendar.on, *calendar.after, *calendar.every)
    return bool(first_of(said, leads)) or left_over(said, known)


def _lasting(said: Sequence[str], known: Dated) -> int:
    """Return how many words a span is that something lasts: `for ten minutes`; 0: none."""
    assert known.calendar is not None
    lead = first_of(said, known.calendar.lasting)
    found = spoken_times.span(said[lead:], known, frozenset()) if lead else None
    return lead + found[1] if found is not None else 0


def _is_led(said: Sequence[str], known: Dated) -> bool:
    assert known.calendar is not None
    lead = first_of(said, known.calendar.at)
    return bool(lead) and spoken_times.time(said[lead:], known) is not None


def _is_odd(said: Sequence[str], known: Dated) -> bool:
    """Tell whether a span is begun that is none: `for the rest of the week`."""
    assert known.calendar is not None
    lead = first_of(said, known.calendar.lasting)
    return bool(lead) and any(each in known.units for each in said[lead : lead + _NEAR])


def _is_span(said: Sequence[str], known: Dated) -> bool:
    """Tell whether a number and a unit of time stand here."""
    found = spoken_times.span(said, known, frozenset())
    if found is None:
        return False
    # "A moment" may be meant, "a second chance" is not: only figures make those times.
    unit = said[found[1] - 1]
    return known.units.get(unit, 0.0) > 1.0 or said[0][:1].isdecimal()


def _without(said: list[str], phrases: Sequence[str]) -> list[str]:
    kept: list[str] = []
    at = 0
    while at < len(said):
        count = first_of(said[at:], phrases)
        if count:
            at += count
        else:
            kept.append(said[at])
            at += 1
    return kept
