"""The shape of a made-up tree is counted right, and that of this one at all."""

import importlib
from pathlib import Path

import pytest

from bench.shape import ceilings
from bench.shape.__main__ import limited, measured, show
from bench.shape.ceilings import CEILINGS
from bench.shape.concepts import types_of
from bench.shape.flow import flow_of
from bench.shape.imports import imports_of
from bench.shape.lines import text_of

FILES = {
    "__init__": '"""A package."""\n',
    "top": (
        '"""The top.\n\nOf two lines."""\n'
        "import shapely_made.left\nfrom shapely_made import right, ring_b\n\n"
        "# Why it stands here.\nLIMIT, _hidden = 1, 2\n"
        '"""What it is for."""\n'
        "def decide():\n"
        '    """Decide."""\n'
        "    right.low(left=True)  # another comment\n"
        "    return shapely_made.left.high()  # noqa: X1\n"
    ),
    "left": (
        "from shapely_made import ring_a\n"
        "def high():\n    return ring_a.turn()\n" + "\n" * 70
    ),
    "right": "def low(left):\n    return left\n",
    "ring_a": "def turn():\n    from shapely_made import ring_b\n    return ring_b.NAME\n",
    "ring_b": "from shapely_made import ring_a\nNAME = ring_a\n",
}


@pytest.fixture
def made(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A package of five modules, two of which import each other."""
    folder = tmp_path / "shapely_made"
    folder.mkdir()
    for name, source in FILES.items():
        (folder / f"{name}.py").write_text(source)
    monkeypatch.syspath_prepend(tmp_path)
    return folder


def test_lines(made: Path) -> None:
    """Neither docstrings nor blank lines are code; a directive is no comment."""
    found = text_of([made / "top.py"])

    assert (found.files, found.code_lines, found.comments) == (1, 6, 2)
    assert found.public_names == len({"LIMIT", "decide"})
    assert found.comments_per_100 == 33.33


def test_imports(made: Path) -> None:
    """A circle counts with all its modules; a long file is no small one."""
    found = imports_of(["shapely_made"], made.parent)

    assert len(found.chain) == 4
    assert [name.rpartition(".")[2] for name in found.chain[:2]] == ["top", "left"]
    assert found.single_importer == {"shapely_made.right": "shapely_made.top"}
    assert found.order["shapely_made.right"] == 1


def test_a_flow(made: Path) -> None:
    """A step to a module that stands higher than the one before is a climb."""
    order = imports_of(["shapely_made"], made.parent).order
    top = importlib.import_module("shapely_made.top")

    found = flow_of(top.decide, "decide", order, ["shapely_made"])

    rooms = [f"shapely_made.{name}" for name in ("top", "right", "left", "ring_a")]
    assert list(found.rooms) == rooms
    assert found.climbs == len(["right to left"])


def test_types_of_an_idea(tmp_path: Path) -> None:
    """By the words of their names; an error is no type of what it is about."""
    file = tmp_path / "made.py"
    names = ("TimerFailed", "_Timer", "Timed", "TimerError", "GateVerdict")
    file.write_text("".join(f"class {name}: pass\n" for name in names))

    found = types_of([file])

    assert found["timer"] == ["TimerFailed", "_Timer"]
    assert found["gate"] == ["GateVerdict"]
    assert found["person"] == []


def test_this_tree_is_measured(capsys: pytest.CaptureFixture[str]) -> None:
    """Every figure is there, and every list behind one."""
    found = measured()
    show(found, with_lists=True)

    assert found["import_chain"] == len(found["chain"]) > 1
    assert all(len(flow["rooms"]) > 1 for flow in found["flows"].values())
    assert "longest chain" in capsys.readouterr().out
    assert ceilings.over(limited(found)) == []


def test_what_is_over_a_ceiling_is_named() -> None:
    """With its figure and its ceiling; what fell asks for a lower one."""
    at_most = {name: each.most for name, each in CEILINGS.items()}

    assert ceilings.over(at_most) == ceilings.under(at_most) == []
    (over,) = ceilings.over(at_most | {"files": at_most["files"] + 1})
    assert over.startswith(f"{at_most['files'] + 1:,} files of the product: at most")
    (under,) = ceilings.under(at_most | {"files": 7})
    assert under.startswith("files: 7, lower its ceiling")


def test_no_ceiling_is_under_its_aim() -> None:
    """Else the aim was reached, and is to be set anew."""
    assert [name for name, each in CEILINGS.items() if each.most < each.aim] == []


def test_a_page_without_marks_is_refused() -> None:
    """Rather than written without its table."""
    with pytest.raises(ValueError, match="no marks"):
        ceilings.page("A page.\n")
