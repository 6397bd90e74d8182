"""The personality templates that come with the program, one YAML file each."""

from functools import cache

import orjson

from echoic.packs.bundled import PACKS
from echoic.packs.yaml_positions import read
from schemas.values.personality import PersonalityTemplate

_FOLDER = PACKS / "personalities"


@cache
def shipped() -> tuple[PersonalityTemplate, ...]:
    """Return the templates that come with the program, by name."""
    return tuple(
        # Through JSON and strict, as the log is read later.
        PersonalityTemplate.model_validate_json(
            orjson.dumps(read(file).value), strict=True
        )
        for file in sorted(_FOLDER.glob("*.yaml"))
    )


def names() -> tuple[str, ...]:
    """Return their names."""
    return tuple(each.name for each in shipped())
