"""Words for when something is said: what it waits for, who was to hear it, and why unasked."""

from collections.abc import Mapping

from schemas.messages.decisions import Decided
from schemas.values.reasons import Hearing, Timing

_WAITS: Mapping[Timing, str] = {
    "queued": "a break of the person, who is busy",
    "deferred": "a moment in which nobody speaks",
}
"""What a heuristic's answer waits for; a decision that asks a model is `queued` as well."""

_FOR_WHOM: Mapping[Hearing, str] = {
    "overheard": "a moment in which those from whom it is hidden hear nothing",
    "away": "the person whom it concerns, who is away",
    "nobody_there": "somebody to come, since nobody is there",
    "asleep": "a moment in which nobody sleeps",
    "engaged": "a moment in which nobody there is in a call or the like",
}
"""What it waits for where who would hear it is the reason."""

_IN_PRIVATE: Mapping[Hearing, str] = {
    "overheard": "it is hidden from somebody who was there",
    "away": "the person whom it concerns was away",
    "nobody_there": "nobody was there",
    "asleep": "somebody slept",
    "engaged": "somebody there was in a call or the like",
}

_OCCASIONS: Mapping[str, str] = {
    "reminder": "somebody asked to be reminded of it",
    "think": "what it needs made it due",
    "request": "somebody wanted it said",
    "milestone": "so many events of a kind came that a pack declares to be worth a word",
    "check_in": "somebody was there, and nothing had been said for a while",
    "observation": "a kind of event came often, which was new",
    "mood_comment": "somebody seemed to feel bad",
}
"""Why it speaks though nothing happened."""


def awaited(decided: Decided) -> str:
    """Return what a decision's answer waits for."""
    if decided.hearing is None:
        return _WAITS[decided.timing]
    return _FOR_WHOM[decided.hearing]


def not_aloud(decided: Decided) -> str:
    """Return a sentence on why it was not simply said aloud; empty if it was."""
    if decided.hearing is None:
        return ""
    return f" Not aloud at once: {_IN_PRIVATE[decided.hearing]}."


def occasion(kind: str) -> str:
    """Return why it spoke though nothing happened, by the kind of its decision."""
    return _OCCASIONS.get(kind, kind)
