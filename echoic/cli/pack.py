"""`echoic pack`: the data of a domain, on disk and in force."""

import re
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Annotated

import typer
from rich.text import Text

from echoic import errors
from echoic.cli.connected import on_instance
from echoic.cli.options import Call, Json, TextCall, new_app
from echoic.client import packs as packs_in_force
from echoic.client.connection import Connection
from echoic.errors import EchoicError, NotFoundError
from echoic.packs import bundled
from echoic.packs import load as packs
from echoic.packs import new as new_pack
from echoic.terminal.output import note, print_json
from echoic.terminal.screen import counted, verbatim
from schemas.packs.manifest import Pack
from schemas.values.subjects import SHARED_AGENT, partition_of

_TOKEN = r"[A-Za-z0-9_-]{1,64}"

app = new_app("pack", "The data of a domain: new, test, list, load, validate, schema.")


@app.command()
def validate(folders: list[Path], as_json: Json = False) -> None:
    """Name everything that is wrong with packs, each with its place.

    Examples: `echoic pack validate packs/survival`, `echoic pack validate packs/*`.

    Args:
        folders: Folders of packs.
    """
    checked = [(folder, packs.check(bundled.found(folder))) for folder in folders]
    problems = [problem for _, each in checked for problem in each.problems]
    failures = sum(problem.severity == "error" for problem in problems)
    summaries = (
        f"{folder}: {_summary(each.pack)}" for folder, each in checked if each.pack
    )
    Call(as_json=as_json).show(
        {"problems": list(map(_fields, problems))},
        (*map(verbatim, map(packs.render, problems)), *summaries),
    )
    if not as_json:
        note(
            f"{counted(failures, 'error')},"
            f" {counted(len(problems) - failures, 'warning')}"
        )
    if failures:
        raise typer.Exit(errors.FINDING)


@app.command()
def new(name: str, folder: Path | None = None) -> None:
    """Write a pack that works, with a test: to be made one's own.

    Examples: `echoic pack new greenhouse`, `echoic pack new greenhouse --folder ~/plants`.

    Args:
        name: The pack's, also that of its domain.
        folder: Where; else a folder of that name in `packs`, from which `echoic up` loads.
    """
    if not re.fullmatch(_TOKEN, name):
        raise EchoicError(
            f"{name!r} is no name of a pack: give letters, digits, - or _",
            next_step="echoic pack new greenhouse",
        )
    made = folder or Path("packs") / name
    for file in new_pack.write(made, name):
        print(file)
    note(f"next: echoic pack test {made}")


@app.command(name="test")
def _run_tests(folders: list[Path], as_json: Json = False) -> None:
    """Run the tests of packs: events in, expected decisions out, without an instance.

    Examples: `echoic pack test packs/survival`, `echoic pack test packs/*`.

    Args:
        folders: Folders of packs, each with its cases in `tests/*.yaml`.
    """
    from echoic.world import pack_tests

    rows = [
        {"pack": pack.name, "file": each.file, "name": each.name, "faults": each.faults}
        for folder in folders
        for pack in (packs_in_force.read_pack(folder),)
        for each in pack_tests.run(pack, bundled.found(folder))
    ]
    failed = [row for row in rows if row["faults"]]
    Call(as_json=as_json).show(
        {"tests": rows}, (line for row in rows for line in _tested(row))
    )
    if not as_json:
        note(f"{counted(len(rows), 'test')}, {len(failed)} failed")
        if not rows:
            note(f"next: write cases into {folders[0] / pack_tests.FOLDER}/*.yaml")
    if failed or not rows:
        raise typer.Exit(errors.FINDING)


@app.command(name="list")
def list_(call: Call) -> None:
    """List the packs in force for the agent.

    Example: `echoic pack list`.
    """

    async def run(connection: Connection) -> list[dict[str, object]]:
        log, name = connection.log, connection.settings.agent
        place = partition_of(name)
        shared = await packs_in_force.in_force(log, SHARED_AGENT, place)
        own = await packs_in_force.in_force(log, name, place)
        return [
            {
                "name": each.name,
                "version": each.pack_version,
                "for": name if each.name in own else "all",
                "digest": each.digest[:12],
            }
            # An agent's own version of a pack is in force instead of that for all.
            for each in (shared | own).values()
        ]

    rows = on_instance(call, run)
    call.show_rows(rows, ("name", "version", "for", "digest"), map(dict.values, rows))


@app.command()
def load(
    call: TextCall,
    folder: Path,
    everyone: Annotated[bool, typer.Option("--all")] = False,
) -> None:
    """Put a pack in force; another version of it is replaced.

    Examples: `echoic pack load packs/survival`, `echoic pack load packs/desk --all`.

    Args:
        folder: The pack's folder.
        everyone: For every agent, not just one.
    """

    async def run(connection: Connection) -> str:
        name = connection.settings.agent
        if everyone:
            await packs_in_force.load_all(
                connection.log, [packs_in_force.read_pack(folder)]
            )
            return "in force for all agents"
        loaded = await packs_in_force.load_for(connection.log, name, folder)
        return f"in force for {name}" if loaded else f"was in force for {name} already"

    print(on_instance(call, run))


@app.command()
def unload(
    call: TextCall, name: str, everyone: Annotated[bool, typer.Option("--all")] = False
) -> None:
    """Take a pack out of force; what was learnt of it is kept for when it is loaded again.

    A pack that the settings or the folder `packs` name is loaded again by the next `up`.
    Examples: `echoic pack unload survival`, `echoic pack unload desk --all`.

    Args:
        name: The pack's name, as `echoic pack list` shows it.
        everyone: For every agent, not just one.
    """

    async def run(connection: Connection) -> str:
        agent = connection.settings.agent
        owner = SHARED_AGENT if everyone else agent
        if await packs_in_force.unload(connection.log, owner, name):
            return f"out of force for {'all agents' if everyone else agent}"
        of = "" if everyone else f" for {agent} alone"
        raise NotFoundError(
            f"no pack {name!r} is in force{of}",
            next_step="echoic pack list"
            + ("" if everyone else f", or echoic pack unload {name} --all"),
        )

    print(on_instance(call, run))


@app.command()
def schema() -> None:
    """Print the JSON Schema of a pack's manifest, for editors.

    Example: `echoic pack schema > pack.schema.json`.
    """
    print_json(packs.pack_schema())


def _tested(row: Mapping[str, object]) -> Iterator[Text]:
    faults = row["faults"]
    assert isinstance(faults, tuple)
    mark = "failed" if faults else "passed"
    yield verbatim(f"{mark}  {row['pack']}/{row['file']}  {row['name']}")
    yield from (verbatim(f"        {each}") for each in faults)


def _summary(pack: Pack) -> str:
    return (
        f"{pack.name} {pack.version}, {counted(len(pack.heuristics), 'heuristic')},"
        f" {counted(len(pack.events), 'event type')}"
    )


def _fields(problem: packs.Problem) -> dict[str, object]:
    shown = ("line", "column", "code", "severity", "message", "suggestion")
    return {
        "file": str(problem.file),
        **{each: getattr(problem, each) for each in shown},
    }
