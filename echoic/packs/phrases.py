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
    written = orjson.loads(orjson.dumps(read(_FOLDER / f"{language}.yaml").value))
    learnt = _FOLDER / "evidence" / f"{language}.json"
    if learnt.exists():
        written["evidence"] = orjson.loads(learnt.read_bytes())
    # Through JSON and strict, as the log is read later.
    return Phrases.model_validate_json(orjson.dumps(written), strict=True)
