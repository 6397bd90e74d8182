"""`echoic pack`: what a domain brings, on disk and in force."""

from pathlib import Path
from typing import Annotated

import typer

from echoic import errors, packs
from echoic.cli.common import Json, new_app, note, print_json
from schemas.packs import Pack

app = new_app("pack", "What a domain brings: list, load, validate, schema.")


@app.command()
def validate(
    folders: Annotated[list[Path], typer.Argument(help="Folders of packs.")],
    as_json: Json = False,
) -> None:
    """Name everything that is wrong with packs, each with its place.

    Examples: `echoic pack validate packs/survival`, `echoic pack validate packs/*`.
    """
    checked = [(folder, packs.check(folder)) for folder in folders]
    problems = [problem for _, each in checked for problem in each.problems]
    failures = sum(problem.severity == "error" for problem in problems)
    if as_json:
        print_json({"v": 1, "problems": [_fields(problem) for problem in problems]})
    else:
        for problem in problems:
            print(packs.render(problem))
        for folder, each in checked:
            if each.pack is not None:
                print(f"{folder}: {_summary(each.pack)}")
        note(f"{failures} errors, {len(problems) - failures} warnings")
    if failures:
        raise typer.Exit(errors.FINDING)


@app.command()
def schema() -> None:
    """Print the JSON Schema of a pack's manifest, for editors.

    Example: `echoic pack schema > pack.schema.json`.
    """
    print_json(packs.pack_schema())


def _summary(pack: Pack) -> str:
    return (
        f"{pack.name} {pack.version}, {len(pack.heuristics)} heuristics,"
        f" {len(pack.events)} event types"
    )


def _fields(problem: packs.Problem) -> dict[str, object]:
    return {
        "file": str(problem.file),
        "line": problem.line,
        "column": problem.column,
        "code": problem.code,
        "severity": problem.severity,
        "message": problem.message,
        "suggestion": problem.suggestion,
    }
