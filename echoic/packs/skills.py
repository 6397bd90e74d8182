"""The skills that come with the program, one YAML file each."""

from functools import cache

import orjson

from echoic.packs.bundled import PACKS
from echoic.packs.yaml_positions import read
from schemas.values.skills import Skill

_FOLDER = PACKS / "skills"


@cache
def shipped() -> tuple[Skill, ...]:
    """Return the skills that come with the program, by name."""
    return tuple(
        # Through JSON and strict, as the log is read later.
        Skill.model_validate_json(orjson.dumps(read(file).value), strict=True)
        for file in sorted(_FOLDER.glob("*.yaml"))
    )
