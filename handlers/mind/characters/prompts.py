"""What the prompts of all layers have in common; what the world told stands in them fenced."""

from collections.abc import Mapping, Sequence

from schemas.packs import conditions
from schemas.packs.layers import PromptLine, Tool
from schemas.values.exact_math import clamp, round6
from schemas.values.prompt_fencing import RULE, fenced, shown

_BANDS = ("very low", "low", "moderate", "high", "very high")
CAP = 400
"""How many characters of a field are told."""


def system(agent: str, who: str, form: str) -> str:
    """Return a system prompt, the same at each call: who asks, and the form of an answer."""
    named = who.replace("{name}", shown(agent, 80)) or f"You are {agent}."
    return "\n\n".join((named, RULE, form))


def offered(tools: Sequence[Tool], fields: Mapping[str, object]) -> tuple[str, ...]:
    """Return the names of those tools whose condition holds."""
    return tuple(each.name for each in tools if _is_offered(each, fields))


def _is_offered(tool: Tool, fields: Mapping[str, object]) -> bool:
    if not tool.when:
        return True
    return conditions.holds(conditions.parse(tool.when), "", "", fields)


def told(lines: Sequence[PromptLine], fields: Mapping[str, object]) -> list[str]:
    """Return lines of a prompt: what fields of the body tell, under their labels."""
    return [
        f"- {line.label}: {_told(value, in_words=line.in_words)}"
        for line in lines
        if (value := conditions.field_value(line.field, fields))[0]
    ]


def band(level: float, words: Sequence[str]) -> str:
    """Return a level from 0 to 1 as one of five words, with edges at .2, .4, .6 and .8."""
    return words[min(int(round6(level) * 5), 4)]


def part(title: str, lines: Sequence[str]) -> str:
    """Return lines of a prompt under a title; empty if there are none."""
    return "\n".join((f"{title}:", *lines)) if lines else ""


def _told(value: tuple[bool, object], *, in_words: bool) -> str:
    found = value[1]
    # A bool is an int in Python.
    if in_words and isinstance(found, int | float) and not isinstance(found, bool):
        return band(float(clamp(found, 0.0, 1.0)), _BANDS)
    if isinstance(found, list):
        return ", ".join(fenced(str(each), CAP) for each in found[:10]) or "none"
    if isinstance(found, str):
        return fenced(found, CAP)
    return shown(str(found), CAP)
