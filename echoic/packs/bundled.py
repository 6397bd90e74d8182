"""The packs that come with the program, with their recordings and sensors.

They lie beside the code, in a clone as in an installed wheel, and are read as data;
nothing imports them.
"""

import sys
from pathlib import Path

PACKS = Path(__file__).parents[2] / "packs"
RECORDING = PACKS / "survival" / "recording" / "evening.echoic"


def found(path: Path) -> Path:
    """Return an existing path as given, else a bundled one such as `desk`."""
    if path.exists():
        return path
    for folder in (PACKS, PACKS.parent):
        known = (folder / path).resolve()
        # Resolved, so that `..` cannot lead out of the bundled packs.
        if known.is_relative_to(PACKS.resolve()) and known.exists():
            return known
    return path


def extra(name: str) -> str:
    """Return the command that installs an optional dependency."""
    if (PACKS.parent / "pyproject.toml").exists():
        return "make setup"
    return f"{sys.executable} -m pip install 'echoic[{name}]'"
