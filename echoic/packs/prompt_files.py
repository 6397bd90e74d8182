"""Prompts in files of their own: `@FILE` in place of a strategy's or pack's prompt.

The text is what is recorded, so a replay needs no file.
"""

from collections.abc import Mapping
from pathlib import Path

from pydantic import JsonValue

OF_STRATEGIES = ("system_prompt", "prediction_prompt_template")
OF_PACKS = ("domain_context", "system_prompt", "prediction_prompt")
"""The fields whose text may be in a file."""

_MARK = "@"
_MOST_BYTES = 100_000


class PromptFileError(ValueError):
    """A prompt's file cannot be read; `name` is the field that names it."""

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
    """Return the values, with file names replaced by the files' texts.

    Raises:
        PromptFileError: one is no text, far too large, or outside of `folder` where files
            must lie `only_within`.
    """
    replaced = dict(values)
    for name in names:
        value = replaced.get(name)
        if isinstance(value, str) and value.startswith(_MARK):
            replaced[name] = _text(name, folder, value.removeprefix(_MARK), only_within)
    return replaced


def _text(name: str, folder: Path, given: str, only_within: bool) -> str:
    file = (folder / Path(given).expanduser()).resolve()
    # Packs and strategies' files come from others: without this check one could send any
    # file to a model.
    if only_within and not file.is_relative_to(folder.resolve()):
        raise PromptFileError(name, f"{given!r} lies outside of the folder {folder}")
    try:
        # A pipe or a device has no end.
        if file.exists() and not file.is_file():
            raise PromptFileError(name, f"{given!r} is no file")
        with file.open("rb") as opened:
            # One byte more shows that the file is too large, without reading all of it.
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
