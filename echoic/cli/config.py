"""`echoic config`: the settings in force, and where each came from."""

import os
from collections.abc import Mapping
from pathlib import Path
from typing import Annotated, Any

import typer

from echoic.cli.connected import on_instance
from echoic.cli.options import Call, Json, new_app
from echoic.client.instance_note import read_note
from echoic.config import sources
from echoic.config import trust as trusting
from echoic.config.load import concealed, shown
from echoic.config.options import OPTIONS
from echoic.errors import FINDING, EchoicError
from echoic.terminal.output import note

app = new_app("config", "The settings, where they come from, and whose are obeyed.")

_Folder = Annotated[
    Path, typer.Argument(metavar="FOLDER", help="Else the current one.")
]


@app.callback()
def _group() -> None:
    """The settings, where they come from, and whose are obeyed."""


@app.command()
def show(call: Call, origin: bool = False) -> None:
    """Show every setting as it is in force.

    Where an instance runs over the data folder, that is what it started with, and what the
    agent has of its own; else what this shell and its files say.

    Examples: `echoic config show --origin`, `ECHOIC_THRESHOLD=0.6 echoic config show`.

    Args:
        origin: Say where each value came from.
    """
    settings = call.settings
    values = {option.name: shown(settings, option) for option in OPTIONS}
    origins = dict(settings.origins)
    differ = _differing(call)
    for name, (value, whose) in differ.items():
        origins[name] = f"{whose}; here {_text(values.get(name))}"
        values[name] = value
    if differ:
        note(f"what runs differs from this shell in {', '.join(sorted(differ))}")
    rows = [(name, _text(values[name]), origins[name]) for name in values]
    fields = {"settings": values, "origins": origins}
    header = ("setting", "value", "from") if origin else ("setting", "value")
    if call.as_json:
        call.show(fields, ())
    else:
        cells = [row[: len(header)] for row in rows]
        call.show_rows(rows, header, cells)


def _differing(call: Call) -> dict[str, tuple[Any, str]]:
    """Return the settings that the running instance has otherwise; empty if none runs."""
    if read_note(call.settings.data) is None or call.settings.nats_url:
        return {}
    # Imported here: without an instance nothing of the mind is needed.
    from echoic.client.in_force import differing

    try:
        return on_instance(call, lambda found: differing(found, call.settings))
    except EchoicError as error:
        note(f"the instance does not tell ({error}): these are this shell's")
        return {}


@app.command()
def trust(folder: _Folder = Path()) -> None:
    """Obey all that a folder's `echoic.toml` says, until the file changes.

    Without it, what there runs a program, loads files, sends data or opens a port does not
    count. It says which settings these are; packs in the folder `packs` are loaded, too.

    Example: `echoic config trust`.
    """
    content = trusting.content_of(folder)
    given = sources.parsed(folder / trusting.FILE, content or b"")
    now = {
        each: given.value(each) for each in OPTIONS if each.needs_trust_in(given.values)
    }
    trusting.trust(folder, content, os.environ)
    print(f"{folder.resolve()} is trusted until its {trusting.FILE} changes")
    for option, value in now.items():
        print(f"  {option.reach}: {option.name} = {_text(concealed(option, value))}")


@app.command()
def trusted(as_json: Json = False) -> None:
    """List the folders that are trusted.

    Example: `echoic config trusted`.
    """
    known = trusting.trusted(os.environ)
    rows = [{"folder": path, "state": _state(Path(path), known)} for path in known]
    cells = ((row["folder"], row["state"]) for row in rows)
    Call(as_json=as_json).show_rows(rows, ("folder", "state"), cells, "no folder")


@app.command()
def distrust(folder: _Folder = Path()) -> None:
    """Trust a folder no longer.

    Example: `echoic config distrust ~/games/cave`.
    """
    if not trusting.distrust(folder, os.environ):
        note(f"{folder.resolve()} was not trusted")
        raise typer.Exit(FINDING)
    print(f"{folder.resolve()} is not trusted any more")


def _state(folder: Path, known: Mapping[str, str]) -> str:
    if not folder.is_dir():
        return "gone"
    content = trusting.content_of(folder)
    return "trusted" if trusting.is_trusted(folder, content, known) else "changed since"


def _text(value: object) -> str:
    # Zero and False are values; only what is empty is shown as none.
    if value is None or value in ("", (), {}):
        return "-"
    if isinstance(value, tuple):
        is_price = isinstance(value[0], float)
        return ",".join(map(str, value)) if is_price else "; ".join(value)
    if isinstance(value, dict):
        return "; ".join(f"{name}={number:g}" for name, number in value.items())
    return str(value)
