"""What a command loads before it does anything, which is most of the time that it takes."""

import subprocess
import sys

import pytest

HEAVY = (
    "aiohttp", "evaluation.compare", "evaluation.ope", "faststream", "litellm", "numpy",
    "opentelemetry", "pgvector", "projections.store", "psycopg", "sqlalchemy",
    "tokenizers",
)  # fmt: skip
"""What none of these commands needs, or not before it knows of an instance."""

MODULES = {
    "pub": 660,
    "feedback": 630,
    "quiet": 630,
    "heuristic": 640,
    "status": 780,
    "explain": 790,
}
"""How many modules may be loaded, a few over what there are; a count, since times vary."""


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
