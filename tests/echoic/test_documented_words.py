"""The pages name every word of the closed lists that people meet."""

from typing import get_args

import pytest

from schemas.values.reasons import Path
from tests.echoic.cli.conftest import ROOT


@pytest.mark.parametrize("path", get_args(Path))
def test_every_path_is_in_glossary_and_tags(path: str) -> None:
    """A stranger meets them in `explain`, in a trace, and in the tables."""
    glossary = (ROOT / "docs" / "glossary.md").read_text()
    entry = glossary.partition("- **path**")[2].partition("\n- **")[0]
    tracing = (ROOT / "docs" / "tracing.md").read_text()
    (row,) = (
        line
        for line in tracing.splitlines()
        if line.startswith("| `echoic.decision.path`")
    )

    assert f"`{path}`" in entry
    assert f"`{path}`" in row
