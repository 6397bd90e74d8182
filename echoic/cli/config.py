"""`echoic config`: the settings in force, and where each came from."""

from typing import Annotated

import typer

from echoic.cli.options import Agent, Data, Json, new_app, settings_of
from echoic.config.load import shown
from echoic.config.options import OPTIONS
from echoic.terminal.output import print_json, table

app = new_app("config", "The settings and where they come from.")


@app.callback()
def _group() -> None:
    """The settings and where they come from."""


@app.command()
def show(
    origin: Annotated[
        bool, typer.Option("--origin", help="Say where each value came from.")
    ] = False,
    data: Data = None,
    agent: Agent = None,
    as_json: Json = False,
) -> None:
    """Show every setting.

    Examples: `echoic config show --origin`, `ECHOIC_THRESHOLD=0.6 echoic config show`.
    """
    settings = settings_of(data, agent)
    if as_json:
        values = {option.name: shown(settings, option) for option in OPTIONS}
        print_json({"v": 1, "settings": values, "origins": dict(settings.origins)})
        return
    rows = [
        (option.name, _text(shown(settings, option)), settings.origins[option.name])
        for option in OPTIONS
    ]
    if origin:
        table(rows, ("setting", "value", "from"))
    else:
        table([row[:2] for row in rows], ("setting", "value"))


def _text(value: object) -> str:
    if value is None or value in ("", (), {}):
        return "-"
    if isinstance(value, tuple):
        return "; ".join(value)
    if isinstance(value, dict):
        return "; ".join(f"{name}={number:g}" for name, number in value.items())
    return str(value)
