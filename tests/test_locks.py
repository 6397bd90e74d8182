"""What a setup installs: pinned, with the hash of every file that pip may take."""

import re
from pathlib import Path

import pytest

from tests.pythons import PACKAGES, locked

ROOT = Path(__file__).parent.parent
LOCKS = sorted((ROOT / "locks").glob("*.txt"))


def normal(name: str) -> str:
    return re.sub(r"[-_.]+", "-", name).lower()


def pins(text: str) -> dict[str, str]:
    """Versions by name."""
    found = re.findall(r"(?m)^([\w.-]+)==([^\s;]+)", text)
    return {normal(name): version for name, version in found}


@pytest.mark.parametrize("lock", LOCKS, ids=lambda path: path.name)
def test_each_version_is_that_of_the_constraints_and_has_hashes(lock: Path) -> None:
    """One place says which versions; locks add the hashes, and name no address."""
    text = lock.read_text()
    known = pins((ROOT / "constraints.txt").read_text())
    entries = re.split(r"(?m)^(?=\w)", text)[1:]

    assert pins(text).items() <= known.items()
    assert len(entries) == len(pins(text))
    for entry in entries:
        assert re.search(r"--hash=sha256:[0-9a-f]{64}", entry), entry
    assert "://" not in text


def test_what_is_required_is_locked() -> None:
    """A dependency that is added without `make locks` fails here, not at somebody's setup."""
    project = (ROOT / "pyproject.toml").read_text()
    runs = pins((ROOT / "locks" / "runs.txt").read_text())
    required = re.findall(
        r'(?m)^    "([\w.-]+)', project.partition("[project.optional-dependencies]")[0]
    )

    assert len(required) > 20
    assert {normal(each) for each in required} - {"programming-language"} <= runs.keys()


def test_the_makefile_takes_nothing_without_a_hash() -> None:
    """Third parties by hash, the project itself without its dependencies or its builder."""
    makefile = (ROOT / "Makefile").read_text()
    installs = re.findall(r"\$\((?:PIP|UV)\) (.*)", makefile)

    assert len(installs) == 5
    for each in installs:
        by_hash = "$(HASHED) " in each
        assert by_hash or "--no-deps --no-build-isolation --editable ." in each
    # uv itself is third party, too, and pip stands in where it cannot be had.
    assert "$(PIP) --quiet $(HASHED) -r locks/uv.txt" in makefile
    assert "HASHED := --require-hashes --no-deps" in makefile


def test_other_pythons_take_the_same_files() -> None:
    """The environments that sessions are verified in have hashes, too."""
    assert pins(locked()).keys() == {normal(each) for each in PACKAGES}
    assert "--hash=sha256:" in locked()
