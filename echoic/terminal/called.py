"""How this program can be called from here, and hints that say it so.

What is printed as a command can be typed as it stands.
"""

import re
import shutil
import sys
from functools import cache
from pathlib import Path

from echoic.terminal.commands import COMMANDS

# Only before the name of a command, and not within a path or a quotation: "echoic is up"
# is a sentence.
_A_COMMAND = re.compile(rf"(?<![\w./'\"-])echoic (?=(?:{'|'.join(COMMANDS)})\b)")


def as_typed(text: str) -> str:
    """Return the text with its commands as they can be typed here."""
    return _A_COMMAND.sub(lambda _: f"{program()} ", text)


@cache
def program() -> str:
    """Return `echoic` if that is this program, else its script's path, else the module."""
    script = Path(sys.executable).with_name("echoic")
    if not script.exists():
        return f"{Path(sys.executable).name} -m echoic"
    known = shutil.which("echoic")
    # The one on the PATH may be another installation.
    if known is not None and Path(known).samefile(script):
        return "echoic"
    near = script.is_relative_to(Path.cwd())
    return str(script.relative_to(Path.cwd()) if near else script)
