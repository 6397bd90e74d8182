"""What a command loads before it does anything, which is most of the time that it takes."""

import subprocess
import sys

import pytest

from tests.echoic.cli.conftest import Program

HEAVY = (
    "aiohttp", "cryptography", "evaluation", "faststream", "litellm", "numpy",
    "opentelemetry", "pgvector", "projections.store", "psycopg", "sqlalchemy",
    "tokenizers",
)  # fmt: skip
"""What none of these commands needs, or not before it knows of an instance."""

MODULES = {
    "pub": 525,
    "feedback": 485,
    "quiet": 525,
    "heuristic": 585,
    "status": 700,
    "explain": 690,
}
"""How many modules may be loaded, a few over what there are; a count, since times vary."""

IMPORTS = {"quiet off": 610, "pub hello": 535, "explain": 740}
"""How many modules a whole command may import that asks an instance about one agent."""

OF_ALL = ("status", "heuristic list")
"""What folds more or less, by what other tests left and how far the read models are."""

UNNEEDED = {*HEAVY, "aiohttp.client"} - {"aiohttp"}
"""Of aiohttp its name alone is imported: nats-py asks whether it is there."""


@pytest.mark.parametrize("name", MODULES)
def test_a_command_loads_what_it_needs(name: str) -> None:
    """No command waits for libraries of other commands."""
    probe = (
        "import sys, typer\n"
        "from echoic.cli.program import command\n"
        "from echoic.run.process import prepare\n"
        "prepare()\n"
        "program = command()\n"
        f"program.get_command(typer.Context(program), {name!r})\n"
        f"print(len(sys.modules), *(each for each in {HEAVY!r} if each in sys.modules))"
    )
    done = subprocess.run(
        [sys.executable, "-c", probe], capture_output=True, text=True, check=True
    )
    count, *heavy = done.stdout.split()

    assert heavy == []
    assert int(count) <= MODULES[name]


@pytest.mark.services
def test_a_command_imports_little_until_its_end(live: Program) -> None:
    """What asks a running instance one thing loads no library for another."""
    own = ("--agent", "starter")
    assert live("pub", "hello", "--wait", *own).code == 0

    found: dict[str, set[str]] = {}
    for name in (*IMPORTS, *OF_ALL):
        ran = live(*name.split(), *own, PYTHONPROFILEIMPORTTIME="1")
        assert ran.code == 0, ran.err
        told = [line for line in ran.err.splitlines() if line.startswith("import time")]
        found[name] = {line.rpartition("|")[2].strip() for line in told}

    heavy = {name: UNNEEDED & found[name] for name in IMPORTS}
    assert [name for name in IMPORTS if heavy[name]] == [], heavy
    assert [each for each in OF_ALL if "sqlalchemy" in found[each]] == []
    counts = {name: len(found[name]) for name in IMPORTS}
    assert {
        name: counts[name] for name in IMPORTS if counts[name] > IMPORTS[name]
    } == {}
