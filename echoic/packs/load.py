"""Packs on disk: read a folder's manifest, and report all of its problems at once.

What a manifest may hold is defined by `schemas.packs.manifest`; this module adds places.
"""

from dataclasses import dataclass
from pathlib import Path
from typing import Any, cast

import orjson
from pydantic import JsonValue, ValidationError

from echoic.packs import checks
from echoic.packs.faults import make, problem_of
from echoic.packs.problems import Problem, render
from echoic.packs.prompt_files import OF_PACKS, PromptFileError, with_texts
from echoic.packs.yaml_positions import MOST_BYTES, Source, SourceError, read
from schemas.packs.compiled import CompiledPack, compile_embedded, texts_of
from schemas.packs.manifest import SCHEMA, Pack
from schemas.values.meanings import describe
from schemas.values.vectors import Embedder

__all__ = [
    "BrokenPackError",
    "Problem",
    "check",
    "compile_with",
    "found_in",
    "load",
    "pack_schema",
    "render",
]

MANIFEST = "manifest.yaml"
_JSON_SCHEMA = "http://json-schema.org/draft-07/schema#"


class BrokenPackError(Exception):
    """A pack has errors; the text holds all of them, ready to print."""

    def __init__(self, problems: tuple[Problem, ...]) -> None:
        super().__init__("\n".join(render(problem) for problem in problems))
        self.problems = problems


@dataclass(frozen=True, slots=True)
class _CheckedPack:
    """The result of checking a manifest."""

    pack: Pack | None
    """None if there are errors."""
    problems: tuple[Problem, ...]
    """Errors and warnings, in the order of the file."""


def load(folder: Path) -> Pack:
    """Read the pack in `folder` (or the manifest itself); ignore warnings.

    Raises:
        BrokenPackError: it has errors.
    """
    checked = check(folder)
    if checked.pack is None:
        raise BrokenPackError(checked.problems)
    return checked.pack


def found_in(folder: Path) -> tuple[Path, ...]:
    """Return the packs in a folder: its subfolders that hold a manifest, by name."""
    return tuple(sorted(each.parent for each in folder.glob(f"*/{MANIFEST}")))


def for_everybody(folder: Path) -> tuple[Path, ...]:
    """Return those of the packs in a folder that suit all agents at once.

    One with a `mind` would make each of them a character: it is loaded for its own alone.
    """
    return tuple(each for each in found_in(folder) if not _makes_characters(each))


def _makes_characters(folder: Path) -> bool:
    try:
        return load(folder).mind is not None
    except BrokenPackError:
        # Whoever loads it tells what is wrong with it.
        return False


def check(folder: Path) -> _CheckedPack:
    """Read the pack in `folder` (or the manifest itself) and list all problems."""
    file = folder / MANIFEST if folder.is_dir() else folder
    try:
        source = read(file)
    except SourceError as error:
        return _CheckedPack(None, (_unreadable(file, error),))
    problems = list(checks.all_problems(source))
    pack, faults = _validated(source)
    problems = sorted(
        (*problems, *faults), key=lambda each: (each.line, each.column, each.code)
    )
    has_errors = any(problem.severity == "error" for problem in problems)
    return _CheckedPack(None if has_errors else pack, tuple(problems))


def compile_with(pack: Pack, embedder: Embedder) -> CompiledPack:
    """Embed a pack's texts and compile its conditions."""
    return compile_embedded(pack, embedder.embed(texts_of(pack)))


def pack_schema() -> dict[str, Any]:
    """Return the JSON Schema of manifests, draft 07, for editors."""
    describe()
    drafted = cast(dict[str, Any], _as_draft_07(Pack.model_json_schema()))
    # `schema` has a default in a file, though not in a blob.
    required = [name for name in drafted["required"] if name != "schema"]
    its_own = {"title": "Echoic pack manifest", "required": required}
    return {"$schema": _JSON_SCHEMA, **drafted, **its_own}


def _validated(source: Source) -> tuple[Pack | None, list[Problem]]:
    try:
        blob = orjson.dumps(_with_prompts(_with_schema(source.value), source.file))
    except PromptFileError as error:
        place = source.place_of(("executive", error.name))
        return None, [make(source, place, "E-PACK-015", str(error))]
    # What YAML can write and orjson cannot, such as a number beyond 64 bits.
    except TypeError as error:
        return None, [_unreadable(source.file, SourceError(f"cannot be kept: {error}"))]
    try:
        # Through JSON and strict, as a pack's blob is read later: what passes here passes
        # there.
        return Pack.model_validate_json(blob, strict=True), []
    except ValidationError as error:
        faults = error.errors(include_url=False)
        found = (problem_of(fault, source) for fault in faults)
        return None, [problem for problem in found if problem is not None]


def _with_schema(value: JsonValue) -> JsonValue:
    """Return a manifest with its format spelt out, by default the first."""
    return {"schema": SCHEMA, **value} if isinstance(value, dict) else value


def _with_prompts(value: JsonValue, file: Path) -> JsonValue:
    """Return a manifest with its prompts' files replaced by their texts."""
    executive = value.get("executive") if isinstance(value, dict) else None
    if not isinstance(value, dict) or not isinstance(executive, dict):
        return value
    texts = with_texts(executive, OF_PACKS, file.parent, only_within=True)
    return {**value, "executive": texts}


def _unreadable(file: Path, error: SourceError) -> Problem:
    lines = []
    if file.is_file() and file.stat().st_size <= MOST_BYTES:
        lines = file.read_text(errors="replace").splitlines()
    line = error.place.line
    return Problem(
        file=file,
        line=line,
        column=error.place.column,
        code="E-PACK-002" if file.is_file() else "E-PACK-001",
        message=error.message,
        excerpt=lines[line - 1] if line <= len(lines) else "",
    )


def _as_draft_07(schema: Any) -> Any:
    """Return a schema of 2020-12 as draft 07, which ignores the keys beside a $ref."""
    if isinstance(schema, list):
        return [_as_draft_07(each) for each in schema]
    if not isinstance(schema, dict):
        return schema
    renamed = {
        "definitions" if key == "$defs" else key: _as_draft_07(value)
        for key, value in schema.items()
    }
    reference = renamed.pop("$ref", None)
    if reference is None:
        return renamed
    target = {"$ref": reference.replace("#/$defs/", "#/definitions/")}
    return renamed | {"allOf": [target]} if renamed else target
