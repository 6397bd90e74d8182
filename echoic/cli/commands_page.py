"""The page of all commands, made from their own help."""

from collections.abc import Iterator
from typing import Any

import typer

from echoic.cli.program import command
from echoic.terminal.commands import COMMANDS

_WIDTH = 80
_INTRODUCTION = """\
# Commands

Results go to stdout and everything else to stderr; `--json` prints the same results for
programs. Exit codes: 0 done, 1 found something wrong or nothing, 2 wrong usage or data,
3 nobody answers, 101 a bug, 130 interrupted. Ids may be given by their first characters.
This page is generated: `make docs` writes it, `make check` compares it.
"""


def render() -> str:
    """Return the whole page."""
    program = command()
    root = _context(program, "echoic", None)
    sections = [_INTRODUCTION]
    for name in COMMANDS:
        sections.extend(_sections(program.get_command(root, name), name, root))
    return "\n".join(sections)


def _sections(verb: Any, name: str, parent: typer.Context) -> Iterator[str]:
    context = _context(verb, name, parent)
    level = "##" if parent.parent is None else "###"
    yield f"{level} {context.command_path}\n\n```text\n{verb.get_help(context)}\n```\n"
    for each in getattr(verb, "commands", {}):
        yield from _sections(verb.commands[each], each, context)


def _context(verb: Any, name: str, parent: typer.Context | None) -> typer.Context:
    return typer.Context(
        # A fixed width, so that the page does not depend on who generates it.
        verb,
        parent=parent,
        info_name=name,
        terminal_width=_WIDTH,
        max_content_width=80,
    )
