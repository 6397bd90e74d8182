"""The program as people run it: a process of its own, over a folder of its own."""

import json
import os
import subprocess
import sys
from collections.abc import Iterator
from contextlib import redirect_stderr, redirect_stdout
from dataclasses import dataclass
from datetime import UTC, datetime
from io import StringIO
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import pytest
from msgspec.structs import replace

from echoic.cli.program import command, run
from streams.bounds import Standing, amend_standing
from tests.patience import PATIENCE_S

ROOT = Path(__file__).parents[3]
DAY_BYTES = 8_192_000_000
"""What a sender may send in a day."""
SURVIVAL = ROOT / "packs" / "survival"


@dataclass(frozen=True, slots=True)
class Ran:
    """What a command did."""

    code: int
    out: str
    err: str

    @property
    def json(self) -> Any:
        """The one line of JSON that it printed."""
        return json.loads(self.out)


@dataclass(frozen=True, slots=True)
class Program:
    """`echoic` over one data folder."""

    folder: Path

    @property
    def data(self) -> Path:
        """The data folder."""
        return self.folder / "data"

    @property
    def environment(self) -> dict[str, str]:
        """Ours, with folders of its own for everything."""
        return {
            **os.environ,
            "ECHOIC_DATA": str(self.data),
            "XDG_CONFIG_HOME": str(self.folder / "config"),
            "OTEL_TRACES_EXPORTER": "none",
            # Any free port: the usual one may belong to an instance beside the tests.
            "ECHOIC_METRICS_LISTEN": "127.0.0.1:0",
            "COLUMNS": "120",
        }

    def spend(self, sender: str, sent: int) -> None:
        """Note that a sender has sent so many bytes today."""
        day = datetime.now(UTC).date().isoformat()

        def spent(noted: Standing | None) -> Standing:
            assert noted is not None, "the instance notes it at each look"
            return replace(noted, day=day, used={**noted.used, sender: sent})

        amend_standing(self.data / "nats", spent)

    def __call__(
        self, *arguments: str, stdin: str | None = None, **environment: str
    ) -> Ran:
        """Run a command to its end."""
        done = subprocess.run(
            [sys.executable, "-m", "echoic", *arguments],
            input=stdin,
            capture_output=True,
            text=True,
            cwd=self.folder,
            env=self.environment | environment,
            timeout=PATIENCE_S,
            check=False,
        )
        return Ran(done.returncode, done.stdout, done.stderr)

    def here(self, *arguments: str, stdin: str = "", **environment: str) -> Ran:
        """Run a command to its end within this process, which spares its imports."""
        out, err = StringIO(), StringIO()
        with pytest.MonkeyPatch.context() as patch:
            patch.chdir(self.folder)
            patch.setattr(sys, "stdin", StringIO(stdin))
            for name, value in (self.environment | environment).items():
                patch.setenv(name, value)
            with redirect_stdout(out), redirect_stderr(err):
                code = run(
                    lambda: command()(arguments, "echoic", standalone_mode=False)
                )
        return Ran(code, out.getvalue(), err.getvalue())

    def start(self, *arguments: str) -> "subprocess.Popen[str]":
        """Start a command that goes on."""
        return subprocess.Popen(
            [sys.executable, "-m", "echoic", *arguments],
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            text=True,
            cwd=self.folder,
            env=self.environment,
        )


@pytest.fixture
def echoic() -> Iterator[Program]:
    """The program over an empty folder; nothing runs."""
    # Not pytest's own folder: a second run closes that to the database's user.
    with TemporaryDirectory(prefix="echoic-cli-") as folder:
        yield Program(Path(folder))


@pytest.fixture(scope="session")
def live() -> Iterator[Program]:
    """The program beside an instance that has the survival pack."""
    with TemporaryDirectory(prefix="echoic-cli-") as folder:
        program = Program(Path(folder))
        started = program("up", "--detach", "--pack", str(SURVIVAL))
        assert started.code == 0, started.err
        try:
            yield program
        finally:
            program("down")
