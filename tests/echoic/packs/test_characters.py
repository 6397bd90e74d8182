"""What is told of a `mind` that cannot be."""

from pathlib import Path

from echoic.packs.load import check

GOLEM = """\
schema: 1
name: golem
version: "1.0"
mind:
  autonomous:
    tier: 9
    actions:
      - {id: Wait, kind: look}
"""


def test_a_number_of_a_few_is_told_with_those(tmp_path: Path) -> None:
    """Numbers stand in pydantic's text without the quotes that names have."""
    (tmp_path / "manifest.yaml").write_text(GOLEM)

    [problem] = check(tmp_path).problems

    assert (problem.line, problem.column) == (6, 11)
    assert "tier cannot be 9" in problem.message
    assert problem.suggestion == "use one of: 0, 1, 2, 3"
