"""Audience: who would hear what is said aloud, and is that right?

Where a pack declares who lives there, the usual channel is heard by all who are there and by
nobody else. What is hidden from somebody there is told on the own channel of whom it
concerns, or waits; what concerns somebody who is away likewise. What is said to nobody in
particular reaches the one who left last, if it matters and nobody is there, and waits while
anybody there is busy; what wakes people waits unless it is urgent. Alerts and answers to a
person's own words do not wait.
"""

from collections.abc import Mapping

from msgspec import Struct

from handlers.mind.context import TurnContext
from handlers.mind.stages.timing import SMALL_TALK, Ready, is_immediate
from projections.folds.executive import people
from schemas.packs.event_types import GUESTS
from schemas.state.executive import EVERYBODY, Executive, UserState
from schemas.values.reasons import Hearing, Timing

_MATTERS_TO_THE_ABSENT = 0.5
"""From which urgency on people who are away are told of what concerns nobody by name."""

_Residents = Mapping[str, str | None]
"""Who lives there, each with the channel that they alone read, if there is one."""


class Way(Struct, frozen=True):
    """How an answer reaches whom it is for."""

    channel: str | None = None
    """A person's own, in place of the usual one."""
    is_at_once: bool = False
    """Whether that the person is away is no reason to wait."""
    waits: bool = False
    """Whether nobody may hear it now."""
    hearing: Hearing | None = None
    """Why it is not simply said aloud; None: it is."""


_ALOUD = Way()


def way_of(turn: TurnContext, answer: Ready, *, at_break_of: str | None = None) -> Way:
    """Return how an answer for the usual channel is to reach people now."""
    found = way(turn.state.executive, answer, residents := _residents(turn))
    if found is not _ALOUD or not residents or not turn.settings.executive.timing:
        return found
    if not _disturbs(turn, answer, at_break_of):
        return found
    # Where all are busy it waits for a break, whoever hears it.
    is_busy = people.is_busy(turn.state.executive, None, turn.now)
    return Way(waits=True, hearing=None if is_busy else "engaged")


def hearing(turn: TurnContext, answer: Ready, when: Timing) -> Hearing | None:
    """Return why an answer of this timing is not simply said aloud; None if it is.

    Nor is what waits only for a break of the person: nobody knows yet who hears it then.
    """
    found = way_of(turn, answer)
    return found.hearing if found.waits or when == "immediate" else None


def _residents(turn: TurnContext) -> _Residents:
    # Nearly always nobody's state is known, or no pack declares anybody.
    if not turn.state.executive.presence.people:
        return {}
    return {each.name: each.channel for pack in turn.packs for each in pack.pack.people}


def way(executive: Executive, answer: Ready, residents: _Residents) -> Way:
    """Return how an answer for the usual channel is to reach people now."""
    if not residents or answer.is_addressed or not answer.is_aloud:
        return _ALOUD
    if _is_absent(executive, answer.person):
        return _in_private(answer, residents, "away")
    if _is_overheard(executive, answer, residents):
        return _in_private(answer, residents, "overheard")
    if _is_empty(executive):
        return _to_the_absent(executive, answer, residents)
    is_waking = any(each.asleep for each in _there(executive).values())
    if is_waking and not is_immediate(answer):
        return Way(waits=True, hearing="asleep")
    return _ALOUD


def _disturbs(turn: TurnContext, answer: Ready, at_break_of: str | None) -> bool:
    """Tell whether somebody there hears it in a call, while typing or the like.

    What is for one person waits for a break of that person alone.
    """
    if answer.person is not None or not answer.is_aloud or is_immediate(answer):
        return False
    if at_break_of == EVERYBODY:
        return False
    there = _there(turn.state.executive)
    others = (there[name] for name in there if name != at_break_of)
    standing = (people.standing(each, turn.now) for each in others)
    return any(each.busy or each.typing or each.in_menu for each in standing)


def _is_empty(executive: Executive) -> bool:
    """Tell whether everybody who is known is away; where nobody is known, who can tell."""
    return bool(executive.presence.people) and not _there(executive)


def _there(executive: Executive) -> dict[str, UserState]:
    known = executive.presence.people
    return {each: known[each] for each in sorted(known) if not known[each].away}


def _is_absent(executive: Executive, person: str | None) -> bool:
    known = executive.presence.people.get(person) if person is not None else None
    return known is not None and known.away


def _is_overheard(executive: Executive, answer: Ready, residents: _Residents) -> bool:
    """Tell whether somebody is there from whom the answer is hidden."""
    if not answer.hidden_from:
        return False
    others = {
        each for each in _there(executive) if each != EVERYBODY
    } - residents.keys()
    guests = others if GUESTS in answer.hidden_from else set()
    return bool(guests or _there(executive).keys() & set(answer.hidden_from))


def _in_private(answer: Ready, residents: _Residents, why: Hearing) -> Way:
    """Return the way to the person whom an answer concerns and nobody else."""
    own = residents.get(answer.person) if answer.person is not None else None
    is_away = why == "away"
    if own is None and answer.response_type == "alert":
        return _ALOUD
    if own is None or (is_away and answer.response_type in SMALL_TALK):
        return Way(waits=True, hearing=why)
    return Way(channel=own, is_at_once=is_away, hearing=why)


def _to_the_absent(executive: Executive, answer: Ready, residents: _Residents) -> Way:
    """Return the way to the one who left last, if it matters enough."""
    is_alert = answer.response_type == "alert"
    waits = Way(waits=True, hearing="nobody_there")
    if not is_alert and answer.urgency < _MATTERS_TO_THE_ABSENT:
        return waits
    # A phone is no place for what is hidden from its owner.
    left = [
        (executive.presence.people[each].at, each)
        for each, channel in sorted(residents.items())
        if channel is not None
        and _is_absent(executive, each)
        and each not in answer.hidden_from
    ]
    if not left:
        return _ALOUD if is_alert else waits
    last = residents[max(left)[1]]
    return Way(channel=last, is_at_once=True, hearing="nobody_there")
