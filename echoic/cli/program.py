"""The program `echoic`: find the command, run it, and turn errors into exit codes.

0 done, 1 found something wrong or nothing, 2 wrong usage or data, 3 nobody
answers, 101 a bug of ours, 130 interrupted.
"""

import os
import sys
from collections.abc import Callable, Iterator, Sequence
from contextlib import suppress
from importlib import import_module
from typing import TYPE_CHECKING, Annotated

import typer
from typer.core import TyperCommand, TyperGroup
from typer.main import get_command

from echoic import errors
from echoic.terminal.called import as_typed
from echoic.terminal.commands import COMMANDS, GROUPS
from echoic.terminal.written_out import written_out

if TYPE_CHECKING:
    from pydantic import ValidationError
from echoic.run.process import prepare

_WIDEST = max(map(len, COMMANDS))

_DOCS = "Docs: README.md and docs/. Every error names the next command."


class _Lazy(TyperGroup):
    """A group whose commands are imported when they are called."""

    def get_command(self, ctx: typer.Context, cmd_name: str) -> TyperCommand | None:  # type: ignore[override]
        """Return the command itself, from its own module."""
        if cmd_name not in COMMANDS:
            return None
        found = get_command(import_module(f"echoic.cli.{COMMANDS[cmd_name][0]}").app)
        # A module may hold a group of that name (`replay`) or several plain commands (`up`,
        # `down`): then the one that was called for is among its members.
        members = getattr(found, "commands", {})
        return members.get(cmd_name, found)  # type: ignore[no-any-return]

    def format_commands(self, ctx: typer.Context, formatter: object) -> None:  # type: ignore[override]
        """List the commands by what they are for, without importing any."""
        for heading, names in GROUPS.items():
            with formatter.section(heading):  # type: ignore[attr-defined]
                # Padded alike, so that the groups make one table.
                rows = [(f"{name:{_WIDEST}}", COMMANDS[name][1]) for name in names]
                formatter.write_dl(rows)  # type: ignore[attr-defined]


app = typer.Typer(
    cls=_Lazy,
    no_args_is_help=True,
    rich_markup_mode=None,
    pretty_exceptions_enable=False,
    epilog=_DOCS,
)


def main(arguments: Sequence[str] | None = None) -> None:
    """Run the program and exit with its code."""
    # Before anything imports numpy or starts a thread.
    prepare()
    sys.exit(run(lambda: command()(arguments, "echoic", standalone_mode=False)))


def run(work: Callable[[], object]) -> int:
    """Run a command; turn whatever it raises into a message and an exit code."""
    try:
        code = work()
    except (KeyboardInterrupt, typer.Abort):
        return errors.INTERRUPTED
    except typer.Exit as ended:
        return ended.exit_code
    except SystemExit as ended:
        # Typer ends so when the reader of our output closes the pipe, which is no failure.
        if not isinstance(ended.__context__, BrokenPipeError):
            raise
        return errors.OK
    except Exception as error:  # noqa: BLE001  # the one place where all errors end
        return _reported(error)
    return code if isinstance(code, int) else errors.OK


def _show_version(wanted: bool) -> None:
    if wanted:
        from importlib.metadata import version

        print(f"echoic {version('echoic')}")
        raise typer.Exit


@app.callback()
def _program(
    show_version: Annotated[
        bool,
        typer.Option(
            "--version",
            help="Show the version and exit.",
            callback=_show_version,
            is_eager=True,
        ),
    ] = False,
) -> None:
    """Decide whether, when and how to respond to what sensors notice."""


def command() -> TyperGroup:
    """Build the whole program as one command."""
    group = get_command(app)
    assert isinstance(group, TyperGroup)
    # Named here so that a misspelt command gets a suggestion.
    group.commands.update({name: TyperCommand(name=name) for name in COMMANDS})
    return group


