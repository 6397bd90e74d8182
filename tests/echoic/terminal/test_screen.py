"""How screens are laid out: width, colour, wide characters, and hostile text."""

import re
import sys
from io import StringIO
from pathlib import Path

import pytest
from rich.cells import cell_len
from rich.console import RenderableType

from echoic.terminal import output
from echoic.terminal.screen import (
    Terminal,
    cut,
    indented,
    marked,
    pairs,
    rendered,
    table,
    text,
    verbatim,
    words,
)

HOSTILE = "a\x1b[31mb\x9b2Jc\x07d\u202ee\x7ff"
SCREENS = Path(output.__file__).parent


def every_way(content: str) -> list[RenderableType]:
    """The same text in each part that a screen can have."""
    return [
        content,
        text((content, "bold")),
        indented(2, content),
        marked(("·", "red"), content),
        table((cut("event"), words("why")), [(content, content)]),
        pairs({content: content}),
        verbatim(content),
    ]


@pytest.mark.parametrize("colour", [False, True])
def test_no_text_commands_a_terminal(colour: bool) -> None:
    """In no part of a screen; the colours are the only sequences there are."""
    shown = rendered(every_way(HOSTILE), Terminal(80, colour))

    plain = re.sub(r"\x1b\[\d*m", "", shown)
    assert not re.search("[\x00-\x09\x0b-\x1f\x7f-\x9f\u202a-\u202e]", plain)
    assert plain.count(r"a\x1b[31mb\x9b2Jc\x07d\u202ee\x7ff") == 9


@pytest.mark.parametrize("width", [24, 40, 80, 120])
@pytest.mark.parametrize(
    "content", ["暖炉の火 " * 20, "fire 🔥 " * 20, "[b]x[/b] " * 20]
)
def test_no_part_is_wider_than_the_terminal(width: int, content: str) -> None:
    """Ideographs and emoji count twice, and nothing is taken for markup."""
    *laid_out, _ = every_way(content)
    lines = rendered(laid_out, Terminal(width)).split("\n")

    assert max(map(cell_len, lines)) <= width
    assert ("[b]x[/b]" in "\n".join(lines)) == content.startswith("[b]")


def test_what_is_verbatim_keeps_its_lines() -> None:
    """However long they are, as those of a file with a caret below."""
    content = "long " * 40 + "\n" + " " * 30 + "^"

    assert rendered([verbatim(content)], Terminal(40)).split("\n") == [
        line.rstrip() for line in content.split("\n")
    ]


class Tty(StringIO):
    """A stream that is a terminal."""

    def isatty(self) -> bool:
        """Whether it is one."""
        return True


@pytest.mark.parametrize(
    ("stream", "variables", "found"),
    [
        (Tty, {"COLUMNS": "90"}, Terminal(90, colour=True)),
        (Tty, {"COLUMNS": "90", "NO_COLOR": "1"}, Terminal(90)),
        (Tty, {"COLUMNS": "90", "NO_COLOR": ""}, Terminal(90, colour=True)),
        (Tty, {"COLUMNS": "90", "TERM": "dumb"}, Terminal(90)),
        (StringIO, {}, Terminal(140)),
        (StringIO, {"COLUMNS": "90", "FORCE_COLOR": "1"}, Terminal(90, colour=True)),
        (StringIO, {"FORCE_COLOR": "1", "NO_COLOR": "1"}, Terminal(140)),
    ],
)
def test_the_terminal_is_known_by_its_variables(
    monkeypatch: pytest.MonkeyPatch,
    stream: type[StringIO],
    variables: dict[str, str],
    found: Terminal,
) -> None:
    """A pipe has no colour and much room; NO_COLOR goes before all else."""
    for name in ("COLUMNS", "NO_COLOR", "FORCE_COLOR", "TERM"):
        monkeypatch.delenv(name, raising=False)
    for name, value in variables.items():
        monkeypatch.setenv(name, value)
    monkeypatch.setattr(sys, "stdout", stream())

    assert output.terminal() == found


def test_only_one_module_makes_texts() -> None:
    """So that none is made without what would command a terminal being written out."""
    for file in SCREENS.glob("*.py"):
        if file.name != "screen.py":
            source = file.read_text()
            assert not re.search(r"\bText[(.]", source), file
            assert "\\x1b" not in source, file
