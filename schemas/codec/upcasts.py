"""Reading what older programs wrote: messages, states and settings, as raw fields.

All that the present program knows of its past stands here, and docs/operations.md tells of it.
An optional field of a message may be added without a step. Any other change of one is a new
message, or a function in `_UPCASTS`; a change of a state's shape raises `checkpoint.FORMAT` and
is a function in `STATES`; a new setting whose absence must not mean its default stands in
`_AS_BEFORE`. Each comes with a golden file of what it reads.
"""

from collections.abc import Callable, Mapping
from typing import Any

from schemas.values.unicode_text import quoted

_RawFields = dict[str, Any]
_Upcast = Callable[[_RawFields], _RawFields]

_UPCASTS: Mapping[tuple[str, int], _Upcast] = {}
"""By token and version: the function that turns such fields into those of version + 1."""

_AS_BEFORE: Mapping[str, Any] = {
    "novelty_half_life": 0.0,
    "withhold": 0.0,
    "formation": False,
    "endorsement": False,
    "silence": 0.0,
    "trials": 0.0,
    "learning": {
        "kappa_by_origin": {"skill_pack": 1.0, "learned": 1.0, "seeded": 1.0},
        "undo_s": 0.0,
    },
    "sleep": {"events": 0},
    "executive": {
        "cooldown_s": 0.0,
        "heuristic_cooldown_s": 0.0,
        "quiet_cuts": False,
        "timing": False,
        "shares_votes": False,
        "relevance": False,
        "modulates": False,
        "quip_interval_s": 0.0,
        "check_in": False,
        "observation": False,
        "mood_comment": False,
        "unasked_per_hour": 0,
        "unasked_unanswered": 0,
        "check_in_backoff": 1.0,
        "words_rest_s": 0.0,
        "stream": False,
        "languages": [],
        "consistent": False,
        "prompt_tokens": 0,
        "recent_events": False,
        "aliases": False,
        "situated": False,
        "settles": False,
    },
    "characters": {
        "turns": False,
        "backs_off": False,
        "falls_back": False,
        "call_gap_s": 0.0,
    },
}
"""What it means that recorded settings lack one: what was done before there was that setting.

`MindStarted` records all settings, so only an older program left one out. Another that is
absent has its default."""


class NewerVersionError(ValueError):
    """The message was written by a newer program than this one."""


def upcast(
    token: str,
    fields: _RawFields,
    version: int,
    present: int,
    steps: Mapping[tuple[str, int], _Upcast] = _UPCASTS,
) -> _RawFields:
    """Bring the fields of a message of `version` to the `present` one.

    Raises:
        NewerVersionError: the version is beyond the present one.
    """
    if version > present:
        raise NewerVersionError(
            f"{quoted(token)} has version {version}, this program reads up to {present}:"
            " upgrade it"
        )
    for step in range(version, present):
        # A missing step is our mistake and raises KeyError: guessing a meaning is worse.
        fields = steps[token, step](fields)
    return _with_settings(fields) if token == "mind_started" else fields


def as_before(settings: _RawFields) -> _RawFields:
    """Return recorded settings with those that they lack as they were before these."""
    return _filled(settings, _AS_BEFORE)


def _filled(fields: _RawFields, absent: Mapping[str, Any]) -> _RawFields:
    made = {**absent, **fields}
    for name, inner in absent.items():
        if isinstance(inner, Mapping) and isinstance(made[name], dict):
            made[name] = _filled(made[name], inner)
    return made


def _with_settings(fields: _RawFields) -> _RawFields:
    settings = fields.get("settings")
    if not isinstance(settings, dict):
        return fields
    return fields | {"settings": as_before(settings)}


def _as_it_is(state: _RawFields) -> _RawFields:
    """Return a state as one of the next format, which only added fields with defaults."""
    return state


def _without_edition(state: _RawFields) -> _RawFields:
    """Return a state whose settings name no edition of the rules (ADR 0011)."""
    settings = (state.get("shared") or {}).get("settings")
    if settings is None:
        return state
    kept = {name: value for name, value in settings.items() if name != "edition"}
    return state | {"shared": state["shared"] | {"settings": kept}}


def _without_clock_set(state: _RawFields) -> _RawFields:
    """Return a state whose sessions leave it to the agent which clock was told."""
    for agent in (state.get("agents") or {}).values():
        (agent.get("session") or {}).pop("clock_set", None)
    return state


def _in_full(state: _RawFields) -> _RawFields:
    """Return a state whose settings say what was left out of them."""
    for agent in (state.get("agents") or {}).values():
        versions = (
            each.get(side) or {}
            for each in agent.get("proposals") or ()
            for side in ("before", "after")
        )
        for held in (agent, *versions):
            if held.get("tuned"):
                held["tuned"] = _filled(held["tuned"], _AS_BEFORE["learning"])
    return state | {"shared": _with_settings(state.get("shared") or {})}


def _moved(moves: Mapping[str, str]) -> _Upcast:
    """Return an upcast that moves fields of agents: each new path with that of before."""

    def upcast(state: _RawFields) -> _RawFields:
        agents = state.get("agents") or {}
        made = {name: _with_moves(agents[name], moves) for name in agents}
        return state | {"agents": made}

    return upcast


def _with_moves(agent: _RawFields, moves: Mapping[str, str]) -> _RawFields:
    made = agent | {
        name: dict(agent[name]) for name in ("executive",) if agent.get(name)
    }
    taken = {}
    # All at once: a slice may be named as a field was.
    for new, old in moves.items():
        held, name = _at(made, old)
        if name in held:
            taken[new] = held.pop(name)
    for new, value in taken.items():
        held, name = _at(made, new)
        held[name] = value
    return made


def _at(fields: _RawFields, path: str) -> tuple[_RawFields, str]:
    *slices, name = path.split(".")
    for each in slices:
        fields = fields.setdefault(each, {})
    return fields, name


_OF_EXECUTIVE = {
    "executive.peace.restraints": "executive.restraints",
    "executive.peace.modulations": "executive.modulations",
    "executive.peace.ignored": "executive.ignored",
    "executive.sayings.said": "executive.said",
    "executive.sayings.matters": "executive.matters",
    "executive.presence.people": "executive.people",
    "executive.presence.heard_at": "executive.heard_at",
    "executive.speech.asked": "executive.speech",
    "executive.speech.unsaid": "executive.unsaid",
    "executive.speech.aloud": "executive.aloud",
    "executive.speech.doubtful": "executive.doubtful",
    "executive.reminders.awaited": "executive.reminders",
    "executive.reminders.said": "executive.reminded",
    "executive.initiative.counters": "executive.counters",
    "executive.initiative.patterns": "executive.patterns",
    "executive.initiative.opportunities": "executive.opportunities",
    "executive.initiative.unasked": "executive.unasked",
}
"""Where each field stands since format 9, and where it stood before."""

STATES: Mapping[int, _Upcast] = {
    2: _as_it_is,
    3: _as_it_is,
    4: _as_it_is,
    5: _without_edition,
    6: _without_clock_set,
    7: _in_full,
    8: _moved(_OF_EXECUTIVE),
}
"""By format: the function that makes a state of that format one format newer."""
