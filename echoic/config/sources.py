"""Where settings are read: flags, variables, and files; the folder's own only in part.

`echoic.config.load` takes each setting from the first of them that has it.
"""

import tomllib
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from echoic.config import trust
from echoic.config.option import Option, Value
from echoic.config.options import OPTIONS
from echoic.errors import DEBUG, SettingsError, meant

_PREFIX = "ECHOIC_"

_IN_FILE = "_FILE"
"""After the variable of a secret: the file that holds it."""


@dataclass(frozen=True, slots=True)
class Source:
    """One source of values, by option name."""

    values: Mapping[str, object]
    places: Mapping[str, str]
    """Where each value stands, in words, by option name."""

    def has(self, option: Option) -> bool:
        return option.name in self.values

    def origin(self, option: Option) -> str:
        return self.places[option.name]

    def value(self, option: Option) -> Value:
        raw = self.values[option.name]
        try:
            return option.parse(raw)
        except ValueError as allowed:
            place = self.origin(option)
            raise SettingsError(
                f"{place}: {option.name} = {raw!r} is not allowed: give {allowed}",
                next_step=f"correct the {place}; docs/settings.md lists what there is",
                # The ValueError only carries what is allowed.
            ) from None


def in_order(
    flags: Mapping[str, object], environment: Mapping[str, str], here: Source
) -> list[Source]:
    """Return every source, in order of precedence."""
    given = {name: value for name, value in flags.items() if value is not None}
    return [
        Source(given, {name: _flag(name) for name in given}),
        _variables(environment),
        here,
        _file(trust.own_folder(environment) / "config.toml"),
    ]


def folders_own(
    folder: Path, environment: Mapping[str, str]
) -> tuple[Source, str | None]:
    """Return what counts of a folder's own file, and what is said of the rest."""
    # Read once, so that what is parsed is what was trusted.
    content = trust.content_of(folder)
    if content is None:
        return Source({}, {}), None
    source = parsed(folder / trust.FILE, content)
    names = [each.name for each in OPTIONS if each.needs_trust_in(source.values)]
    if not names:
        return source, None
    known = trust.trusted(environment)
    if trust.is_trusted(folder, content, known):
        return source, None
    was_trusted = str(folder.resolve()) in known
    kept = {name: source.values[name] for name in source.values if name not in names}
    said = trust.notice(folder, names, was_trusted=was_trusted)
    return Source(kept, source.places), said


def _flag(name: str) -> str:
    return "flag --" + name.replace(".", "-").replace("_", "-")


def _variables(environment: Mapping[str, str]) -> Source:
    values: dict[str, object] = {}
    places: dict[str, str] = {}
    for option in OPTIONS:
        # An empty variable counts as none given, as in a shell.
        for name in option.variables:
            if environment.get(name):
                values[option.name] = environment[name]
                places[option.name] = f"variable {name}"
                break
            # Containers and systemd hand secrets over in files, which `ps` does not show.
            if option.secret and (path := environment.get(name + _IN_FILE)):
                values[option.name] = _secret(Path(path), name + _IN_FILE)
                places[option.name] = f"file {path}"
                break
    return Source(values, places)


def ignored(environment: Mapping[str, str]) -> tuple[str, ...]:
    """Return a message for each variable with our prefix that sets nothing."""
    known = {variable for option in OPTIONS for variable in option.variables}
    known |= {
        variable + _IN_FILE
        for option in OPTIONS
        if option.secret
        for variable in option.variables
    }
    # Reported, not refused: the environment may serve several versions; a file is ours
    # alone.
    return tuple(
        _no_such("environment", name, known)
        for name in sorted(environment)
        if name.startswith(_PREFIX) and name not in known and name != DEBUG
    )


def _secret(path: Path, variable: str) -> str:
    try:
        return path.read_text(encoding="utf-8").strip()
    except (OSError, ValueError) as error:
        raise SettingsError(
            f"{variable} names {str(path)!r}, which cannot be read: {error}",
            next_step=f"correct or unset {variable}",
        ) from error


def _file(path: Path) -> Source:
    try:
        content = path.read_bytes()
    except FileNotFoundError:
        return Source({}, {})
    except OSError as error:
        raise _unreadable(path, error) from error
    return parsed(path, content)


def _unreadable(path: Path, error: Exception) -> SettingsError:
    return SettingsError(
        f"{path} cannot be read: {error}", next_step=f"correct or remove {path}"
    )


def parsed(path: Path, content: bytes) -> Source:
    try:
        tables = tomllib.loads(content.decode())
    # RecursionError: tomllib descends once for each level of nested arrays.
    except (ValueError, RecursionError) as error:
        raise _unreadable(path, error) from error
    values = dict(_flat(tables))
    known = {option.name for option in OPTIONS}
    for name in values:
        if name not in known:
            raise SettingsError(
                _no_such(str(path), name, known),
                next_step="docs/settings.md lists what there is",
            )
    return Source(values, dict.fromkeys(values, f"file {path}"))


def _flat(table: Mapping[str, Any], prefix: str = "") -> Iterator[tuple[str, object]]:
    """Yield tables as dotted names with their values; `biases` is itself a value."""
    for key, value in table.items():
        name = prefix + key
        if isinstance(value, dict) and name != "biases":
            yield from _flat(value, name + ".")
        else:
            yield name, value


def _no_such(place: str, name: str, known: set[str]) -> str:
    return f"{place}: there is no setting {name!r}{meant(name, known)}"
