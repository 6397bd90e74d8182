"""The talker's prompt: who the character is, what it needs and what it sees.

It holds no amounts, costs, slots or plans: those are other layers' (source design, "Talker
prompt"). All that the world told stands in it as data, fenced.
"""

from collections.abc import Mapping

from handlers.mind.characters import prompts
from schemas.packs.characters import CharacterMind
from schemas.packs.layers import Talker
from schemas.state.character import Character
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
    character: Character,
    fields: Mapping[str, object],
    doing: str | None,
) -> str:
    """Return what the talker is told of the moment."""
    parts = [
        *known(mind, layer, character, fields),
        prompts.part(
            "You want",
            [f"- {fenced(each.text, prompts.CAP)}" for each in character.aims],
        ),
        f"You are doing: {doing or 'nothing'}",
        f"Tools: {', '.join(prompts.offered(layer.tools, fields)) or 'none'}",
    ]
    return "\n\n".join(filter(None, parts))


def known(
    mind: CharacterMind,
    layer: Talker,
    character: Character,
    fields: Mapping[str, object],
) -> list[str]:
    """Return what the character needs, sees and remembers; some parts are empty."""
    needs = [
        f"- {name}: {prompts.band(level, _BANDS)}"
        for name in mind.needs
        if isinstance(level := fields.get(name), float)
    ]
    return [
        prompts.part("Needs", needs),
        prompts.part("Around you", prompts.told(layer.lines, fields)),
        prompts.part("You remember", _remembered(layer, character)),
        prompts.part("You said and thought lately", _lately(layer, character)),
    ]


def _remembered(layer: Talker, character: Character) -> list[str]:
    """Return what the character meant to keep in mind, oldest first."""
    kept = character.memories[-layer.memories :] if layer.memories else ()
    return [f"- {fenced(each.text, prompts.CAP)}" for each in kept]


def _lately(layer: Talker, character: Character) -> list[str]:
    """Return what the character said and thought itself, oldest first."""
    found = character.words[-layer.words :] if layer.words else ()
    lines = []
    for each in found:
        if each.said:
            lines.append(f"- You said: {fenced(each.said, prompts.CAP)}")
        if each.thought:
            lines.append(f"- You thought: {fenced(each.thought, prompts.CAP)}")
    return lines
