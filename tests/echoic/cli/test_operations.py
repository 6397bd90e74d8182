"""docs/operations.md: its commands are run as they stand, its tables are held to the code."""

import ast
import json
import os
import re
import shlex
import shutil
import subprocess
import sys
import tomllib
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from tempfile import TemporaryDirectory

import pytest

from projections.postgres.server import embedded_postgres
from tests.echoic.cli.acting import eventually, read_models, thirsty
from tests.echoic.cli.conftest import ROOT, SURVIVAL, Program, Ran
from tests.echoic.cli.test_instances import running
from tests.servers import fresh_server

pytestmark = [pytest.mark.services, pytest.mark.slow, pytest.mark.timeout(600)]

PAGE = (ROOT / "docs" / "operations.md").read_text()
LIFECYCLE = ("up", "down", "restore")
"""Commands that end what other tests need; they are run elsewhere in this file."""


def section(heading: str) -> str:
    """What stands under a heading."""
    return PAGE.partition(f"\n## {heading}\n")[2].partition("\n## ")[0]


def blocks(heading: str) -> list[list[str]]:
    """The commands of each console block under a heading."""
    found = re.findall(r"```console\n(.*?)```", section(heading), re.DOTALL)
    return [[line[2:] for line in block.splitlines()] for block in found]


def rows(heading: str) -> Iterator[list[str]]:
    """The cells of each row of the table under a heading, without its head."""
    lines = [line for line in section(heading).splitlines() if line.startswith("| ")]
    return ([cell.strip() for cell in line.split(" | ")] for line in lines[1:])


@dataclass(frozen=True, slots=True)
class Home:
    """Somebody's home folder, in which the program is called by its name."""

    folder: Path

    @property
    def data(self) -> Path:
        """The data folder where none is named."""
        return self.folder / ".local" / "share" / "echoic" / "default"

    def __call__(self, command: str, **variables: str) -> Ran:
        """Run a line of shell in it."""
        kept = {name: os.environ[name] for name in os.environ if name[:4] != "XDG_"}
        programs = os.pathsep.join((str(Path(sys.executable).parent), kept["PATH"]))
        done = subprocess.run(
            ["bash", "-euc", command],
            stdin=subprocess.DEVNULL,
            capture_output=True,
            text=True,
            cwd=self.folder,
            env={
                **kept,
                "HOME": str(self.folder),
                "PATH": programs,
                "OTEL_TRACES_EXPORTER": "none",
                **variables,
            },
            timeout=170,
            check=False,
        )
        return Ran(done.returncode, done.stdout, done.stderr)

    def run(self, commands: list[str]) -> None:
        """Run commands one after the other; each works, at the latest after a while."""
        for command in commands:
            ran = eventually(lambda line=command: self(line))  # type: ignore[misc]
            assert ran.code == 0, (command, ran.out, ran.err)

    def records(self, data: str = "") -> list[str]:
        """All messages of the log of an instance, as they are stored."""
        ran = self("echoic log tail -n 100000 --json " + data)
        assert ran.code == 0, ran.err
        return ran.out.splitlines()


@pytest.fixture
def home() -> Iterator[Home]:
    """An empty home; what runs over its data folders is stopped."""
    with TemporaryDirectory(prefix="echoic-home-") as folder:
        made = Home(Path(folder))
        try:
            yield made
        finally:
            for data in (made.data, made.folder / "restored"):
                made(f"echoic down --data {shlex.quote(str(data))}")


def test_it_is_configured_and_run_as_the_page_says(home: Home) -> None:
    """The setting of the file is in force, and nothing is left running."""
    configure, run = blocks("Configure")[0], *blocks("Run")

    home.run(configure)
    shown = home("echoic config show --origin --json")
    home.run(run)

    assert "0.4" in shown.out
    assert home("echoic status").code == 3


def test_it_is_upgraded_as_the_page_says(home: Home) -> None:
    """Copied, stopped, started, verified, and its tables made again."""
    use(home)

    for commands in blocks("Upgrade"):
        home.run(commands)

    assert (home.folder / "before-upgrade.backup").stat().st_size > 0
    assert home("echoic projection lag").code == 0


def test_a_copy_is_restored_beside_the_original(home: Home) -> None:
    """Each message, each decision and each account are there again, on other ports."""
    use(home)
    home.run(["echoic sensor access door"])
    before = home.records()
    backup, restore, stopped, again = blocks("Back up and restore")
    assert restore[-1].startswith("echoic down")
    there = "--data restored"

    home.run(backup)
    home.run(restore[:-1])
    restored = home.records(there)
    last = [home(f"echoic explain --last --json {each}") for each in ("", there)]
    goes_on = home(f"echoic pub 'The front door opened' --wait {there}")
    access = [
        json.loads((data / "sensors" / "companion.door.json").read_text())
        for data in (home.data, home.folder / "restored")
    ]
    home.run(restore[-1:])
    home.run(stopped)
    home.run(again)

    assert restored[: len(before)] == before
    assert [ran.code for ran in (*last, goes_on)] == [0, 0, 0]
    assert last[0].json == last[1].json
    assert access[0].pop("url") != access[1].pop("url")
    assert access[0] == access[1]


