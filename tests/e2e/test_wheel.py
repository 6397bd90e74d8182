"""The wheel where nobody has the clone: installed, called, and left alone with its packs.

Its dependencies are those that it declares, taken from the environment of the tests, so
that nothing is fetched; what it does not declare is not there.
"""

import json
import os
import shutil
import subprocess
import sys
import venv
from collections.abc import Iterator
from importlib.metadata import Distribution, distribution
from pathlib import Path
from tempfile import TemporaryDirectory

import pytest
from packaging.requirements import Requirement

ROOT = Path(__file__).parents[2]

pytestmark = [pytest.mark.services, pytest.mark.slow, pytest.mark.timeout(240)]


@pytest.fixture(scope="module")
def place() -> Iterator[Path]:
    """A folder far from the clone, with the wheel in an environment of its own.

    Somebody's own `handlers` and `schemas` lie there, which must hide nothing of ours.
    It is installed with a umask of 077: a root who keeps all for himself still has a
    database, which runs as another user.
    """
    before = os.umask(0o077)
    with TemporaryDirectory(prefix="echoic-wheel-") as folder:
        here = Path(folder)
        for name in ("handlers", "schemas"):
            (here / name).mkdir()
            (here / name / "__init__.py").write_text("raise RuntimeError('not ours')")
        wheel = build(here)
        venv.create(here / "venv")
        installed = pip(
            "--python", str(python(here)), "install", "--no-deps", str(wheel)
        )
        assert installed.returncode == 0, installed.stderr
        site = Path(
            run(here, "-c", "import sysconfig; print(sysconfig.get_path('purelib'))")
            .stdout.strip()
        )  # fmt: skip
        for each in needed(wheel, "crafter"):
            link(each, site)
        os.umask(before)
        yield here


def build(folder: Path) -> Path:
    """The wheel of what the clone holds, built with the tools of the tests."""
    built = pip(
        "wheel", "--no-deps", "--no-build-isolation", "--wheel-dir", str(folder), ROOT
    )
    assert built.returncode == 0, built.stderr
    (wheel,) = folder.glob("*.whl")
    return wheel


def pip(*arguments: str | Path) -> "subprocess.CompletedProcess[str]":
    """Run pip as if there were no index."""
    return subprocess.run(
        [sys.executable, "-m", "pip", *map(str, arguments)],
        env={**os.environ, "PIP_NO_INDEX": "1"},
        capture_output=True,
        text=True,
        check=False,
    )


def needed(wheel: Path, *extras: str) -> list[Distribution]:
    """What the wheel declares, and what that needs in turn."""
    found: dict[str, Distribution] = {}
    declared = Distribution.at(
        next(wheel.parent.glob("venv/lib/*/*/echoic-*.dist-info"))
    )
    waiting = list(required(declared, {"", *extras}))
    while waiting:
        requirement = waiting.pop()
        if requirement.name in found:
            continue
        each = distribution(requirement.name)
        found[requirement.name] = each
        waiting += required(each, {"", *requirement.extras})
    return list(found.values())


def required(of: Distribution, extras: set[str]) -> Iterator[Requirement]:
    """What a distribution needs on this machine, with some of its extras."""
    for line in of.requires or ():
        requirement = Requirement(line)
        marker = requirement.marker
        if marker is None or any(marker.evaluate({"extra": each}) for each in extras):
            yield requirement


def link(of: Distribution, site: Path) -> None:
    """Install a distribution as it lies here, without a copy where the disk allows."""
    for file in of.files or ():
        source = Path(str(of.locate_file(file)))
        target = Path(os.path.normpath(site / file))
        if not source.is_file() or target.exists():
            continue
        target.parent.mkdir(parents=True, exist_ok=True)
        try:
            target.hardlink_to(source)
        except OSError:
            shutil.copy2(source, target)


def python(place: Path) -> Path:
    """The interpreter of that environment."""
    return place / "venv" / "bin" / "python"


def run(place: Path, *arguments: str) -> "subprocess.CompletedProcess[str]":
    """Run that environment's interpreter, in its folder."""
    clean = {name: os.environ[name] for name in os.environ if name[:7] != "ECHOIC_"}
    return subprocess.run(
        [str(python(place)), *arguments],
        cwd=place,
        env={**clean, "ECHOIC_DATA": str(place / "data"), "COLUMNS": "120"},
        capture_output=True,
        text=True,
        check=False,
        timeout=120,
    )


def test_the_program_is_the_installed_one(place: Path) -> None:
    """Nothing of the clone stands behind what is run."""
    ran = run(place, "-P", "-c", "import schemas, echoic; print(schemas.__file__)")

    assert str(place / "venv") in ran.stdout, ran.stderr


def test_the_demo_runs_from_a_wheel(place: Path) -> None:
    """The recorded game is played, learnt from and decided again."""
    ran = run(place, "-m", "echoic", "demo", "--json")

    assert ran.returncode == 0, ran.stderr
    closing = json.loads(ran.stdout)
    assert closing["answered"] == closing["events"] > 200
    assert closing["replay"]["identical"] == closing["replay"]["total"] > 300


def test_shipped_recordings_and_pages_are_found(place: Path) -> None:
    """Commands of the README work on what came along, and the page has its looks."""
    recording = "packs/survival/recording/evening.echoic"
    verified = run(place, "-m", "echoic", "replay", "verify", recording)
    compared = run(
        place, "-m", "echoic", "replay", "compare", recording,
        "--strategy", "heuristic_first:threshold=0.5", "--report", "page.html",
    )  # fmt: skip

    assert verified.returncode == 0, verified.stderr
    assert compared.returncode == 0, compared.stderr
    assert "<style>" in (place / "page.html").read_text()


def test_a_sensor_runs_from_a_wheel(place: Path) -> None:
    """A started instance has its pack, hears a live game, and decides on it."""
    started = run(place, "-m", "echoic", "up", "--detach", "--pack", "desk")
    try:
        played = run(
            place, "-m", "echoic", "sensor", "crafter", "--steps", "20", "--rate", "0"
        )
        decided = run(place, "-m", "echoic", "explain", "--last", "--json")
    finally:
        run(place, "-m", "echoic", "down")

    assert started.returncode == 0, started.stderr
    assert played.returncode == 0, played.stderr
    assert json.loads(decided.stdout)["source"] == "crafter"
