"""Replies: what a layer's model answers, read from whatever it sent.

A reply is one JSON object, which may stand in prose. What cannot be read is refused with the
reason, and so is each action that was not offered and each aim that is none; the rest counts.
"""

import json
import re
from collections.abc import Collection, Mapping, Sequence
from contextlib import suppress
from typing import Any, ClassVar, cast, get_args

from msgspec import Struct
from pydantic import ValidationError

from handlers.mind.reply import form, near_json, reasoning
from schemas.messages.arms import Action
from schemas.messages.characters import Aim, Horizon
from schemas.values.base import first_fault
from schemas.values.exact_math import clamp, round6
from schemas.values.reasons import Drop
from schemas.values.unicode_text import quoted

_SPEECH = 1_000
"""How many characters of what a model says are said."""

_SETTERS: Mapping[str, Horizon] = {
    "set_personal_goal": "personal",
    "set_medium_term_goal": "medium_term",
    "set_group_goal": "group",
}
"""Tools of a talker that say what the character is after, and for whom."""

SET_PRIORITIES = "set_priorities"

SETS = frozenset({*_SETTERS, SET_PRIORITIES})
"""Tools that do nothing themselves, and so may stand beside one that does."""

_WHAT = ("description", "goal", "target", "text")
"""Names under which models tell a goal."""

_ASKED = frozenset({"thinking", "speaking", "action", "actions", "goal", "priorities"})
"""What a reply is asked to hold."""

_HORIZONS = cast(tuple[Horizon, ...], get_args(Horizon))
_PERCENT = 100.0

_BEGINS = re.compile(r"(?<!\{)\{++(?=\s*(?:[\"'\u2018\u201c\u201e}]|\w+\s*:|/[/*]|\Z))")
"""How an object begins; a brace in a sentence is none."""

_NAME = re.compile(r"[A-Za-z0-9_-]{1,64}")
_MOST = 32
"""So many priorities, or actions, of one answer are read."""
_HUGE = 1e9

_NONE: Mapping[str, str] = {}
"""No synonyms."""


class Unreadable(Exception):
    """A reply holds nothing that can be understood."""

    drop: ClassVar[Drop] = "llm_malformed"
    """What becomes of a decision that waited for it."""


class _SaysNothing(Unreadable):
    """A reply can be read, and holds nothing that can be said or done."""

    drop = "llm_declined"


class _Chosen(Struct):
    """What actions of a reply come to; made up while they are read."""

    action: Action | None = None
    goals: list[Any] = []
    priorities: Mapping[str, float] | None = None


class Reply(Struct, frozen=True):
    """What a talker's model wants."""

    thinking: str
    speaking: str
    action: Action | None
    aims: tuple[Aim, ...]
    """Further ones, not all."""
    priorities: Mapping[str, float] | None
    refused: tuple[str, ...]
    """What of it was left out, and why."""
    is_set: bool = False
    """Whether an action set the priorities, which alone is of use."""

    @property
    def is_empty(self) -> bool:
        """Whether it says nothing of use."""
        does = self.action or self.aims or self.is_set
        return not (self.thinking or self.speaking or does)


def read(
    text: str, tools: Collection[str], synonyms: Mapping[str, str] = _NONE
) -> Reply:
    """Read a talker's reply; `tools` are the names of what it may do.

    Raises:
        Unreadable: there is no JSON object in it, or nothing of use.
    """
    told = read_object(text)
    reply = understood(told, tools, synonyms)
    if reply.is_empty:
        raise nothing(told, reply.refused)
    return reply


def nothing(told: Mapping[str, Any], refused: Sequence[str]) -> Unreadable:
    """Return the error of a reply of no use: its form, if no name of it was asked for."""
    why = "; ".join(refused) or "the reply says nothing"
    return _SaysNothing(why) if not _ASKED.isdisjoint(told) else Unreadable(why)


def understood(
    told: Mapping[str, Any], tools: Collection[str], synonyms: Mapping[str, str]
) -> Reply:
    """Return what a reply's object says, be it nothing of use."""
    refused: list[str] = []
    speaking, _ = reasoning.apart(words(told, "speaking"))
    if (why := form.fault(speaking)) is not None:
        refused.append(f"what it would say was left out: {why}")
        speaking = ""
    chosen = _chosen(told.get("action"), tools, synonyms, refused)
    weights = shares(told.get("priorities"), refused)
    return Reply(
        thinking=words(told, "thinking"),
        speaking=speaking[:_SPEECH],
        action=chosen.action,
        aims=_aims([*_several(told.get("goal")), *chosen.goals], refused),
        priorities=weights if chosen.priorities is None else chosen.priorities,
        refused=tuple(refused),
        is_set=chosen.priorities is not None,
    )


