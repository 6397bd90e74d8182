"""Known: what a model is told by the skills in force of an event, and of what holds now.

Lines of domains and capabilities are filled from the event, as a heuristic's words would be;
named facts are those that these skills provide or require. All of it is what devices sent,
so all of it is fenced.
"""

from collections.abc import Mapping, Sequence

from msgspec import Struct

from schemas.values.prompt_fencing import fenced
from schemas.values.skills import Skills, version_of

_CAP = 300
"""How many characters of a detail or a fact are told at most."""
_MOST = 32
"""How many facts are."""

_DETAILS = "What is known of it: {}"
_FACTS = "What holds now:"
_FACT = "- {}: {}"
TEMPLATES = (_DETAILS, _FACTS, _FACT)
"""Our own words in it, which are part of the arm."""


class Told(Struct, frozen=True):
    """What a model is told, and by which skills."""

    text: str = ""
    skills: tuple[str, ...] = ()
    """As `<name>@<version>`."""


NOTHING = Told()


def told(
    detail: str, used: Sequence[str], in_force: Skills, facts: Mapping[str, object]
) -> Told:
    """Return what a model is told of an event.

    Args:
        detail: what skills have to say of it.
        used: those skills, as `<name>@<version>`.
        in_force: all that are in force.
        facts: all that are known, by name.
    """
    parts = [_DETAILS.format(fenced(detail, _CAP))] if detail else []
    by = {
        fact: version_of(name, skill)
        for name, skill in in_force.items()
        for fact in (*skill.provides, *skill.requires)
        if fact in facts
    }
    names = sorted(by)[:_MOST]
    if names:
        lines = (_FACT.format(name, fenced(str(facts[name]), _CAP)) for name in names)
        parts.append("\n".join((_FACTS, *lines)))
    if not parts:
        return NOTHING
    every = dict.fromkeys((*used, *(by[name] for name in names)))
    return Told("\n\n".join(parts), tuple(every))
