"""Whose `echoic.toml` is obeyed whole: that of a folder that the user trusts.

A folder of somebody else's may hold one that names programs to run, files to load and
places to send to. Those settings (`Option.needs_trust`) count once `echoic config trust`
was said of the folder, and until the file changes (docs/adr/0070).
"""

import os
from collections.abc import Iterable, Mapping
from pathlib import Path

import orjson

from echoic.errors import SettingsError
from schemas.values.ids import digest

FILE = "echoic.toml"
"""A folder's own settings."""

_STORE = "trusted.json"
_NO_FILE = ""
"""Kept in place of a digest for a folder that had no such file when it was trusted."""


def own_folder(environment: Mapping[str, str]) -> Path:
    """Return the folder of the user's own settings, by the XDG base directories."""
    home = environment.get("XDG_CONFIG_HOME") or str(Path.home() / ".config")
    return Path(home) / "echoic"


def trusted(environment: Mapping[str, str]) -> dict[str, str]:
    """Return the digest of each trusted folder's file, by the folder's real path.

    Raises:
        SettingsError: the list cannot be read.
    """
    # Beside the user's own settings: whoever can write here can set all of it anyway.
    store = own_folder(environment) / _STORE
    try:
        found = orjson.loads(store.read_bytes())
    except FileNotFoundError:
        return {}
    except (OSError, ValueError) as error:
        raise _unreadable(store, str(error)) from error
    if not isinstance(found, dict) or not all(
        isinstance(each, str) for each in found.values()
    ):
        raise _unreadable(store, "it is no list of folders")
    return found


def is_trusted(folder: Path, content: bytes | None, known: Mapping[str, str]) -> bool:
    """Tell whether a folder is trusted whose file holds `content`; None: it has no file."""
    # By its real path: a link to a trusted folder leads to the same file.
    return known.get(str(folder.resolve())) == _digest(content)


def is_obeyed(folder: Path, environment: Mapping[str, str] | None = None) -> bool:
    """Tell whether what lies in a folder counts, as it is now."""
    environment = os.environ if environment is None else environment
    return is_trusted(folder, content_of(folder), trusted(environment))


def content_of(folder: Path) -> bytes | None:
    """Return what a folder's file holds; None if there is none.

    Raises:
        SettingsError: it cannot be read.
    """
    try:
        return (folder / FILE).read_bytes()
    except FileNotFoundError:
        return None
    except OSError as error:
        file = folder / FILE
        raise SettingsError(
            f"{file} cannot be read: {error}", next_step=f"correct or remove {file}"
        ) from error


def trust(folder: Path, content: bytes | None, environment: Mapping[str, str]) -> None:
    """Trust a folder for as long as its file holds `content`."""
    known = trusted(environment)
    _keep(known | {str(folder.resolve()): _digest(content)}, environment)


def distrust(folder: Path, environment: Mapping[str, str]) -> bool:
    """Trust a folder no longer; tell whether it was trusted, whatever its file holds."""
    known = trusted(environment)
    # As named, too: a folder that was deleted may have been reached by a link.
    was = {str(folder.resolve()), str(folder)} & known.keys()
    _keep({path: known[path] for path in known if path not in was}, environment)
    return bool(was)


def notice(folder: Path, names: Iterable[str], *, was_trusted: bool) -> str:
    """Return what is said of settings in a folder's file that do not count."""
    why = "has changed since it was trusted" if was_trusted else "is not trusted"
    return (
        f"{folder / FILE} {why}, and what runs, loads, sends or listens does not count"
        f" from there: {', '.join(names)}\n  → read it, then: echoic config trust"
    )


def _keep(known: Mapping[str, str], environment: Mapping[str, str]) -> None:
    # Imported here: every command reads settings, few change this.
    from streams.embedded import write_private

    folder = own_folder(environment)
    folder.mkdir(parents=True, exist_ok=True)
    write_private(folder / _STORE, orjson.dumps(known, option=orjson.OPT_INDENT_2))


def _digest(content: bytes | None) -> str:
    return _NO_FILE if content is None else digest(content)


def _unreadable(store: Path, why: str) -> SettingsError:
    return SettingsError(
        f"{store}, the list of trusted folders, cannot be read: {why}",
        next_step=f"rm {store}, then trust your folders again: echoic config trust",
    )
