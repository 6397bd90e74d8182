"""The program without an instance: help, errors and exit codes."""

import errno
import json
import re
import subprocess
import sys
from collections.abc import Iterator
from io import StringIO
from typing import Any

import pytest
import typer

from echoic.cli.program import command, run
from echoic.terminal.commands import COMMANDS, GROUPS
from tests.echoic.cli.conftest import SURVIVAL, Program

HEAVY = ("numpy", "nats", "sqlalchemy", "litellm", "pydantic", "faststream", "rich")


@pytest.mark.parametrize("flag", ["--help", "--version"])
def test_the_first_output_imports_nothing_heavy(flag: str) -> None:
    """Help and version come at once, so they import no library that takes long."""
    probe = (
        "import sys; from echoic.cli.program import main\n"
        f"try: main([{flag!r}])\n"
        "except SystemExit: pass\n"
        f"print([name for name in {HEAVY!r} if name in sys.modules])"
    )
    done = subprocess.run(
        [sys.executable, "-c", probe], capture_output=True, text=True, check=True
    )

    assert done.stdout.splitlines()[-1] == "[]"


def test_folders_of_ones_own_hide_nothing_of_ours(echoic: Program) -> None:
    """A `handlers` or `schemas` where one works is not taken for the program's."""
    for name in ("handlers", "schemas"):
        (echoic.folder / name).mkdir()
        (echoic.folder / name / "__init__.py").write_text("raise RuntimeError")

    ran = echoic("strategy", "show", "heuristic_first")

    assert ran.code == 0, ran.err


def test_an_unknown_variable_is_told_and_ignored(echoic: Program) -> None:
    """What another version would read does not stop this one."""
    ran = echoic.here("config", "show", ECHOIC_TRESHOLD="0.5")

    assert ran.code == 0
    assert "did you mean 'ECHOIC_THRESHOLD'?; it is ignored" in ran.err


def test_help_names_every_command(echoic: Program) -> None:
    """What can be done is listed with a line each."""
    ran = echoic.here("--help")

    assert ran.code == 0
    for name, (_, about) in COMMANDS.items():
        assert re.search(rf"^  {name} +{re.escape(about)}$", ran.out, re.MULTILINE)


def test_the_help_is_grouped_by_what_commands_are_for(echoic: Program) -> None:
    """Each command stands in one group, and each group in the help."""
    ran = echoic.here("--help")
    listed = [name for names in GROUPS.values() for name in names]

    assert sorted(listed) == sorted(COMMANDS)
    for heading in GROUPS:
        assert f"\n{heading}:\n" in ran.out


def commands_within(verb: Any) -> Iterator[Any]:
    """A command and all that it has below it."""
    yield verb
    for each in getattr(verb, "commands", {}).values():
        yield from commands_within(each)


@pytest.mark.parametrize("name", COMMANDS)
def test_every_option_says_what_it_is_for(name: str) -> None:
    """What the docstring of a command leaves out would be missing in its help."""
    program = command()
    verb = program.get_command(typer.Context(program, info_name="echoic"), name)

    silent = [
        f"{each.name} {parameter.name}"
        for each in commands_within(verb)
        for parameter in each.params
        if not parameter.help
    ]
    assert silent == []


@pytest.mark.parametrize("command", COMMANDS)
def test_every_command_has_help_with_an_example(echoic: Program, command: str) -> None:
    """Each command explains itself; plain verbs show how they are called."""
    ran = echoic.here(command, "--help")

    assert ran.code == 0, ran.err
    assert f"Usage: echoic {command}" in ran.out
    assert "Commands:" in ran.out or "Example" in ran.out


@pytest.mark.parametrize(
    ("words", "completed"), [("echoic heu", "heuristic"), ("echoic pub --wa", "--wait")]
)
def test_a_shell_completes_commands(
    echoic: Program, words: str, completed: str
) -> None:
    """What a shell asks for while one types, commands and their options alike."""
    script = "from echoic.cli import main; main()"
    ran = subprocess.run(
        [sys.executable, "-c", script],
        env=echoic.environment
        | {
            "_ECHOIC_COMPLETE": "complete_bash",
            "COMP_WORDS": words,
            "COMP_CWORD": str(words.count(" ")),
        },
        capture_output=True,
        text=True,
        check=False,
    )

    assert ran.stdout.split() == [completed]


def test_the_version_is_shown(echoic: Program) -> None:
    """The version is one line."""
    assert re.fullmatch(r"echoic \d+\.\d+\.\d+\n", echoic.here("--version").out)


