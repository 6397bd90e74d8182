"""Packs on disk: every problem at once, at its place, with advice."""

import json
from pathlib import Path
from typing import get_args

import pytest

from echoic.embedders import WordLlamaEmbedder
from echoic.packs.load import (
    BrokenPackError,
    check,
    compile_with,
    load,
    pack_schema,
    render,
)
from echoic.packs.problems import Code
from schemas.packs.compiled import compile_pack
from schemas.packs.manifest import from_blob, to_blob

PACKS = Path(__file__).parents[3] / "packs"

GOOD = """\
schema: 1
name: kitchen
version: "1.0"
setting: home
salience:
  weights: {threat: 2}
executive:
  outcome_patterns:
    - {trigger_pattern: oven, outcome_pattern: oven off, timeout_sec: 60}
events:
  - {type: oven_done, source: oven}
heuristics:
  - name: remind
    condition: The cake is done
    when: type = "oven_done" and minutes <= 3
    action: {type: alert, text: Take it out.}
    confidence: 0.8
"""

OF_THE_SEED = """\
# manifest.yaml (in pack directory)
name: game-advisor
version: 1.0.0

executive:
  domain_context: |
    You are advising a player in a survival game. The player's goal is to
    survive and thrive. Prioritize immediate threats over long-term goals.

  outcome_patterns:
    - trigger_pattern: "health"
      outcome_pattern: "player died"
      timeout_sec: 60
      is_success: false

    - trigger_pattern: "health"
      outcome_pattern: "health restored"
      timeout_sec: 120
      is_success: true

    - trigger_pattern: "enemy"
      outcome_pattern: "enemy defeated"
      timeout_sec: 30
      is_success: true
"""
"""The example of the source design, to the letter."""


@pytest.fixture
def write(tmp_path):
    def write(text):
        file = tmp_path / "manifest.yaml"
        file.write_text(text)
        return tmp_path

    return write


def codes(folder):
    return [
        (problem.line, problem.column, problem.code)
        for problem in check(folder).problems
    ]


def test_a_good_manifest_has_no_problems(write):
    """A pack is read from its folder or from its file."""
    folder = write(GOOD)

    assert check(folder).problems == ()
    assert load(folder) == load(folder / "manifest.yaml")
    assert load(folder).heuristics[0].action.text == "Take it out."


def test_the_source_designs_own_manifest_loads(write):
    """Without `schema` it is the first; that its patterns never arm is only a warning."""
    folder = write(OF_THE_SEED)
    pack = load(folder)

    assert (pack.name, pack.version, pack.manifest_schema) == (
        "game-advisor",
        "1.0.0",
        1,
    )
    assert [each.timeout_sec for each in pack.executive.outcome_patterns] == [
        60,
        120,
        30,
    ]
    assert pack.executive.domain_context.startswith("You are advising a player")
    assert {each.code for each in check(folder).problems} == {"E-PACK-009"}
    assert from_blob(to_blob(pack)) == pack
    assert to_blob(load(write(f"schema: 1\n{OF_THE_SEED}"))) == to_blob(pack)
    assert "schema" not in pack_schema()["required"]


def test_a_problem_is_shown_with_its_line(write):
    """The rendering names file, line and column, the code, the advice, and points."""
    folder = write(GOOD.replace("{threat: 2}", "{thret: 2}"))
    (problem,) = check(folder).problems

    assert render(problem) == (
        f"{folder}/manifest.yaml:6:13  E-PACK-004  "
        'unknown salience dimension "thret" (did you mean "threat"?)\n'
        "    6 |   weights: {thret: 2}\n"
        "      |             ^"
    )


