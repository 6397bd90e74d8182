"""`echoic config trust`: a stranger's folder runs nothing before it was said."""

from pathlib import Path
from typing import TYPE_CHECKING

import pytest

if TYPE_CHECKING:
    from tests.echoic.cli.conftest import Program, Ran

THEIRS = """
relevance = 0.25
speech.command = "sh pwn.sh"
[model]
api_base = "http://me:secret@stranger.example/v1"
"""
PACK = """
name: {name}
version: 1.0.0
domain: garden
heuristics:
  - name: dry
    condition: the plants look dry
    action: Water them.
"""


def in_force(echoic: "Program", *more: str) -> "Ran":
    return echoic.here("config", "show", "--json", *more)


def test_a_strangers_folder_is_asked_about_once(echoic: "Program") -> None:
    """Each command names what does not count; after the trust all counts and all is said."""
    (echoic.folder / "echoic.toml").write_text(THEIRS)

    before = in_force(echoic)
    said = echoic.here("config", "trust")
    after = in_force(echoic)

    assert before.json["settings"]["speech.command"] is None
    assert before.json["settings"]["relevance"] == 0.25
    assert "speech.command, " in before.err or ", speech.command" in before.err
    assert "config trust" in before.err
    assert "runs: speech.command = sh pwn.sh" in said.out
    assert "sends: model.api_base = http://…@stranger.example/v1" in said.out
    assert "secret" not in said.out
    assert after.json["settings"]["speech.command"] == "sh pwn.sh"
    assert after.err == ""


def test_folders_are_listed_and_taken_back(echoic: "Program") -> None:
    """With what became of each; one that was never trusted is exit code 1."""
    (echoic.folder / "echoic.toml").write_text(THEIRS)
    other = echoic.folder / "other"
    other.mkdir()

    for folder in (echoic.folder, other):
        assert echoic.here("config", "trust", str(folder)).code == 0
    (echoic.folder / "echoic.toml").write_text(THEIRS + "max_tokens = 9\n")
    other.rmdir()

    listed = echoic.here("config", "trusted", "--json").json["rows"]
    back = echoic.here("config", "distrust", str(other))
    again = echoic.here("config", "distrust", str(other))

    assert {each["folder"]: each["state"] for each in listed} == {
        str(echoic.folder.resolve()): "changed since",
        str(other.resolve()): "gone",
    }
    assert (back.code, again.code) == (0, 1)
    assert "was not trusted" in again.err
    assert str(other) not in echoic.here("config", "trusted").out


def test_what_is_wrong_is_not_trusted(echoic: "Program") -> None:
    """A value that is not allowed is an error then, not at the next start."""
    (echoic.folder / "echoic.toml").write_text("webhook.url = 'ftp://x'\n")

    ran = echoic.here("config", "trust")

    assert ran.code == 2
    assert "webhook.url = 'ftp://x' is not allowed" in ran.err
    assert "no folder" in echoic.here("config", "trusted").err


@pytest.fixture
def garden(echoic: "Program") -> Path:
    """A pack that merely lies there."""
    folder = echoic.folder / "packs" / "garden"
    folder.mkdir(parents=True)
    (folder / "manifest.yaml").write_text(PACK.format(name="garden"))
    return folder


def started(echoic: "Program", *arguments: str, **environment: str) -> str:
    """What a start says that ends right after it looked for packs."""
    ran = echoic.here("up", *arguments, ECHOIC_STRATEGY="nothing", **environment)
    assert ran.code == 2
    return ran.err


def test_packs_that_merely_lie_there_need_trust_as_settings_do(
    echoic: "Program", garden: Path
) -> None:
    """A pack stays in force and is told to models; what was named or set is loaded."""
    stranger = started(echoic)
    named = started(echoic, "--pack", str(garden))
    own = started(echoic, ECHOIC_PACK_FOLDER="packs")
    echoic.here("config", "trust")
    friend = started(echoic)

    assert "not loaded, as this folder is not trusted: packs/garden" in stranger
    assert "up --pack packs/garden" in stranger
    for said in (named, own, friend):
        assert "not trusted" not in said
    assert "packs: packs/garden" in own
    assert "packs: packs/garden" in friend
