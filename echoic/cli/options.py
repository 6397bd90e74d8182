"""What commands share: the options that name an instance, and the settings these give."""

import inspect
import os
import re
from collections.abc import Callable, Iterable, Mapping, Sequence
from copy import copy
from dataclasses import dataclass, fields, is_dataclass
from functools import cached_property, wraps
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, Literal, get_args, get_origin

import typer

from echoic.config.load import Settings, load
from echoic.embedders import FILES
from echoic.terminal.called import as_typed
from echoic.terminal.output import note, print_json, show, show_list
from echoic.terminal.screen import Terminal, table, words

if TYPE_CHECKING:
    from rich.console import RenderableType
    from rich.table import Column

Data = Annotated[
    Path | None,
    typer.Option("--data", metavar="FOLDER", help="The folder of the instance."),
]
Agent = Annotated[
    str | None,
    typer.Option("--agent", metavar="NAME", help="Which companion; else ECHOIC_AGENT."),
]
Json = Annotated[bool, typer.Option("--json", help="Print JSON, for programs.")]
Jobs = Annotated[
    int | None, typer.Option(min=1, help="How many processes; else one a processor.")
]
Rope = Annotated[
    float | None,
    typer.Option(
        help="A difference within ± this much makes none; by default 0.02, or a tenth of"
        " the baseline's successes or failures where these are rare."
    ),
]

For = Annotated[
    Literal["these", "alike"],
    typer.Option(
        "--for",
        help="Whom the verdict is about: the people of the log (these), or any like them"
        " (alike), which takes at least 10.",
    ),
]


@dataclass(frozen=True)
class Call:
    """The options that commands share: instance, agent, and JSON or text.

    A command that takes one has the options `--data`, `--agent` and `--json`; so it is with
    any frozen dataclass that a command takes.
    """

    data: Data = None
    agent: Agent = None
    as_json: Json = False

    @cached_property
    def settings(self) -> Settings:
        """The settings, with these options on top."""
        return settings_of(self.data, self.agent)

    def show(
        self,
        fields: Mapping[str, object],
        screen: "Iterable[RenderableType]",
        within: Terminal | None = None,
    ) -> None:
        """Print a result as JSON for programs, else its screen, part by part."""
        if self.as_json:
            print_json({"v": 1, **fields})
            return
        for part in screen:
            show(part, within=within)

    def show_rows(
        self,
        rows: Sequence[object],
        header: "Iterable[str | Column]",
        cells: Iterable[Iterable[object]],
        nothing: str = "nothing yet",
    ) -> None:
        """Print rows whole as JSON for programs, else their cells as a table."""
        if self.as_json:
            print_json({"v": 1, "rows": rows})
        elif rows:
            columns = (
                words(each) if isinstance(each, str) else each for each in header
            )
            show_list(table(columns, cells))
        else:
            note(nothing)


TextCall = Annotated[Call, "data", "agent"]
"""Of a command that prints no JSON."""
InstanceCall = Annotated[Call, "data", "as_json"]
"""Of a command on the whole instance, or one that names the agent itself."""


_BY_NAME = inspect.Parameter.KEYWORD_ONLY
_ARGUMENT = re.compile(r"^ {4}(\w+): (.*(?:\n {8}.*)*)", re.MULTILINE)
"""One entry of a docstring's `Args`: the parameter's name, and what it is for."""


class _Commands(typer.Typer):
    """A group whose commands may take options together, and say in `Args` what they do."""

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
    """Return a command with the options that its dataclasses stand for, each with its help.

    What a parameter is for is said in the docstring, under `Args:`; of a dataclass, in its own.
    """
    about, *_ = (inspect.getdoc(work) or "").partition("\n\nArgs:\n")
    together: dict[str, tuple[Any, tuple[str, ...]]] = {}
    parameters: list[inspect.Parameter] = []
    # Those of every command come last.
    own = inspect.signature(work).parameters.values()
    for each in sorted(own, key=lambda each: each.name == "call"):
        kind, *named = get_args(each.annotation) or (each.annotation,)
        if not is_dataclass(kind):
            parameters.append(_with_help(each, work))
            continue
        parts = [part for part in fields(kind) if not named or part.name in named]
        together[each.name] = kind, tuple(part.name for part in parts)
        for part in parts:
            given = each.replace(
                name=part.name, default=part.default, annotation=part.type
            )
            parameters.append(_with_help(given, kind))

    @wraps(work)
    def command(**given: Any) -> object:
        for name, (kind, parts) in together.items():
            given[name] = kind(**{part: given.pop(part) for part in parts})
        return work(**given)

    command.__doc__ = about
    # Typer reads both: the options from the one, their types from the other. It passes
    # everything by keyword; keyword-only parameters with and without defaults may stand in
    # any order.
    command.__signature__ = inspect.Signature(parameters)  # type: ignore[attr-defined]
    command.__annotations__ = {each.name: each.annotation for each in parameters}
    return command


def _with_help(parameter: inspect.Parameter, said_by: object) -> inspect.Parameter:
    """Return a parameter as Typer wants it; a flag has no second, negative name."""
    helps = dict(_ARGUMENT.findall(inspect.getdoc(said_by) or ""))
    about = " ".join(helps.get(parameter.name, "").split())
    kind, *given = get_args(parameter.annotation) or (parameter.annotation,)
    if get_origin(parameter.annotation) is not Annotated:
        kind, given = parameter.annotation, []
    if kind is typer.Context:
        return parameter.replace(kind=_BY_NAME)
    is_argument = parameter.default is inspect.Parameter.empty
    made = typer.Argument() if is_argument else typer.Option()
    # Some are shared by several commands.
    info = copy(given[0]) if given else made
    info.help = info.help or about or None
    # Typer takes the first name of an option for its default.
    if kind is bool and info.default is ...:
        info.default = f"--{parameter.name.replace('_', '-')}"
    return parameter.replace(kind=_BY_NAME, annotation=Annotated[kind, info])


def settings_of(
    data: Path | None = None, agent: str | None = None, **flags: object
) -> Settings:
    """Load the settings with these flags on top; `__` in a name stands for a dot."""
    # A keyword cannot contain a dot, and names of settings do: `worker__processes`.
    given = {name.replace("__", "."): value for name, value in flags.items()}
    found = load({"data": None if data is None else str(data), "agent": agent, **given})
    for each in found.ignored:
        note(f"echoic: {each}; it is ignored")
    if found.withheld:
        note(f"echoic: {as_typed(found.withheld)}")
    if found.embedder_files:
        # Processes that are started take it from there, whichever embedders they make.
        os.environ[FILES] = found.embedder_files
    if found["strategies.modules"]:
        # Imported here: most commands decide nothing, and should start at once.
        from handlers.mind.strategies import plugin

        plugin.allow(found["strategies.modules"])
    return found
