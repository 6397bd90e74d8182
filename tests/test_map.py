"""The map in docs/architecture.md: each path exists, and holds what is to be looked for."""

import re
from pathlib import Path

import pytest

ROOT = Path(__file__).parent.parent
PAGE = (ROOT / "docs" / "architecture.md").read_text(encoding="utf-8")
SECTION = PAGE.partition("## To change this, go there")[2].partition("\n## ")[0]
PLACES = re.findall(r"^\| (.+?) \| `(\S+)` \| `(\w+)` \|$", SECTION, re.MULTILINE)


def test_the_map_has_thirty_requests() -> None:
    """And each row of its table is read here."""
    rows = [line for line in SECTION.splitlines() if line.startswith("| ")]

    assert len(PLACES) == len(rows) - len(["head"]) >= 30


@pytest.mark.parametrize(("request_", "path", "name"), PLACES)
def test_what_is_sought_is_there(request_: str, path: str, name: str) -> None:
    """A file that moves takes its line along."""
    source = (ROOT / path).read_text(encoding="utf-8")

    assert re.search(rf"\b{name}\b", source), request_
