"""The talker's prompt: who the character is, what it needs and what it sees.

It holds no amounts, costs, slots or plans: those are other layers' (source design, "Talker
prompt"). All that the world told stands in it as data, fenced.
"""

from collections.abc import Mapping, Sequence

from schemas.messages.characters import Aim
from schemas.packs import conditions
from schemas.packs.characters import CharacterMind
from schemas.packs.layers import Line, Talker, Tool
from schemas.values.prompt_fencing import RULE, fenced, shown

_CAP = 400
"""How many characters of a field are told."""

_BANDS = ("desperate", "low", "moderate", "good", "satisfied")
"""Satisfaction in five bands, edges at .2, .4, .6 and .8."""

_FORM = (
    'Answer with one JSON object: {"thinking": why, in a sentence, "speaking": what you say'
    ' aloud, or "", "action": {"type": one of the tools, "target": whom} or null, "goal":'
    ' {"type": "personal", "medium_term" or "group", "description": what} or null,'
    ' "priorities": {kind of work: 0 to 1} or null}.'
)


def system(agent: str, talker: Talker) -> str:
    """Return the system prompt, the same at each call of a character."""
    who = talker.who.replace("{name}", shown(agent, 80)) or f"You are {agent}."
    return "\n\n".join((who, RULE, _FORM))


def offered(talker: Talker, fields: Mapping[str, object]) -> tuple[str, ...]:
    """Return the names of the tools that may be chosen now."""
    return offered_of(talker.tools, fields)


def offered_of(tools: Sequence[Tool], fields: Mapping[str, object]) -> tuple[str, ...]:
    """Return the names of those tools whose condition holds."""
    return tuple(each.name for each in tools if _is_offered(each, fields))


def _is_offered(tool: Tool, fields: Mapping[str, object]) -> bool:
    if not tool.when:
        return True
    return conditions.holds(conditions.parse(tool.when), "", "", fields)


def prompt(
    mind: CharacterMind,
    talker: Talker,
    fields: Mapping[str, object],
    doing: str | None,
    aims: Sequence[Aim],
) -> str:
    """Return what the talker is told of the moment."""
    needs = [
        f"- {name}: {_BANDS[min(int(level * 5), 4)]}"
        for name in mind.needs
        if isinstance(level := fields.get(name), float)
    ]
    known = told_of(talker.lines, fields)
    parts = [
        part("Needs", needs),
        part("Around you", known),
        part("You want", [f"- {fenced(each.text, _CAP)}" for each in aims]),
        f"You are doing: {doing or 'nothing'}",
        f"Tools: {', '.join(offered(talker, fields)) or 'none'}",
    ]
    return "\n\n".join(filter(None, parts))


def told_of(lines: Sequence[Line], fields: Mapping[str, object]) -> list[str]:
    """Return lines of a prompt: what fields of the body tell, under their labels."""
    return [
        f"- {line.label}: {_told(value)}"
        for line in lines
        if (value := conditions.field_value(line.field, fields))[0]
    ]


def part(title: str, lines: Sequence[str]) -> str:
    """Return lines of a prompt under a title; empty if there are none."""
    return "\n".join((f"{title}:", *lines)) if lines else ""


def _told(value: tuple[bool, object]) -> str:
    found = value[1]
    if isinstance(found, list):
        return ", ".join(fenced(str(each), _CAP) for each in found[:10]) or "none"
    if isinstance(found, str):
        return fenced(found, _CAP)
    return shown(str(found), _CAP)
