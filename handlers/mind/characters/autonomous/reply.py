"""Replies: what the model of an autonomous character chose, held against what may be done."""

from collections.abc import Sequence
from typing import Any

from msgspec import Struct

from handlers.mind.characters import replies
from handlers.mind.characters.autonomous import actions
from projections.folds.characters.situations import Surroundings
from schemas.messages.arms import Action
from schemas.packs.autonomous import Autonomous
from schemas.state.autonomy import Act
from schemas.values.exact_math import clamp, round6
from schemas.values.unicode_text import quoted

_LEAST_CONFIDENCE = 0.3
"""Below it the model is too unsure; exactly so much is enough (source design)."""
_UNSAID = 0.5
"""The confidence of a model that names none (upstream)."""
_LONGEST = 1_000


class Choice(Struct, frozen=True):
    """What the model chose, or why that is of no use."""

    reasoning: str
    thought: str
    confidence: float
    wanted: str | None
    """What it called the action, if no action is called so."""
    action: Action | None
    fault: str | None
    """Why something else is done; None: the action is."""


def read(text: str, how: Autonomous, here: Surroundings, acts: Sequence[Act]) -> Choice:
    """Read an answer.

    Raises:
        Unreadable: there is no JSON object with an action in it.
    """
    told = replies.read_object(text)
    name = told.get("action")
    if not isinstance(name, str) or not name.strip():
        raise replies.Unreadable('the reply names no "action"')
    confidence = _confidence(told.get("confidence"))
    wanted, target = name.strip()[:80], told.get("target")
    meant = actions.closest(wanted, actions.choices(how))
    action, fault = None, None
    if confidence < _LEAST_CONFIDENCE:
        fault = f"its confidence of {confidence:g} is under {_LEAST_CONFIDENCE:g}"
    elif meant is None:
        fault = f"no action is called {quoted(wanted)} or nearly so"
    else:
        named = target.strip()[:200] if isinstance(target, str) else None
        on = actions.target(meant, here, named)
        why = actions.problem(meant, here, acts, on)
        action = Action(type=meant.id, target=on) if why is None else None
        fault = f"{meant.id}: {why}" if why is not None else None
    is_mapped = meant is None or meant.id != wanted
    return Choice(
        reasoning=_text(told, "reasoning"),
        thought=_text(told, "thought"),
        confidence=confidence,
        wanted=wanted if is_mapped else None,
        action=action,
        fault=fault,
    )


def _confidence(told: object) -> float:
    # A bool is an int in Python; what is no number was not said.
    if isinstance(told, bool) or not isinstance(told, int | float):
        return _UNSAID
    return round6(clamp(float(told), 0.0, 1.0)) if told == told else _UNSAID


def _text(told: dict[str, Any], name: str) -> str:
    said = told.get(name)
    return " ".join(said.split())[:_LONGEST] if isinstance(said, str) else ""