@pytest.mark.parametrize(
    ("arguments", "hint"),
    [
        (("explian",), "Did you mean 'explain'"),
        (("heuristic", "lst"), "Did you mean 'list'?"),
        (("explain", "--lst"), "--lst"),
        (("pub",), "give either a text or a file"),
        (("pub", " "), "give either a text or a file"),
        (("pub", "x", "--hint", "mood=1"), "mood=1 is no hint"),
        (("pub", "x", "--hint", "threat=7"), "threat=7 is no hint"),
        (("explain", "--last", "--last-silent"), "give one of"),
        (("explain", "--what-if", "threshold"), "supposes nothing"),
        (("state", "ada", "--at", "noon"), "is no time"),
        (("heuristic", "seed", "--condition", "x", "--say", "y", "--confidence", "2"),
         "less than or equal to 1"),
        (("pub", "x", "--field", "a=" + "[" * 1010 + "]" * 1010), "nests too deep"),
        (("pub", "x", "--pace", "fast"), "--pace 'fast'"),
        (("heuristic", "seed", "--condition", "", "--say", "y"), "condition ''"),
    ],
)  # fmt: skip
def test_wrong_usage_is_exit_code_2(
    echoic: Program, arguments: tuple[str, ...], hint: str
) -> None:
    """What was wrong is said on stderr, without a traceback."""
    ran = echoic.here(*arguments)

    assert (ran.code, ran.out) == (2, "")
    assert hint in ran.err
    assert "Traceback" not in ran.err


@pytest.mark.parametrize(
    "arguments",
    [
        ("watch",),
        ("explain", "--last"),
        ("pub", "hello"),
        ("feedback", "last", "up"),
        ("outcome", "last", "succeeded"),
        ("state", "ada"),
        ("heuristic", "list"),
        ("session", "list"),
        ("projection", "lag"),
        ("log", "verify"),
        ("replay", "verify"),
        ("pack", "list"),
        ("sensor", "desk"),
        ("sensor", "home"),
    ],
)
def test_without_an_instance_the_next_command_is_named(
    echoic: Program, arguments: tuple[str, ...]
) -> None:
    """Exit code 3, and how to start one."""
    ran = echoic.here(*arguments)

    assert ran.code == 3
    assert f"no instance runs over {echoic.data}" in ran.err
    assert f"echoic up --detach --data {echoic.data}" in ran.err


def test_a_broker_that_is_away_is_exit_code_3(echoic: Program) -> None:
    """A broker of one's own that does not answer is named."""
    ran = echoic.here("explain", "--last", NATS_URL="nats://127.0.0.1:1")

    assert ran.code == 3
    assert "nats://127.0.0.1:1" in ran.err


def test_a_wrong_setting_is_exit_code_2(echoic: Program) -> None:
    """The variable, its value and what is allowed are named."""
    ran = echoic.here("config", "show", ECHOIC_THRESHOLD="high")

    assert ran.code == 2
    assert "variable ECHOIC_THRESHOLD: threshold = 'high' is not allowed" in ran.err


def test_an_unknown_strategy_is_exit_code_2(echoic: Program) -> None:
    """A strategy that does not exist stops the start, with a suggestion."""
    ran = echoic.here("up", EXECUTIVE_DECISION_STRATEGY="heuristic_frist")

    assert ran.code == 2
    assert "heuristic_first" in ran.err
    assert "Traceback" not in ran.err


def test_config_shows_where_values_come_from(echoic: Program) -> None:
    """Each setting names the flag, variable, file or default it came from."""
    (echoic.folder / "echoic.toml").write_text("[model]\ndeadline_s = 9\n")

    price = {"ECHOIC_MODEL_PRICE": "0.15,0.6"}
    ran = echoic.here("config", "show", "--origin", EXECUTIVE_GOALS="a;b", **price)

    lines = {line.split()[0]: line for line in ran.out.splitlines()}
    assert lines["model.price"].split()[1] == "0.15,0.6"
    assert lines["goals"].endswith("  variable EXECUTIVE_GOALS")
    assert lines["model.deadline_s"].endswith("echoic.toml")
    assert lines["threshold"].endswith("default")


def test_config_as_json_has_values_and_origins(echoic: Program) -> None:
    """Programs read the same."""
    found = echoic.here(
        "config", "show", "--json", EXECUTIVE_HEURISTIC_THRESHOLD="0.6"
    ).json

    assert found["settings"]["threshold"] == 0.6
    assert found["origins"]["threshold"] == "variable EXECUTIVE_HEURISTIC_THRESHOLD"


def test_schema_prints_documents(echoic: Program) -> None:
    """JSON Schema, AsyncAPI and the page of messages."""
    assert "Sensed" in echoic.here("schema").json["$defs"]
    assert echoic.here("schema", "--asyncapi").json["asyncapi"] == "3.0.0"
    assert echoic.here("schema", "--markdown").out.startswith("# Messages")


def test_a_good_pack_is_exit_code_0(echoic: Program) -> None:
    """The shipped pack has no errors."""
    ran = echoic.here("pack", "validate", str(SURVIVAL))

    assert ran.code == 0, ran.out
    assert "survival" in ran.out


