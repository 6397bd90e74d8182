"""What commands share: the options that name an instance, and the settings these give."""

import inspect
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from functools import cached_property, wraps
from pathlib import Path
from typing import Annotated, Any, TypeAlias, get_args, get_origin

import typer

from echoic.config.load import Settings, load
from echoic.terminal.output import note, print_json

Data = Annotated[
    Path | None,
    typer.Option("--data", metavar="FOLDER", help="The folder of the instance."),
]
Agent = Annotated[
    str | None,
    typer.Option("--agent", metavar="NAME", help="Which companion; else ECHOIC_AGENT."),
]
Json = Annotated[bool, typer.Option("--json", help="Print JSON, for programs.")]


@dataclass(frozen=True)
class Call:
    """The options that commands share: instance, agent, and JSON or text.

    A command that takes one has the options `--data`, `--agent` and `--json`.
    """

    data: Path | None = None
    agent: str | None = None
    as_json: bool = False

    @cached_property
    def settings(self) -> Settings:
        """The settings, with these options on top."""
        return settings_of(self.data, self.agent)

    def show(self, fields: dict[str, Any], lines: Iterable[str]) -> None:
        """Print a result as JSON for programs, else the lines, which may be lazy."""
        if self.as_json:
            print_json({"v": 1, **fields})
            return
        for line in lines:
            print(line, flush=True)


_OPTIONS: dict[str, tuple[Any, object]] = {
    "data": (Data, None),
    "agent": (Agent, None),
    "as_json": (Json, False),
}

TextCall: TypeAlias = Annotated[Call, "data", "agent"]
"""Of a command that prints no JSON."""
InstanceCall: TypeAlias = Annotated[Call, "data", "as_json"]
"""Of a command on the whole instance, or one that names the agent itself."""


class _Commands(typer.Typer):
    """A group whose commands may take a `Call`."""

    def command(self, *names: Any, **details: Any) -> Callable[[Any], Any]:
        """Register a function as a command, as Typer does."""
        register = super().command(*names, **details)

        def registered(work: Callable[..., object]) -> Callable[..., object]:
            register(_with_options(work))
            return work

        return registered


def new_app(name: str, about: str) -> typer.Typer:
    """Create a group of commands that loads fast: plain help, no completion."""
    return _Commands(
        name=name,
        help=about,
        no_args_is_help=True,
        add_completion=False,
        rich_markup_mode=None,
        pretty_exceptions_enable=False,
    )


def _with_options(work: Callable[..., object]) -> Callable[..., object]:
    """Replace a command's `Call` by the options it stands for, after all others."""
    first = next(iter(inspect.signature(work).parameters.values()), None)
    kind = None if first is None else first.annotation
    if first is None or Call not in (kind, *get_args(kind)[:1]):
        return work
    wanted = get_args(kind)[1:] if get_origin(kind) is Annotated else tuple(_OPTIONS)

    @wraps(work)
    def command(**given: Any) -> object:
        return work(Call(**{name: given.pop(name) for name in wanted}), **given)

    own = list(inspect.signature(work).parameters.values())[1:]
    options = [
        inspect.Parameter(
            name, inspect.Parameter.KEYWORD_ONLY, default=default, annotation=option
        )
        for name, (option, default) in _OPTIONS.items()
        if name in wanted
    ]
    signature = inspect.Signature(
        # Typer passes everything by keyword; keyword-only parameters with and without
        # defaults may stand in any order.
        [*(each.replace(kind=inspect.Parameter.KEYWORD_ONLY) for each in own), *options]
    )
    # Typer reads both: the options from the one, their types from the other.
    command.__signature__ = signature  # type: ignore[attr-defined]
    command.__annotations__ = {
        each.name: each.annotation for each in signature.parameters.values()
    }
    return command


def settings_of(
    data: Path | None = None, agent: str | None = None, **flags: object
) -> Settings:
    """Load the settings with these flags on top; `__` in a name stands for a dot."""
    # A keyword cannot contain a dot, and names of settings do: `worker__processes`.
    given = {name.replace("__", "."): value for name, value in flags.items()}
    found = load({"data": None if data is None else str(data), "agent": agent, **given})
    for each in found.ignored:
        note(f"echoic: {each}; it is ignored")
    if found["strategies.modules"]:
        # Imported here: most commands decide nothing, and should start at once.
        from handlers.mind.strategies import plugin

        plugin.allow(found["strategies.modules"])
    return found
