"""What a checkpoint is bound to: all code that shapes a state."""

import shutil
from pathlib import Path

import pytest

from handlers import state_sources
from handlers.state_sources import PURE, state_code

ROOT = Path(__file__).parents[2]


@pytest.fixture(scope="module")
def copied(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A copy of the packages, to be changed."""
    folder = tmp_path_factory.mktemp("sources")
    for name in PURE:
        shutil.copytree(
            ROOT / name, folder / name, ignore=shutil.ignore_patterns("__pycache__")
        )
    shutil.copy(ROOT / "handlers" / "aids.py", folder / "handlers")
    return folder


@pytest.mark.parametrize(
    "name",
    [
        "schemas/state/agent.py",
        "projections/folds/timers.py",
        "projections/rows/agents.py",
        "handlers/mind/stages/salience.py",
        "handlers/aids.py",
    ],
)
def test_an_edit_of_what_shapes_a_state_is_other_code(copied: Path, name: str) -> None:
    """One line of a fold is enough, and taking it back makes the code the same again."""
    ours = state_sources._digest_of(copied)
    assert ours == state_sources._digest_of(ROOT)

    file = copied / name
    before = file.read_bytes()
    file.write_bytes(before + b"# edited\n")
    assert state_sources._digest_of(copied) != ours

    file.write_bytes(before)
    assert state_sources._digest_of(copied) == ours


def test_a_library_or_an_embedder_is_other_code(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """Since the bytes of a state depend on them."""
    ours = state_sources._digest_of(ROOT)
    monkeypatch.setattr(state_sources, "version", lambda _: "0.0")

    assert state_sources._digest_of(ROOT) != ours
    assert state_code("one") != state_code("other")
