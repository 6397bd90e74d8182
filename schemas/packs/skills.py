"""The skills that there are, by the names that they are loaded by."""

from collections.abc import Sequence

from schemas.packs.compiled import CompiledPack
from schemas.values.by_identity import by_identity
from schemas.values.executive_settings import ExecutiveSettings
from schemas.values.skills import Skills

NONE: Skills = {}


def known(settings: ExecutiveSettings, packs: Sequence[CompiledPack]) -> Skills:
    """Return all skills: the program's own, then those of packs as `<pack>/<skill>`."""
    if not settings.skills and not any(each.pack.skills for each in packs):
        return NONE
    return _known(settings, *packs)


@by_identity(64)
def _known(*given: object) -> Skills:
    settings, *packs = given
    assert isinstance(settings, ExecutiveSettings)
    found = {each.name: each for each in settings.skills}
    for pack in packs:
        assert isinstance(pack, CompiledPack)
        name = pack.pack.name
        found |= {f"{name}/{each.name}": each for each in pack.pack.skills}
    return found
