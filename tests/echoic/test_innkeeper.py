"""The page's character that answers the player, and what a mind does by itself."""

import re
from pathlib import Path
from typing import Any

import pytest

from echoic.api import Mind, load_pack
from echoic.packs.load import check
from schemas.messages.asks import ModelAsked

PAGE = (Path(__file__).parents[2] / "docs" / "characters.md").read_text("utf-8")
SECTION = PAGE.partition("### One that answers the player")[2]


def block(language: str) -> str:
    """The section's block in a language."""
    found = re.search(rf"```{language}\n(.*?)```", SECTION, re.DOTALL)
    assert found
    return found[1]


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    made = tmp_path / "innkeeper"
    made.mkdir()
    (made / "manifest.yaml").write_text(block("yaml"))
    return made


def test_the_page_runs(
    folder: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    """In at most forty lines of YAML, without a fault."""
    monkeypatch.chdir(folder.parent)

    exec(compile(block("python"), "characters.md", "exec"), {})

    assert capsys.readouterr().out == "The last one, up the stairs. ['sweep']\n"
    assert len(block("yaml").splitlines()) <= 40
    assert check(folder).problems == ()


@pytest.mark.parametrize(
    ("told", "person", "speaker"),
    [
        ({"speaker": "Ben"}, None, "Ben"),
        ({"speaker": ""}, "ada", "ada"),
        ({"speaker": 7, "distance": "far"}, None, "engine"),
        ({}, None, "engine"),
    ],
)
def test_it_is_told_who_spoke_and_answers_each_time(
    folder: Path, told: dict[str, Any], person: str | None, speaker: str
) -> None:
    """By the field, else the event's person, else its source."""
    asked: list[str] = []

    def model(question: ModelAsked) -> str:
        asked.append(question.prompt)
        return '{"speaking": "Yes?"}'

    mind = Mind(load_pack(folder), agent="mira", model=model)
    whom = {} if person is None else {"person": person}
    said = [
        mind.sense(
            text, source="engine", type="spoken", at=at, fields=told, **whom
        ).said
        for text, at in (("Hello!", 1.0), ("A beer, please.", 2.0))
    ]

    assert said == ["Yes?", "Yes?"]
    assert f'- <data>"{speaker}"</data>: <data>"A beer, please."</data>' in asked[-1]


def test_heuristics_beside_a_mind_are_warned_of(folder: Path) -> None:
    """They would be valid, and never asked."""
    manifest = folder / "manifest.yaml"
    heuristic = "{name: hi, condition: Somebody says hello, action: {text: Hi}}"
    manifest.write_text(f"{block('yaml')}heuristics: [{heuristic}]\n")
    problems = {each.code: each for each in check(folder).problems}

    assert problems["E-PACK-017"].severity == "warning"
    assert "reflexes" in str(problems["E-PACK-017"])
