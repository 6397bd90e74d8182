"""`echoic doctor`: checks the installation and what runs, and says how to mend it."""

import asyncio
from collections.abc import Iterator
from itertools import chain
from typing import Annotated

import typer
from rich.text import Text

from echoic import errors
from echoic.cli.options import Call, new_app
from echoic.cli.progress import waiting
from echoic.config.load import Settings
from echoic.doctor import Check, of_installation, of_instance
from echoic.terminal.called import as_typed
from echoic.terminal.screen import counted, table, text, words

app = new_app("doctor", "Check the whole installation.")

_MARKS = {"fine": ("✓", "green"), "notice": ("!", "yellow"), "problem": ("✗", "red")}


@app.command()
def doctor(
    call: Call, zero: Annotated[bool, typer.Option("--exit-zero")] = False
) -> None:
    """Check everything there is; each problem names the command that mends it.

    A running instance tries for itself what it needs: its model says one word, its
    collector takes a batch of nothing.

    Examples: `echoic doctor`, `echoic doctor --json`. The exit code is 1 if something
    is wrong.

    Args:
        zero: Exit with 0 whatever is found.
    """
    settings = call.settings
    # The installation first: what is wrong there explains what is wrong with the instance.
    checks = [*of_installation(settings), *asyncio.run(_of_instance(settings))]
    problems = [check for check in checks if check.verdict == "problem"]
    notices = sum(check.verdict == "notice" for check in checks)
    call.show(
        {"checks": checks},
        (
            table(("", words()), chain.from_iterable(map(_rows, checks))),
            f"{counted(len(problems), 'problem')}, {counted(notices, 'notice')}",
        ),
    )
    if problems and not zero:
        raise typer.Exit(errors.FINDING)


async def _of_instance(settings: Settings) -> list[Check]:
    async with waiting("the instance, which asks its model if it has one"):
        return await of_instance(settings)


def _rows(check: Check) -> Iterator[tuple[str | Text, str]]:
    yield text(_MARKS[check.verdict], f" {check.name}"), check.found
    if check.advice:
        yield "", f"→ {as_typed(check.advice)}"
