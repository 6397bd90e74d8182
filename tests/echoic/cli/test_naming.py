"""A name that begins another's is never taken for it, at any door."""

import ast
import json
from pathlib import Path

import pytest

from echoic.client.names import resolve
from echoic.errors import NotFoundError
from streams.session_files.file import read_session
from tests.echoic.cli.conftest import ROOT, Program, Ran

pytestmark = pytest.mark.services

# How many events each session has: by their number one knows which it was.
EVENTS = {"shop-1": 1, "shop-2": 3, "shop-20": 1, "shop-29": 2, "day": 1}
OPEN = "late"


@pytest.fixture(scope="module")
def shop(live: Program) -> Program:
    """An agent with sessions whose names begin each other's, the last still open."""
    for name, count in {**EVENTS, OPEN: 1}.items():
        started = live.here("session", "start", "--id", name, "--agent", "shop")
        assert started.code == 0, started.err
        lines = "".join(f'{{"text": "{name} {at}"}}\n' for at in range(count))
        live.here("pub", "-", "--agent", "shop", "--source", "till", stdin=lines)
    return live


def asked(shop: Program, command: str, *more: str) -> Ran:
    return shop.here(*command.split(), *more, "--agent", "shop")


@pytest.mark.parametrize("name", ["shop-2", "shop-29"])
def test_each_door_takes_the_very_one(shop: Program, name: str, tmp_path: Path) -> None:
    """Though its name begins another's."""
    file = tmp_path / "kept.echoic"
    shown = asked(shop, f"session show {name} --json").json
    asked(shop, f"session export {name} -o {file}")
    verified = asked(shop, f"replay verify {name} --json").json
    compared = asked(shop, f"replay compare {name} -s silent --json").json

    assert shown["id"] == name
    assert read_session(file).header.session_id == name
    assert verified["inputs"] == shown["inputs"]
    assert [each["id"] for each in compared["sessions"]] == [name]


@pytest.mark.parametrize(
    "command",
    [
        "session show shop-",
        "session export shop-",
        "session shares sho",
        "replay verify sho",
        "replay compare shop- -s silent",
        "replay compare day sho -s silent",
        "replay plan shop- -s silent",
        "tune learning.gamma=0.9..1 shop-",
        "learning report sho",
        "projection replay sho --set learning.gamma=0.9",
    ],
)
def test_each_door_refuses_what_is_not_clear(shop: Program, command: str) -> None:
    """It lists what may be meant, and takes none of it."""
    ran = asked(shop, command)

    assert ran.code == 1, ran.out
    assert "begin with 'sho" in ran.err
    assert "shop-1, shop-2, shop-20, shop-29" in ran.err


def test_what_is_not_there_is_refused_with_what_is_near(shop: Program) -> None:
    """Nothing is taken for it."""
    ran = asked(shop, "session show shap-2")

    assert ran.code == 1
    assert "there is no session 'shap-2': did you mean 'shop-2'?" in ran.err


def test_an_open_session_is_left_out_of_several_by_name(
    shop: Program, caplog: pytest.LogCaptureFixture
) -> None:
    """Said on stderr; alone it counts, as far as it is."""
    several = asked(shop, "replay compare day shop-1 late -s silent --json")
    alone = asked(shop, "replay compare last -s silent --json")
    none = asked(shop, "replay compare late last -s silent")

    assert {each["id"] for each in several.json["sessions"]} == {"day", "shop-1"}
    assert "left out: 'late' is still open" in caplog.text
    assert [each["id"] for each in alone.json["sessions"]] == [OPEN]
    assert none.code == 1
    assert "no session that is named has ended" in none.err


def test_heuristics_are_found_by_name_or_by_how_their_id_begins() -> None:
    """A name wins over ids that begin so; several are listed."""
    names = {"abc1": "dry", "abc2": "wet", "dry9": "old", "ef": "wet", "wet": "x"}

    assert resolve(names, "dry") == "abc1"
    assert resolve(names, "abc1") == "abc1"
    assert resolve(names, "dry9") == "dry9"
    assert resolve(names, "wet") == "wet"
    for given, says in (("abc", "abc1, abc2"), ("", "begin with ''"), ("q", "no heur")):
        with pytest.raises(NotFoundError, match=says):
            resolve(names, given)
    with pytest.raises(NotFoundError, match="2 heuristics are called 'wet': abc2, ef"):
        resolve({id_: names[id_] for id_ in ("abc2", "ef")}, "wet")


BY_BEGINNING = {
    "schemas/values/naming.py": 1,
    # It reads the log backwards, gathers what begins so, and asks `naming`.
    "echoic/client/find.py": 1,
}
"""Where a beginning of a name that somebody gave is looked at, and how often."""


def test_nobody_else_looks_at_how_a_name_begins() -> None:
    """A `startswith` of what is no constant stands in one place alone."""
    found: dict[str, int] = {}
    for folder in ("echoic/cli", "echoic/client", "echoic/doors", "replay", "schemas"):
        for file in sorted((ROOT / folder).rglob("*.py")):
            count = sum(map(_is_by_beginning, ast.walk(ast.parse(file.read_text()))))
            if count:
                found[str(file.relative_to(ROOT))] = count

    assert found == BY_BEGINNING, json.dumps(found)


def _is_by_beginning(node: ast.AST) -> bool:
    return (
        isinstance(node, ast.Call)
        and isinstance(node.func, ast.Attribute)
        and node.func.attr == "startswith"
        and isinstance(node.args[0], ast.Name)
        and not node.args[0].id.strip("_").isupper()
    )