def use(home: Home) -> None:
    """Start an instance, tell it a few things, and judge one."""
    taught = (
        "echoic heuristic seed --domain kitchen --confidence 0.8"
        " --condition 'The oven is on and nobody is home' --say 'The oven!'"
    )
    told = "echoic pub 'The oven is still on and nobody is at home' --source kitchen"
    home.run(["echoic up --detach", taught, f"{told} --type oven --wait"])
    home.run(["echoic feedback last up", "echoic pub 'A cat came in' --wait"])


def test_an_older_log_under_newer_tables_is_noticed(echoic: Program) -> None:
    """The stopped folder counts what is missing, doctor names the tables; both mend."""
    store, older = echoic.data / "nats", echoic.folder / "older"
    with running(echoic, ECHOIC_PACKS=str(SURVIVAL)):
        thirsty(echoic, "ada", 3, "Your drink is low: 3 of 9.")
    shutil.copytree(store, older)
    with running(echoic):
        for drink in (2, 1):
            thirsty(echoic, "ada", drink, f"Your drink is low: {drink} of 9.")
        assert eventually(lambda: echoic.here("projection", "lag")).code == 0
        assert echoic.here("log", "verify").code == 0
    shutil.rmtree(store)
    older.rename(store)

    stopped = echoic.here("log", "verify", "--json")
    with running(echoic):
        found = read_models(echoic)
        rebuilt = echoic.here("projection", "rebuild")
        mended = read_models(echoic)
        thirsty(echoic, "ada", 2, "Your drink is low: 2 of 9.")
        lag = eventually(lambda: echoic.here("projection", "lag"))

    assert (stopped.code, stopped.json["broken_chains"]) == (1, 1)
    assert found["verdict"] == "problem"
    assert "the log" in found["found"]
    assert found["advice"] == "echoic projection rebuild"
    assert rebuilt.code == lag.code == 0, rebuilt.err + lag.err
    assert mended["verdict"] != "problem"


async def test_it_runs_on_servers_of_ones_own(home: Home) -> None:
    """The block with the two addresses, these being real ones."""
    (block,) = re.findall(r"```sh\n(.*?)```", section("Run"), re.DOTALL)
    async with (
        fresh_server() as broker,
        embedded_postgres(home.folder / "db", durable=False) as database,
    ):
        user = f"{broker.core.user}:{broker.core.password}@"
        addresses = {
            r"nats://\S+": broker.core.url.replace("://", f"://{user}"),
            r"postgresql://\S+": database.url,
        }
        for shown, real in addresses.items():
            block, count = re.subn(shown, real, block)
            assert count == 1
        ran = home(block)

    assert ran.code == 0, ran.out + ran.err
    assert not (home.data / "nats").exists()
    assert not (home.data / "postgres").exists()


def test_every_advice_is_a_command(live: Program) -> None:
    """What the tables and sentences tell to type exists, and what asks also answers."""
    called = {
        line.split(" …")[0] for line in re.findall(r"`(?:\w+=1 )?echoic (.+?)`", PAGE)
    }
    asked = {line for row in rows("When something is wrong") for line in typed(row[1])}
    assert len(called) > 12
    for line in sorted(called):
        words = [word for word in shlex.split(line) if not word.startswith("-")]
        told = live.here(*[word for word in words if word.islower()], "--help")
        assert told.code == 0, line
    for line in sorted(asked):
        if not line.startswith(LIFECYCLE):
            ran = live.here(*shlex.split(line))
            assert ran.code in (0, 1), (line, ran.err)


def typed(cell: str) -> list[str]:
    """The commands in a cell."""
    return re.findall(r"`(?:\w+=1 )?echoic (.+?)`", cell)


def test_what_one_sees_is_what_is_said() -> None:
    """Each message in the table is one of the program's own, with its gaps as `…`."""
    said = "\n".join(messages())
    wanted = [
        part.strip()
        for row in rows("When something is wrong")
        for words in re.findall(r"`(.+?)`", row[0])
        for part in words.split("…")
        if part.strip()
    ]

    assert len(wanted) > 10
    assert [each for each in wanted if each not in said] == []


def messages() -> Iterator[str]:
    """Every text in the program's code, adjacent ones joined as Python joins them."""
    for folder in ("echoic", "streams", "projections", "schemas"):
        for path in (ROOT / folder).rglob("*.py"):
            for node in ast.walk(ast.parse(path.read_text())):
                if isinstance(node, ast.Constant) and isinstance(node.value, str):
                    yield node.value


def test_what_the_page_installs_exists() -> None:
    """The extras, the file of the wheel, and the targets of make."""
    project = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]
    targets = re.findall(r"^(\w+):", (ROOT / "Makefile").read_text(), re.MULTILINE)

    extras = [row[0].strip("|` ") for row in rows("Install")]

    assert sorted(extras) == sorted(set(project["optional-dependencies"]) - {"dev"})
    assert f"dist/echoic-{project['version']}-py3-none-any.whl" in section("Install")
    assert set(re.findall(r"`make (\w+)`", PAGE)) <= set(targets)
