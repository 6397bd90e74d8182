"""Prompts in files of their own: `@FILE` where a strategy or a pack has a prompt.

What is recorded is the text, so that a replay needs no file.
"""

from collections.abc import Mapping
from pathlib import Path

from pydantic import JsonValue

OF_STRATEGIES = ("system_prompt", "prediction_prompt_template")
OF_PACKS = ("domain_context", "system_prompt", "prediction_prompt")
"""What may stand in a file."""

_MARK = "@"
_MOST_BYTES = 100_000


class PromptFileError(ValueError):
    """A prompt's file cannot be read; `name` is what was to stand in it."""

    def __init__(self, name: str, message: str) -> None:
        super().__init__(message)
        self.name = name


def with_texts(
    values: Mapping[str, JsonValue],
    names: tuple[str, ...],
    folder: Path,
    *,
    only_within: bool = False,
) -> dict[str, JsonValue]:
    """Return the values, with the texts of files in place of their names.

    Raises:
        PromptFileError: one is no text, far too large, or outside of `folder` where files
            must lie `only_within`.
    """
    told = dict(values)
    for name in names:
        value = told.get(name)
        if isinstance(value, str) and value.startswith(_MARK):
            told[name] = _text(name, folder, value.removeprefix(_MARK), only_within)
    return told


def _text(name: str, folder: Path, given: str, only_within: bool) -> str:
    file = (folder / Path(given).expanduser()).resolve()
    if only_within and not file.is_relative_to(folder.resolve()):
        raise PromptFileError(name, f"{given!r} lies outside of the pack's folder")
    try:
        with file.open("rb") as opened:
            content = opened.read(_MOST_BYTES + 1)
        if len(content) > _MOST_BYTES:
            raise PromptFileError(name, f"{given!r} is larger than {_MOST_BYTES} bytes")
        return content.decode().strip()
    except UnicodeDecodeError as error:
        raise PromptFileError(name, f"{given!r} is not UTF-8") from error
    except OSError as error:
        reason = error.strerror or str(error)
        raise PromptFileError(
            name, f"{given!r} cannot be read: {reason.lower()}"
        ) from error
