"""How a problem of a pack is shown."""

from pathlib import Path

import pytest
from rich.cells import cell_len

from echoic.packs.problems import Problem, render


@pytest.mark.parametrize(
    ("before", "behind", "line"),
    [
        ("", "y" * 100, "X" + "y" * 79 + "…"),
        ("x" * 100, "", "…" + "x" * 79 + "X"),
        ("x" * 100, "y" * 100, "…" + "x" * 40 + "X" + "y" * 39 + "…"),
        ("x" * 40, "y" * 39, "x" * 40 + "X" + "y" * 39),
        ("好" * 100, "", "…" + "好" * 79 + "X"),
    ],
)
def test_a_long_line_is_cut_around_the_problem(
    before: str, behind: str, line: str
) -> None:
    """What is left out shows as an ellipsis, and the caret stays under its column."""
    shown = render(
        Problem(
            file=Path("manifest.yaml"),
            line=1,
            column=len(before) + 1,
            code="E-PACK-002",
            message="is no YAML",
            excerpt=f"{before}X{behind}",
        )
    )
    _, excerpt, caret = shown.splitlines()

    assert excerpt == f"    1 | {line}"
    assert cell_len(caret) == cell_len(excerpt[: excerpt.index("X") + 1])
