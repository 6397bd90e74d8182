"""The prompt of an autonomous character: the second version of the source design's, in its
sections, with what failed and what is remembered where there is memory."""

from collections.abc import Sequence

import orjson

from handlers.mind.characters.autonomous import actions
from projections.folds.characters.situations import Surroundings
from schemas.packs.autonomous import Autonomous
from schemas.state import limits
from schemas.state.autonomy import Act
from schemas.values.prompt_fencing import RULE, fenced, shown

_CAP = 300
_PERSONALITY_CAP = 4_000
_RECENT = 5

_RULES = """## Rules
1. Think step by step about what you want to do and why.
2. Do NOT repeat the same action 3 times in a row.
3. Choose actions that fit your personality and current context.
4. If you just sat for a long time, consider standing up and walking."""

_FORM = """Respond ONLY with JSON (no markdown, no explanation):
{
  "reasoning": "<2-3 sentences: why this action>",
  "action": "<an action of the valid list>",
  "target": "<object name or null>",
  "thought": "<one sentence: your inner thought>",
  "confidence": <0.0-1.0>
}"""


def system(agent: str, how: Autonomous) -> str:
    """Return the system prompt, the same at each call of a character."""
    name = how.personality.get("name")
    who = shown(name if isinstance(name, str) and name else agent, 80)
    return f"You are {who}, a character in a virtual world.\n\n{RULE}"


def lasting(how: Autonomous, learned: Sequence[str] = ()) -> str:
    """Return the part of the prompt that is the same at each call: it makes the arm.

    `learned` is what it knows of its world besides; a model wrote that, so it is data.
    """
    personality = orjson.dumps(how.personality, option=orjson.OPT_SORT_KEYS).decode()
    also = "".join(f"\nYou also know: {fenced(each, _CAP)}" for each in learned)
    valid = ", ".join(each.id for each in actions.choices(how))
    return "\n\n".join(
        (
            f"## Personality\n{shown(personality, _PERSONALITY_CAP)}{also}",
            _RULES,
            f"## Valid Actions\n{valid}",
            _FORM,
        )
    )


def prompt(
    how: Autonomous,
    here: Surroundings,
    acts: Sequence[Act],
    *,
    remembered: Sequence[Act] = (),
    failed: Act | None = None,
    fault: str = "",
    learned: Sequence[str] = (),
) -> str:
    """Return what the model is told of the moment.

    `failed` is an action that just failed, `fault` what is wrong with the model's last
    answer.
    """
    near = ", ".join(fenced(f"{each.name} ({each.tag})", 170) for each in here.nearby)
    recent = [each for each in acts if each.outcome is not None][-_RECENT:]
    parts = [
        "\n".join(
            (
                "## Current State",
                f"- FSM state: {fenced(here.state, 80)}",
                f"- Position: {_position(here)}",
                f"- Nearby objects: {near or 'nothing nearby'}",
                f"- Recent actions (last {_RECENT}): "
                + (", ".join(map(_told, recent)) or "none"),
            )
        )
    ]
    if remembered:
        lines = "\n".join(f"- {told(each)}" for each in remembered)
        parts.append(f"## Memories\n{lines}")
    if failed is not None:
        parts.append(
            f"## What just failed\n{_told(failed)}. The world said:"
            f" {fenced(failed.error, _CAP)} Choose what avoids that."
        )
    if fault:
        parts.append(
            "Your last answer could not be read:"
            f" {fenced(fault, _CAP)} Respond ONLY with the JSON object."
        )
    return "\n\n".join((*parts, lasting(how, learned)))


def _position(here: Surroundings) -> str:
    return "(" + ", ".join(f"{each:.1f}" for each in here.position) + ")"


def _told(act: Act) -> str:
    if act.by == "reflection":
        return "you noticed"
    target = f" {fenced(act.target, 80)}" if act.target is not None else ""
    return f"{act.action}{target}: {act.outcome}"


def _thought(act: Act) -> str:
    if act.by == "reflection":
        return f": {fenced(act.thought, limits.INSIGHT)}"
    return f", thinking {fenced(act.thought, _CAP)}" if act.thought else ""


def told(act: Act) -> str:
    """Return an episode in a line: what was done and came of it, and what was thought."""
    return f"{_told(act)}{_thought(act)}"
