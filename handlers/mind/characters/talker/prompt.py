"""The talker's prompt: who the character is, what it needs and what it sees.

It holds no amounts, costs, slots or plans: those are other layers' (source design, "Talker
prompt"). All that the world told stands in it as data, fenced.
"""

from collections.abc import Mapping, Sequence

from handlers.mind.characters import prompts
from schemas.messages.characters import Aim
from schemas.packs.characters import CharacterMind
from schemas.packs.layers import Talker
from schemas.values.prompt_fencing import fenced

_BANDS = ("desperate", "low", "moderate", "good", "satisfied")
"""Satisfaction in five bands, edges at .2, .4, .6 and .8."""

FORM = (
    'Answer with one JSON object: {"thinking": why, in a sentence, "speaking": what you say'
    ' aloud, or "", "action": {"type": one of the tools, "target": whom} or null, "goal":'
    ' {"type": "personal", "medium_term" or "group", "description": what} or null,'
    ' "priorities": {kind of work: 0 to 1} or null}.'
)


def moment(
    mind: CharacterMind,
    layer: Talker,
    fields: Mapping[str, object],
    doing: str | None,
    aims: Sequence[Aim],
) -> str:
    """Return what the talker is told of the moment."""
    parts = [
        *known(mind, layer, fields),
        prompts.part(
            "You want", [f"- {fenced(each.text, prompts.CAP)}" for each in aims]
        ),
        f"You are doing: {doing or 'nothing'}",
        f"Tools: {', '.join(prompts.offered(layer.tools, fields)) or 'none'}",
    ]
    return "\n\n".join(filter(None, parts))


def known(
    mind: CharacterMind, layer: Talker, fields: Mapping[str, object]
) -> list[str]:
    """Return what the character needs and sees, in parts of which some are empty."""
    needs = [
        f"- {name}: {_BANDS[min(int(level * 5), 4)]}"
        for name in mind.needs
        if isinstance(level := fields.get(name), float)
    ]
    return [
        prompts.part("Needs", needs),
        prompts.part("Around you", prompts.told(layer.lines, fields)),
    ]
