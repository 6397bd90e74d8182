"""What commands share: their common options, and the settings these give."""

from pathlib import Path
from typing import Annotated

import typer

from echoic.config.load import Settings, load
from echoic.terminal.output import note

Data = Annotated[
    Path | None,
    typer.Option("--data", metavar="FOLDER", help="The folder of the instance."),
]
Agent = Annotated[
    str | None,
    typer.Option("--agent", metavar="NAME", help="Which companion; else ECHOIC_AGENT."),
]
Json = Annotated[bool, typer.Option("--json", help="Print JSON, for programs.")]


def new_app(name: str, about: str) -> typer.Typer:
    """A group of commands that loads fast: plain help, no completion."""
    return typer.Typer(
        name=name,
        help=about,
        no_args_is_help=True,
        add_completion=False,
        rich_markup_mode=None,
        pretty_exceptions_enable=False,
    )


def settings_of(
    data: Path | None = None, agent: str | None = None, **flags: object
) -> Settings:
    """The settings with these flags on top."""
    given = {name.replace("__", "."): value for name, value in flags.items()}
    found = load({"data": None if data is None else str(data), "agent": agent, **given})
    for each in found.ignored:
        note(f"echoic: {each}; it is ignored")
    if found.strategies_modules:
        # Imported here: most commands decide nothing, and should start at once.
        from handlers.mind.strategies import modules

        modules.allow(found.strategies_modules)
    return found
