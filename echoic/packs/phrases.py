"""The phrases that come with the program, one YAML file a language."""

from collections.abc import Sequence
from functools import cache

import orjson

from echoic.packs.bundled import PACKS
from echoic.packs.yaml_positions import read
from schemas.values.phrases import Phrases

_FOLDER = PACKS / "phrases"


def languages() -> tuple[str, ...]:
    """Return the languages that there are phrases of."""
    return tuple(sorted(file.stem for file in _FOLDER.glob("*.yaml")))


def shipped(wanted: Sequence[str]) -> tuple[Phrases, ...]:
    """Return the phrases of some languages that come with the program."""
    return tuple(map(_phrases, wanted))


@cache
def _phrases(language: str) -> Phrases:
    # Through JSON and strict, as the log is read later.
    written = orjson.dumps(read(_FOLDER / f"{language}.yaml").value)
    return Phrases.model_validate_json(written, strict=True)