@pytest.mark.parametrize(
    ("before", "after", "place", "message"),
    [
        ("schema: 1", "schema: 2", (1, 9, "E-PACK-010"), "write schema: 1"),
        ('"1.0"', "1.0", (3, 10, "E-PACK-006"), 'quote it: "1.0"'),
        ("setting: home", "setting: hom", (4, 10, "E-PACK-006"), '"home"?'),
        ("setting", "seting", (4, 1, "E-PACK-003"), 'did you mean "setting"?'),
        ("timeout_sec", "timeout", (9, 58, "E-PACK-003"), '"timeout_sec"?'),
        (
            "trigger_pattern: oven",
            "trigger_pattern: ovn",
            (9, 25, "E-PACK-009"),
            "oven",
        ),
        ("pattern: oven off", 'pattern: "!"', (9, 48, "E-PACK-006"), "one word"),
        ("source: oven}", "source: a b}", (11, 31, "E-PACK-006"), "source"),
        ("    condition: The cake is done\n", "", (13, 5, "E-PACK-005"), "condition"),
        ('"oven_done" and', '"oven_don" and', (15, 18, "E-PACK-011"), '"oven_done"?'),
        ("minutes <=", "minutes =<", (15, 42, "E-PACK-007"), "write <="),
        ("<= 3", "<= three", (15, 45, "E-PACK-007"), 'quote it: "three"'),
        ("confidence: 0.8", "confidence: 1", (17, 17, "E-PACK-006"), "0.95"),
        ("confidence: 0.8", "confidence: .inf", (17, 17, "E-PACK-006"), "number"),
        ("confidence: 0.8", "confidence: true", (17, 17, "E-PACK-006"), "number"),
        ("confidence: 0.8", "confidence: [1]", (17, 17, "E-PACK-006"), "(a list)"),
        ("confidence: 0.8", "name: again", (17, 5, "E-PACK-008"), "line 13"),
        ("text: Take it out.", "text: {a: b}", (16, 33, "E-PACK-006"), "(a mapping)"),
        (
            "events:\n  - {type: oven_done, source: oven}\n",
            "",
            (10, 1, "E-PACK-012"),
            "",
        ),
        (
            "confidence: 0.8",
            "constraints: {floor: 0.8, ceiling: 0.6}",
            (17, 26, "E-PACK-013"),
            "the floor 0.8 is over the ceiling 0.6",
        ),
        (
            "events:",
            "constraints: {floor: 0.8, ceiling: 0.6}\nevents:",
            (10, 22, "E-PACK-013"),
            "the floor 0.8 is over the ceiling 0.6",
        ),
        (
            "confidence: 0.8",
            "constraints: {floor: 0.9}",
            (13, 5, "E-PACK-014"),
            "0.5 is out of bounds: it is kept at 0.9",
        ),
        (
            "confidence: 0.8",
            "constraints: {floor: 0.04}",
            (17, 26, "E-PACK-006"),
            "0.05",
        ),
        (
            "confidence: 0.8",
            "constraints: {feedback_weight: 2.1}",
            (17, 36, "E-PACK-006"),
            "less than or equal to 2",
        ),
        (
            "confidence: 0.8",
            "constraints: {flor: 0.4}",
            (17, 19, "E-PACK-003"),
            'did you mean "floor"?',
        ),
    ],
)
def test_each_mistake_has_a_place_a_code_and_advice(
    write, before, after, place, message
):
    """One mistake gives one problem, where the mistake is."""
    assert before in GOOD
    folder = write(GOOD.replace(before, after, 1))
    (problem,) = check(folder).problems

    assert (problem.line, problem.column, problem.code) == place
    assert message in f"{problem.message} {problem.suggestion}"


def test_a_heuristic_goes_before_its_pack(write):
    """A bound of the pack that contradicts a heuristic's own is named, and does not hold."""
    folder = write(
        GOOD.replace("events:", "constraints: {ceiling: 0.6}\nevents:", 1).replace(
            "confidence: 0.8", "constraints: {floor: 0.8}", 1
        )
    )
    (problem,) = check(folder).problems

    assert (problem.code, problem.severity) == ("E-PACK-014", "warning")
    assert problem.message == "floor 0.8: the pack's ceiling 0.6 cannot hold"
    (resolved,) = compile_pack(load(folder), [b"\x01"]).constraints
    assert (resolved.floor, resolved.ceiling) == (0.8, None)


def test_all_mistakes_are_found_at_once(write):
    """Three kinds of mistakes and two repetitions are all listed, in order of lines."""
    text = GOOD.replace("setting", "seting").replace("{threat: 2}", "{thret: 2}")
    text += """\
  - name: remind
    condition: The cake is burning
    when: 'minutes = ''3'' && true'
    action: {type: aler, text: Run.}
  - 7
"""
    folder = write(
        text.replace("source: oven}", "source: oven}\n  - {type: oven_done}")
    )

    assert codes(folder) == [
        (4, 1, "E-PACK-003"),
        (6, 13, "E-PACK-004"),
        (19, 11, "E-PACK-008"),
        (21, 22, "E-PACK-007"),
        (22, 20, "E-PACK-006"),
        (23, 5, "E-PACK-006"),
    ]
    with pytest.raises(BrokenPackError, match="E-PACK-003") as caught:
        load(folder)
    assert str(caught.value).count("E-PACK-") == 6


def test_a_type_is_declared_once_per_source(write):
    """The same type of another source is another declaration; a repetition is not."""
    event = "  - {type: oven_done, source: oven}\n"
    other = event.replace("source: oven", "source: grill")

    assert codes(write(GOOD.replace(event, event + other))) == []
    assert codes(write(GOOD.replace(event, event + event))) == [(12, 12, "E-PACK-008")]


def test_warnings_do_not_stop_a_pack(write):
    """A pattern that nothing triggers is a warning; the pack loads."""
    checked = check(
        write(GOOD.replace("trigger_pattern: oven", "trigger_pattern: tap"))
    )

    assert [problem.severity for problem in checked.problems] == ["warning"]
    assert "warning: " in render(checked.problems[0])
    assert checked.pack is not None