def read_object(text: str) -> dict[str, Any]:
    """Return the first JSON object of a text.

    Raises:
        Unreadable: there is none.
    """
    begins = _BEGINS.search(text)
    if begins is None:
        raise Unreadable("there is no JSON in the reply")
    at = begins.end() - 1
    with suppress(ValueError, RecursionError):
        told, _ = json.JSONDecoder().raw_decode(text, at)
        # Escapes may stand for half a character, which nobody can write.
        json.dumps(told, ensure_ascii=False).encode()
        # How deep Python reads differs by version, and by who calls.
        if near_json.is_shallow(told):
            return cast(dict[str, Any], told)
    try:
        return cast(dict[str, Any], near_json.Reader(text, at).value())
    except near_json.NotJson as error:
        raise Unreadable(f"the reply's JSON is broken: {error}") from error


def words(told: Mapping[str, Any], name: str) -> str:
    """Return a text of a reply in one line; empty if there is none."""
    said = told.get(name)
    return " ".join(said.split()) if isinstance(said, str) else ""


def tool(
    name: object,
    tools: Collection[str],
    synonyms: Mapping[str, str],
    refused: list[str],
) -> str | None:
    """Return the tool that a model means; None, and why in `refused`, if it is not offered."""
    meant = "_".join(name.casefold().split()) if isinstance(name, str) else ""
    for each in (name, meant, synonyms.get(meant)):
        if isinstance(each, str) and each in tools:
            return each
    refused.append(f"the action {quoted(str(name)[:80])} was not offered")
    return None


def _chosen(
    told: object,
    tools: Collection[str],
    synonyms: Mapping[str, str],
    refused: list[str],
) -> _Chosen:
    chosen = _Chosen()
    # Only what is set can be combined; where nothing can be, a list is no action.
    is_list = isinstance(told, list) and not SETS.isdisjoint(tools)
    actions = _several(told) if is_list else [] if told is None else [told]
    if len(actions) > _MOST:
        refused.append(f"{len(actions) - _MOST} actions over {_MOST} were left out")
    for each in actions[:_MOST]:
        fields = each if isinstance(each, dict) else {"type": each}
        name = tool(fields.get("type"), tools, synonyms, refused)
        if name is None:
            continue
        if name in _SETTERS:
            text = next(filter(None, (words(fields, n) for n in _WHAT)), None)
            goal = {"type": _SETTERS[name], "category": fields.get("category")}
            chosen.goals.append(goal | {"description": text})
        elif name == SET_PRIORITIES:
            chosen.priorities = shares(fields.get("priorities"), refused)
        elif chosen.action is not None:
            refused.append(f"{name} is one too many: one thing is done at a time")
        else:
            target = fields.get("target")
            to = target if isinstance(target, str) else None
            chosen.action = Action(type=name, target=to)
    return chosen


def _several(told: object) -> list[Any]:
    return told if isinstance(told, list) else [told] if told is not None else []


def _aims(told: list[Any], refused: list[str]) -> tuple[Aim, ...]:
    found = []
    for each in told:
        fields = each if isinstance(each, dict) else {"description": each}
        kind = fields.get("type")
        try:
            aim = Aim.from_fields(
                {
                    "kind": kind if kind in _HORIZONS else "personal",
                    "category": fields.get("category"),
                    "text": fields.get("description"),
                }
            )
        except ValidationError as error:
            refused.append(f"a goal was left out: {first_fault(error, 'the goal')}")
            continue
        found.append(aim)
    return tuple(found)


def shares(told: object, refused: list[str]) -> Mapping[str, float] | None:
    """Return priorities as shares of 1, by name; None if there are none."""
    if told is None:
        return None
    if not isinstance(told, dict) or not all(map(_is_number, told.values())):
        refused.append("the priorities are no numbers by name")
        return None
    # Models write percents as the source design's examples do, or shares.
    scale = _PERCENT if any(each > 1 for each in told.values()) else 1.0
    named = [name for name in sorted(told) if _NAME.fullmatch(name)][:_MOST]
    if len(named) < len(told):
        left = ", ".join(quoted(each[:80]) for each in told if each not in named)
        refused.append(f"priorities were left out: {left}"[:400])
    return {name: round6(clamp(told[name] / scale, 0.0, 1.0)) for name in named}


def _is_number(value: object) -> bool:
    if isinstance(value, bool) or not isinstance(value, int | float):
        return False
    # Neither infinite nor none at all, as JSON in Python may be.
    return abs(value) <= _HUGE
