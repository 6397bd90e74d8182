"""Manifests about readings, and ones that share their parts by YAML's merge keys."""

from pathlib import Path

import pytest

from echoic.packs.load import check, load

HEAD = "schema: 1\nname: hall\nversion: '1.0'\nsetting: home\n"
RULE = """\
events:
  - {{type: climate, source: hall, fields: {{celsius: number}}}}
heuristics:
  - name: freezing
    condition: The hall is cold
    when: {when}
    action: {{type: alert, text: It is freezing.}}
"""


def written(folder: Path, text: str) -> Path:
    (folder / "manifest.yaml").write_text(text)
    return folder


@pytest.mark.parametrize(
    ("when", "column", "advice"),
    [
        ("not celsius >= 5", 15, "write celsius < 5"),
        ("not (celsius < 5.5)", 16, "write celsius >= 5.5"),
        ('type = "climate" and not not celsius > 1', 40, "write celsius <= 1"),
    ],
)
def test_a_denied_comparison_of_size_is_warned_of(
    tmp_path: Path, when: str, column: int, advice: str
) -> None:
    """It says how to write it so that its meaning shows."""
    (problem,) = check(written(tmp_path, HEAD + RULE.format(when=when))).problems

    assert (problem.code, problem.severity) == ("E-PACK-016", "warning")
    assert (problem.line, problem.column) == (10, column)
    assert advice in str(problem)


@pytest.mark.parametrize("when", ["celsius < 5", 'not type = "x"', "not celsius = 5"])
def test_others_are_not(tmp_path: Path, when: str) -> None:
    """A comparison that says what it means, or asks for no size."""
    found = check(written(tmp_path, HEAD + RULE.format(when=when))).problems

    assert [each for each in found if each.code == "E-PACK-016"] == []


@pytest.mark.parametrize(
    "event",
    [
        "{<<: *b, type: fan}",
        "{type: fan, <<: *b}",
        "{<<: [*b, {source: attic}], type: fan}",
    ],
)
def test_merge_keys_are_read(tmp_path: Path, event: str) -> None:
    """What is written wins over what is merged, and `x-` keys are a place for anchors."""
    text = (
        f"{HEAD}x-base: &b {{type: none, source: hall, ttl_s: 60}}\n"
        f"events:\n  - {event}\n"
    )

    checked = check(written(tmp_path, text))
    (declared,) = load(tmp_path).events

    assert checked.problems == ()
    assert (declared.type, declared.source, declared.ttl_s) == ("fan", "hall", 60)


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("x-a: &a {<<: *a}\nevents: [{<<: *a}]\n", "nests too deep"),
        ("x-a: &a 3\nevents: [{<<: *a, type: t}]\n", "<< merges a mapping"),
        ("x-a: &a {sauce: hall}\nevents: [{<<: *a, type: t}]\n", '"source"?'),
        (
            "x-0: &a0 {type: t}\n"
            + "".join(
                f"x-{n}: &a{n} {{<<: [{', '.join([f'*a{n - 1}'] * 9)}]}}\n"
                for n in range(1, 9)
            )
            + "events: [{<<: *a8}]\n",
            "holds too much",
        ),
    ],
)
def test_a_merge_that_cannot_be_is_named(
    tmp_path: Path, text: str, message: str
) -> None:
    """One that merges itself, no mapping, a wrong key, or far too much."""
    problems = check(written(tmp_path, HEAD + text)).problems

    assert message in "\n".join(map(str, problems))