def _reported(error: Exception) -> int:
    """Print what went wrong on stderr, and return the exit code for it."""
    # The traceback is worth more than a message then.
    if os.environ.get(errors.DEBUG) == "1":
        raise error
    # Click's own usage errors print themselves, with the usage of the command.
    show = getattr(error, "show", None)
    if show is not None:
        show()
        return errors.USAGE
    known = _as_echoic(error)
    if known is None:
        _complain(
            f"echoic: a bug: {type(error).__name__}: {error}\n"
            f"  → {errors.DEBUG}=1 shows where; please report it with that"
        )
        return errors.BUG
    _complain(as_typed(f"echoic: {errors.plainly(known.what)}"))
    if known.next_step:
        _complain(as_typed(f"  → {known.next_step}"))
    return known.exit_code


def _complain(lines: str) -> None:
    # Whoever reads may have hung up, which changes nothing about the exit code.
    with suppress(BrokenPipeError):
        # The lines are ours, the names within them may be anybody's.
        print(written_out(lines, kept="\n\t"), file=sys.stderr, flush=True)


def _as_echoic(error: Exception) -> errors.EchoicError | None:
    """Translate an error of the layers below; None for one that nobody expected."""
    from pydantic import ValidationError

    match error:
        case errors.EchoicError():
            return error
        case ValidationError():
            return errors.EchoicError(_first_fault(error))
        case RecursionError():
            return errors.EchoicError("what was given nests too deep to be read")
        case OSError(filename=str(name), strerror=str(why)):
            return errors.EchoicError(f"{name!r}: {why}")
        case OSError():
            return errors.EchoicError(str(error))
        case _:
            return _of_below(error)


def _of_below(error: Exception) -> errors.EchoicError | None:
    for kinds, translated, next_step in _translations():
        if isinstance(error, kinds):
            return translated(str(error), next_step=next_step)
    return None


def _translations() -> Iterator[
    tuple[tuple[type[Exception], ...], type[errors.EchoicError], str | None]
]:
    """Yield errors of the layers below, what they are here, and the next command."""
    from echoic.embedders import EmbedderError
    from evaluation.compare.fail_on import FailOnError
    from evaluation.ope.jsonl import LineError
    from evaluation.tuning.search import TooFewSessionsError
    from evaluation.tuning.search_space import MissingOptunaError
    from handlers.mind.strategies.registry import UnknownStrategyError
    from handlers.mind.strategies.spec import StrategyTextError
    from projections.errors import ProjectionError, StoreUnavailable
    from replay.cassette import ModelMiss
    from replay.recording.in_force import UnknownTemplateError
    from replay.recording.sessions import UnknownSessionError
    from replay.recording.source import RecordingError
    from schemas.codec.decode import UnreadableOutputError
    from schemas.ports.faults import MissingPackError, MissingStrategyError
    from schemas.values.naming import NamingError
    from schemas.values.settings_by_name import TuningError
    from schemas.values.subjects import SubjectError
    from streams.errors import (
        LogDamaged,
        LogUnavailable,
        PortTaken,
        ServerFailed,
        StreamsError,
    )

    # Before their base classes: that nothing answers has an exit code of its own.
    yield (PortTaken,), errors.NotRunningError, "echoic config show --origin"
    away = (LogUnavailable, ServerFailed, StoreUnavailable)
    yield away, errors.NotRunningError, "echoic doctor"
    yield (UnknownSessionError,), errors.NotFoundError, "echoic session list"
    yield (NamingError,), errors.NotFoundError, "give it in full"
    strategies = (UnknownStrategyError, StrategyTextError, MissingStrategyError)
    yield strategies, errors.EchoicError, "echoic strategy list"
    yield (UnknownTemplateError,), errors.EchoicError, "echoic personality list"
    damaged = (MissingPackError, UnreadableOutputError, LogDamaged)
    yield damaged, errors.EchoicError, "echoic log verify"
    yield (RecordingError,), errors.EchoicError, "echoic session list"
    plain = (
        StreamsError, ProjectionError, SubjectError, EmbedderError, FailOnError, LineError,
        ModelMiss, TooFewSessionsError, MissingOptunaError, TuningError,
    )  # fmt: skip
    yield plain, errors.EchoicError, None


def _first_fault(error: "ValidationError") -> str:
    """Describe the first invalid field of a message that a command made."""
    fault = error.errors(include_url=False)[0]
    place = ".".join(str(part) for part in fault["loc"])
    return f"{place} {fault['input']!r}: {fault['msg']}"
