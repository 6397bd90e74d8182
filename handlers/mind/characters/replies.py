"""Replies: what a layer's model answers, read from whatever it sent.

A reply is one JSON object, which may stand in prose. What cannot be read is refused with the
reason, and so is each action that was not offered and each aim that is none; the rest counts.
"""

import json
from collections.abc import Collection, Mapping
from typing import Any, cast, get_args

from msgspec import Struct
from pydantic import ValidationError

from schemas.messages.arms import Action
from schemas.messages.characters import Aim, Horizon
from schemas.values.base import first_fault
from schemas.values.exact_math import clamp
from schemas.values.unicode_text import quoted

SPEECH = 1_000
"""How many characters of what a model says are said."""

_HORIZONS = cast(tuple[Horizon, ...], get_args(Horizon))
_PERCENT = 100.0


class Unreadable(Exception):
    """A reply holds nothing that can be understood."""


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


def read(text: str, tools: Collection[str]) -> Reply:
    """Read a talker's reply; `tools` are the names of what it may do.

    Raises:
        Unreadable: there is no JSON object in it, or nothing of use.
    """
    told = _object(text)
    refused: list[str] = []
    reply = Reply(
        thinking=_words(told, "thinking"),
        speaking=_words(told, "speaking")[:SPEECH],
        action=_action(told.get("action"), tools, refused),
        aims=_aims(told.get("goal"), refused),
        priorities=_priorities(told.get("priorities"), refused),
        refused=(),
    )
    if not (reply.thinking or reply.speaking or reply.action or reply.aims):
        raise Unreadable("; ".join(refused) or "the reply says nothing")
    return Reply(
        reply.thinking,
        reply.speaking,
        reply.action,
        reply.aims,
        reply.priorities,
        tuple(refused),
    )


def _object(text: str) -> dict[str, Any]:
    """Return the first JSON object of a text."""
    start = text.find("{")
    if start < 0:
        raise Unreadable("there is no JSON in the reply")
    try:
        told, _ = json.JSONDecoder().raw_decode(text, start)
    except (ValueError, RecursionError) as error:
        raise Unreadable(f"the reply's JSON is broken: {error}") from error
    if not isinstance(told, dict):
        raise Unreadable("the reply's JSON is no object")
    return told


def _words(told: Mapping[str, Any], name: str) -> str:
    said = told.get(name)
    return " ".join(said.split()) if isinstance(said, str) else ""


def _action(told: object, tools: Collection[str], refused: list[str]) -> Action | None:
    if told is None:
        return None
    fields = told if isinstance(told, dict) else {"type": told}
    name, target = fields.get("type"), fields.get("target")
    if not isinstance(name, str) or name not in tools:
        refused.append(f"the action {quoted(str(name)[:80])} was not offered")
        return None
    return Action(type=name, target=target if isinstance(target, str) else None)


def _aims(told: object, refused: list[str]) -> tuple[Aim, ...]:
    wanted = told if isinstance(told, list) else [told] if told is not None else []
    found = []
    for each in wanted:
        fields = each if isinstance(each, dict) else {"description": each}
        kind = fields.get("type")
        try:
            aim = Aim.model_validate(
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


def _priorities(told: object, refused: list[str]) -> Mapping[str, float] | None:
    if told is None:
        return None
    if not isinstance(told, dict) or not all(map(_is_number, told.values())):
        refused.append("the priorities are no numbers by name")
        return None
    # Models write percents as the source design's examples do, or shares.
    scale = _PERCENT if any(each > 1 for each in told.values()) else 1.0
    return {name: clamp(told[name] / scale, 0.0, 1.0) for name in sorted(told)}


def _is_number(value: object) -> bool:
    return isinstance(value, int | float) and not isinstance(value, bool)
