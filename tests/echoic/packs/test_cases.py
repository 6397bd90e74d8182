"""`echoic pack new` and `echoic pack test`: a pack that works, and cases that tell."""

import re
from pathlib import Path
from typing import Any

import orjson
import pytest

from echoic.cli.program import command
from echoic.errors import EchoicError
from echoic.packs import load, new
from echoic.packs.bundled import PACKS
from echoic.world import pack_tests

OPEN = {"text": "The door stands open", "source": "door", "type": "door_opened"}


def called(*arguments: str) -> int:
    """Call the program in this process; return its exit code."""
    return command()(list(arguments), "echoic", standalone_mode=False) or 0


def faults(folder: Path, **case: Any) -> tuple[str, ...]:
    """How a decision of a new pack differs from what a case expects."""
    new.write(folder, "door")
    event = {**OPEN, "fields": {"minutes": 7}}
    made = {"name": "a case", "event": event, **case}
    (folder / "tests" / "first.yaml").write_bytes(orjson.dumps([made]))
    (result,) = pack_tests.run(load.load(folder), folder)
    return result.faults


@pytest.mark.parametrize("name", ["survival", "desk", "home"])
def test_the_packs_that_ship_pass_their_tests(name: str) -> None:
    """By the program's default settings."""
    folder = PACKS / name
    results = pack_tests.run(load.load(folder), folder)

    assert len(results) >= 3
    assert [each for each in results if each.faults] == []


def test_a_new_pack_is_valid_and_passes_its_test(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    """Written where `echoic up` looks for packs."""
    monkeypatch.chdir(tmp_path)

    assert called("pack", "new", "greenhouse") == 0
    folder = tmp_path / "packs" / "greenhouse"
    assert load.check(folder).problems == ()
    capsys.readouterr()
    assert called("pack", "test", str(folder)) == 0
    assert "passed  greenhouse/first.yaml" in capsys.readouterr().out


def test_nothing_is_overwritten(tmp_path: Path) -> None:
    """Nor is a name accepted that no subject could hold."""
    with pytest.raises(EchoicError, match="is there already"):
        new.write(tmp_path, "greenhouse")
    with pytest.raises(EchoicError, match="no name of a pack"):
        called("pack", "new", "../greenhouse")


@pytest.mark.parametrize(
    ("expected", "fault"),
    [
        ({"heuristic": "other"}, "heuristic: other expected, door-open answered"),
        ({"text": "No."}, "text: 'No.' expected, 'The door is still open."),
        ({"contains": "shut"}, "contains: 'shut' expected"),
        ({"type": "alert"}, "type: alert expected, suggestion found"),
        ({"skills": []}, "skills: none expected, door/details@1 used"),
        ({"silence": True}, "silence: some expected, none found"),
        ({"silence": "habituated"}, "silence: habituated expected"),
    ],
)
def test_a_difference_is_named(
    tmp_path: Path, expected: dict[str, Any], fault: str
) -> None:
    """What was expected, and what was decided."""
    (found,) = faults(tmp_path / "door", expect=expected)
    assert found.startswith(fault)


def test_circumstances_and_events_before_count(tmp_path: Path) -> None:
    """A skill that was unloaded says nothing; an event that came before is no news."""
    plain = "The door is still open."
    given = {"unload": ["door/details"], "personality": "butler", "context": "home"}
    assert faults(tmp_path / "a", given=given, expect={"text": plain}) == ()
    before = [{**OPEN, "fields": {"minutes": 6}}]
    event = {**OPEN, "fields": {"minutes": 7}, "after_s": 1}
    again = faults(tmp_path / "b", before=before, event=event, expect={"silence": True})
    assert again == ()


def test_what_the_mind_refuses_is_a_fault(tmp_path: Path) -> None:
    """With its reason."""
    (found,) = faults(tmp_path / "a", given={"load": ["nothing"]}, expect={})
    assert found.startswith("unknown_skill: ")


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("- {name: x", "first.yaml:"),
        ("- {name: x}", "event"),
        ("- {name: x, event: {text: a}, expect: {tone: dry}}", "tone"),
        ("7", "first.yaml"),
    ],
)
def test_a_file_that_holds_no_cases_is_refused(
    tmp_path: Path, text: str, message: str
) -> None:
    """With its place."""
    folder = tmp_path / "door"
    new.write(folder, "door")
    (folder / "tests" / "first.yaml").write_text(text)
    with pytest.raises(EchoicError, match=message):
        pack_tests.run(load.load(folder), folder)


def test_a_pack_without_cases_finds_nothing(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """No test is no success."""
    new.write(tmp_path / "door", "door")
    (tmp_path / "door" / "tests" / "first.yaml").unlink()
    assert called("pack", "test", str(tmp_path / "door")) == 1
    assert "passed" not in capsys.readouterr().out


@pytest.mark.parametrize("manifest", ["heuristics: 7\n", None])
def test_a_broken_pack_is_no_bug(tmp_path: Path, manifest: str | None) -> None:
    """Neither errors nor a missing folder; each is told with the next command."""
    folder = tmp_path / "door"
    if manifest is not None:
        new.write(folder, "door")
        (folder / "manifest.yaml").write_text(manifest)
    with pytest.raises(EchoicError, match="E-PACK") as raised:
        called("pack", "test", str(folder))
    assert raised.value.next_step == f"echoic pack validate {folder}"


def test_what_did_not_answer_says_how_near_it_came(tmp_path: Path) -> None:
    """A wording that is too unlike, and a field that does not fit, look different."""
    event = {**OPEN, "fields": {"minutes": 7}}
    unlike = {"event": {**event, "text": "A parrot sings"}}
    early = {"event": {**event, "fields": {"minutes": 1}}}
    expect = {"heuristic": "door-open"}

    of_words = faults(tmp_path / "one", expect=expect, **unlike)
    of_field = faults(tmp_path / "other", expect=expect, **early)

    assert of_words[0] == "heuristic: door-open expected, none answered"
    (near,) = (each for each in of_words if each.startswith("near: door-open"))
    assert re.fullmatch(r"near: door-open: like -?0\.\d\d < 0\.55", near)
    (near,) = (each for each in of_field if each.startswith("near: door-open"))
    assert re.fullmatch(r"near: door-open: like \d\.\d\d >= 0\.55; when: .*1\)", near)


def test_a_case_may_be_what_a_device_sends(tmp_path: Path) -> None:
    """Its fields alone; the text is the template's, and a case tells what was heard."""
    folder = tmp_path / "door"
    new.write(folder, "door")
    manifest = folder / "manifest.yaml"
    words = 'text: "The door stands open for {minutes} minutes"'
    manifest.write_text(
        manifest.read_text().replace(
            "{type: door_opened,", f"{{type: door_opened, {words},"
        )
    )
    event = {"source": "door", "type": "door_opened", "fields": {"minutes": 7}}
    cases = [
        {"name": each, "event": event, "expect": expect}
        for each, expect in {
            "filled": {"heard": "The door stands open for 7 minutes"},
            "other": {"heard": "door", "silence": False},
        }.items()
    ]
    (folder / "tests" / "first.yaml").write_bytes(orjson.dumps(cases))

    filled, other = pack_tests.run(load.load(folder), folder)

    assert filled.faults == ()
    assert other.faults[0] == (
        "heard: 'door' expected, 'The door stands open for 7 minutes' read"
    )