def test_every_mistake_of_a_pack_is_named_at_once(echoic: Program) -> None:
    """Exit code 1, and each mistake with file, line and column."""
    folder = echoic.folder / "broken"
    folder.mkdir()
    (folder / "manifest.yaml").write_text(
        "schema: 1\nname: broken\nversion: 1.0.0\nsalience:\n  weights: {thret: 1.0}\n"
        "heuristics:\n  - name: one\n    condition: a\n    confidence: 7\n"
        "    action: {text: x}\n    when: value <\n"
    )

    ran = echoic.here("pack", "validate", str(folder))
    found = echoic.here("pack", "validate", str(folder), "--json").json["problems"]

    assert ran.code == 1
    assert 'did you mean "threat"?' in ran.out
    assert len([each for each in found if each["severity"] == "error"]) >= 3
    assert all(each["line"] and each["column"] for each in found)


def test_the_packs_schema_is_draft_07(echoic: Program) -> None:
    """Editors complete manifests by it."""
    assert "draft-07" in echoic.here("pack", "schema").json["$schema"]


def test_doctor_checks_what_is_there(echoic: Program) -> None:
    """Without an instance the installation is checked, and that is no problem."""
    ran = echoic.here("doctor", "--json")

    checks = {check["name"]: check for check in json.loads(ran.out)["checks"]}
    assert ran.code == 0
    assert checks["nats-server"]["verdict"] == "fine"
    assert checks["postgresql"]["verdict"] == "fine"
    assert checks["instance"]["verdict"] == "notice"
    assert checks["instance"]["advice"].startswith("echoic up")


def test_the_doctor_finds_a_folder_that_is_none(echoic: Program) -> None:
    """A data folder that cannot be written to is a problem before anything starts."""
    echoic.data.touch()

    checks = {
        each["name"]: each for each in echoic.here("doctor", "--json").json["checks"]
    }

    assert checks["data"]["verdict"] == "problem"


def test_down_without_an_instance_says_so(echoic: Program) -> None:
    """Stopping what does not run is fine."""
    ran = echoic.here("down")

    assert ran.code == 0
    assert "nothing runs" in ran.out


def test_a_damaged_session_file_is_an_error(echoic: Program) -> None:
    """A file that is no session is named."""
    path = echoic.folder / "x.echoic"
    path.write_bytes(b"no session")

    ran = echoic.here("replay", "verify", str(path))

    assert ran.code == 2
    assert "x.echoic" in ran.err


@pytest.mark.parametrize("name", ["gone.echoic", "folder/gone"])
def test_a_missing_session_file_is_named(echoic: Program, name: str) -> None:
    """What can only be a file is not looked for in an instance."""
    ran = echoic.here("replay", "verify", name)

    assert ran.code == 2
    assert f"cannot read '{name}'" in ran.err


def test_what_the_system_refuses_is_named(echoic: Program) -> None:
    """The system's words stand behind the name, without a number."""
    echoic.data.touch()

    ran = echoic.here("explain", "--last")

    assert ran.code == 2
    assert ran.err == f"echoic: '{echoic.data / 'instance.json'}': Not a directory\n"


def test_a_reader_that_has_seen_enough_is_no_failure(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """As in `echoic watch | head -1`."""

    class Closed(StringIO):
        def write(self, _: str) -> int:
            raise BrokenPipeError(errno.EPIPE, "Broken pipe")

    monkeypatch.setattr(sys, "stdout", Closed())
    # Typer puts another in its place.
    monkeypatch.setattr(sys, "stderr", sys.stderr)

    assert run(lambda: command()(("schema",), "echoic", standalone_mode=False)) == 0


def test_the_shipped_recording_replays_identically(echoic: Program) -> None:
    """A session file needs no instance: it is decided again from itself."""
    recording = SURVIVAL / "recording" / "evening.echoic"

    ran = echoic.here("replay", "verify", str(recording), "--json")

    assert ran.code == 0, ran.out + ran.err
    assert ran.json["is_identical"]
    assert ran.json["identical"] == ran.json["total"] > 0


def test_rapport_is_folded_at_another_pace(echoic: Program) -> None:
    """Both curves side by side, from a recording alone; a program gets both as numbers."""
    recording = str(SURVIVAL / "recording" / "evening.echoic")
    setting = ("projection", "replay", "--set", "rapport.gain=0.2")
    shown = echoic.here(*setting, recording)
    told = echoic.here(
        *setting, "--set", "learning.gamma=0.9", recording, "--json"
    ).json
    wrong = echoic.here("projection", "replay", "--set", "rapport.gian=1", recording)

    assert shown.out.startswith("rapport.gain 0.05 → 0.2\n")
    assert re.search(r"\d+ votes", shown.out)
    (person,) = told["rapport"]["people"]
    assert len(person["recorded"]) == len(person["retuned"]) > 1
    assert list(told["changes"]) == ["learning.gamma"]
    assert (wrong.code, "rapport.gain" in wrong.err) == (2, True)
