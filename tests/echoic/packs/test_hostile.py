"""A pack that means harm to whoever reads it: files without an end, and names for terminals."""

import os
from collections.abc import Callable
from pathlib import Path

import pytest

from echoic.packs.load import check
from tests.echoic.packs.test_load import GOOD, codes


def written(folder: Path, text: str) -> Path:
    """A pack with this manifest."""
    (folder / "manifest.yaml").write_text(text)
    return folder


def linked(folder: Path, file: str, target: str) -> None:
    """Have a file of a pack be another one."""
    (folder / file).unlink(missing_ok=True)
    (folder / file).symlink_to(target)


@pytest.mark.parametrize(
    "made",
    [
        lambda file: os.mkfifo(file),
        lambda file: file.symlink_to("/dev/zero"),
        lambda file: file.mkdir(),
        lambda file: file.write_bytes(b"a: 1\n" * 1_000_000),
    ],
    ids=["pipe", "device", "folder", "large"],
)
def test_a_manifest_without_an_end_is_a_problem(
    tmp_path: Path, made: Callable[[Path], object]
) -> None:
    """It neither hangs nor fills the memory, and none of it is shown."""
    made(tmp_path / "manifest.yaml")

    (problem,) = check(tmp_path).problems

    assert problem.code in ("E-PACK-001", "E-PACK-002")
    assert problem.excerpt == ""


@pytest.mark.parametrize("target", ["/dev/zero", "/etc/passwd", "../secret", "pipe"])
def test_a_prompt_by_a_link_is_read_within_the_pack_alone(
    tmp_path: Path, target: str
) -> None:
    """A link is followed before it is looked where it leads."""
    folder = written(
        tmp_path,
        GOOD.replace("executive:\n", 'executive:\n  system_prompt: "@me.txt"\n'),
    )
    (folder.parent / "secret").write_text("a password")
    os.mkfifo(folder / "pipe")
    linked(folder, "me.txt", target)

    assert codes(folder) == [(8, 18, "E-PACK-015")]


@pytest.mark.parametrize(
    "name", ["a\\u0007b", "a\\nb", "a\\u202eb", "../a", "a/b", "", "a" * 300, "\\e[2J"]
)
def test_a_name_that_a_terminal_would_obey_is_refused(
    tmp_path: Path, name: str
) -> None:
    """Names are shown, and become file names and parts of ids."""
    assert codes(written(tmp_path, GOOD.replace("name: kitchen", f'name: "{name}"')))
    assert codes(written(tmp_path, GOOD.replace("name: remind", f'name: "{name}"')))