def test_conditions_over_many_lines_point_at_their_start(write):
    """In a folded text the exact column is not known, so its start is named."""
    folded = "when: >-\n      minutes\n      == 3"
    text = GOOD.replace('when: type = "oven_done" and minutes <= 3', folded)

    assert codes(write(text)) == [(15, 11, "E-PACK-007")]


def test_nested_types_in_conditions_are_checked(write):
    """Types that a condition demands under or, not and in are looked up too."""
    when = """when: not type = "a" or (type in ["oven_done", "b"] and x > 1)"""
    text = GOOD.replace('when: type = "oven_done" and minutes <= 3', when)

    assert codes(write(text)) == [(15, 22, "E-PACK-011"), (15, 52, "E-PACK-011")]


BOMB = "a: &a0 [x]\n" + "\n".join(
    f"b{i}: &a{i} [" + ", ".join([f"*a{i - 1}"] * 10) + "]" for i in range(1, 12)
)
"""Eleven lines that stand for a hundred thousand million values."""


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("", "is empty"),
        ("a: [1", "is no YAML"),
        ("a: b: c", "is no YAML"),
        ("a: 1\n---\nb: 2", "is no YAML"),
        ("a: \x07", "is no YAML"),
        ("a: &x [*x]", "nests too deep"),
        ("a: &x {b: *x, c: *x}", "nests too deep"),
        ("a: " + "[" * 100_000, "nests too deep"),
        ("a: " + "{b: " * 2_000, "nests too deep"),
        ("- " * 2_000, "nests too deep"),
        (BOMB, "holds too much"),
        ("? [a]\n: b", "a key must be a single word"),
        ("a: 99999999999999999999", "cannot be kept"),
    ],
)
def test_what_is_no_manifest_is_one_problem(write, text, message):
    """What cannot be read at all is one problem, and never an exception."""
    (problem,) = check(write(text)).problems

    assert problem.code == "E-PACK-002"
    assert message in render(problem)


def test_bytes_that_are_no_text(tmp_path):
    """A file that is not UTF-8 is a problem like others."""
    (tmp_path / "manifest.yaml").write_bytes(b"name: \xff")
    (problem,) = check(tmp_path).problems

    assert (problem.code, problem.message) == ("E-PACK-002", "is not UTF-8 (byte 6)")


def test_a_missing_manifest_is_named(tmp_path):
    """A folder without a manifest says which file is missing."""
    (problem,) = check(tmp_path).problems

    assert problem.code == "E-PACK-001"
    assert "manifest.yaml:1:1  E-PACK-001  cannot be read: No such file" in render(
        problem
    )


@pytest.mark.parametrize(
    "folder", sorted(file.parent for file in PACKS.glob("*/manifest.yaml")), ids=str
)
def test_our_own_packs_are_clean(folder):
    """Shipped packs have neither errors nor warnings, and are named as their folder."""
    checked = check(folder)

    assert [render(problem) for problem in checked.problems] == []
    assert checked.pack is not None
    assert checked.pack.name == folder.name


def test_compiling_embeds_each_condition(write):
    """A compiled pack holds one vector per heuristic, of its condition."""
    embedder = WordLlamaEmbedder()
    compiled = compile_with(load(write(GOOD)), embedder)

    assert compiled.vectors == tuple(embedder.embed(["The cake is done"]))


def test_the_json_schema_is_of_draft_07():
    """Editors get draft 07: its dialect, its word for definitions, no lone siblings."""
    schema = pack_schema()
    text = json.dumps(schema)

    assert schema["$schema"] == "http://json-schema.org/draft-07/schema#"
    assert schema["properties"]["schema"]["const"] == 1
    assert "$defs" not in text
    assert "threat" in text
    assert '"$ref": "#/definitions/Heuristic"' in text


def test_the_documented_manifest_is_a_pack(write):
    """The manifest in docs/packs.md loads, and every code has its line there."""
    page = (PACKS.parent / "docs" / "packs.md").read_text(encoding="utf-8")
    manifest = page.split("```yaml\n")[1].split("```")[0]

    assert check(write(manifest)).problems == ()
    assert [code for code in get_args(Code) if code not in page] == []


def test_prompts_may_stand_in_files_of_the_pack(write):
    """The pack holds their text; a file elsewhere, or none, is an error at its place."""
    folder = write(
        GOOD.replace("executive:\n", 'executive:\n  system_prompt: "@me.txt"\n')
    )
    missing = codes(folder)
    (folder / "me.txt").write_text("You watch over a kitchen.\n")
    prompt = load(folder).executive.system_prompt
    outside = codes(
        write(
            GOOD.replace("executive:\n", 'executive:\n  system_prompt: "@../me.txt"\n')
        )
    )

    assert prompt == "You watch over a kitchen."
    assert missing == outside == [(8, 18, "E-PACK-015")]
