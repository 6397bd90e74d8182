"""Which Pythons this machine has, and of each an environment that can answer a session.

Run as `python -m tests.pythons`, it says what it found and makes what is missing: `make
test` does so first, since no test may reach a registry. What cannot be made says why.
"""

import os
import re
import shutil
import subprocess
import sys
from collections.abc import Iterator
from dataclasses import dataclass
from hashlib import blake2b
from pathlib import Path

ROOT = Path(__file__).parent.parent
CACHE = ROOT / ".cache" / "pythons"
LOCK = ROOT / "locks" / "runs.txt"
MINORS = ("3.11", "3.12", "3.13")

PACKAGES = (
    "annotated-types", "cffi", "cryptography", "immutables", "msgspec", "nats-py",
    "numpy", "orjson", "pycparser", "pydantic", "pydantic_core", "safetensors",
    "tokenizers", "typing-inspection", "typing_extensions", "wordllama", "zstandard",
)  # fmt: skip
"""What answering a session imports, and nothing that these would bring besides."""

LOOK_S, MAKE_S = 20, 300
"""How long an interpreter may take to tell its version, and an environment to be made."""


@dataclass(frozen=True, slots=True)
class Python:
    """One of the supported versions, as this machine has it."""

    minor: str
    version: str = ""
    executable: Path | None = None
    """Of an environment that has what answering a session needs."""
    reason: str = ""
    """Why there is none."""


def python(minor: str) -> Python:
    """A version as it stands, without making anything."""
    if minor == _minor(sys.version):
        return Python(minor, sys.version.split()[0], Path(sys.executable))
    found = _interpreter(minor)
    if found is None:
        return Python(minor, reason="it is neither on PATH nor among pyenv's versions")
    version, _ = found
    home = _home(version)
    if (home / "ready").exists():
        return Python(minor, version, home / "bin" / "python")
    failure = home / "failure"
    reason = failure.read_text() if failure.exists() else "`make test` makes it"
    return Python(minor, version, reason=f"it has no environment: {reason}")


def made(minor: str) -> Python:
    """A version with its environment, which is made if it is missing."""
    known = python(minor)
    found = _interpreter(minor)
    if known.executable is None and found is not None:
        version, interpreter = found
        _make(interpreter, _home(version))
    return python(minor)


def main() -> None:
    """Make what is missing, and say what there is."""
    for minor in MINORS:
        known = made(minor)
        state = "sessions are verified" if known.executable else known.reason
        sys.stdout.write(f"Python {known.version or minor}: {state}\n")
        sys.stdout.flush()


def _interpreter(minor: str) -> tuple[str, Path] | None:
    """The version and the path of the first interpreter of a version that runs."""
    for candidate in _candidates(minor):
        try:
            ran = _run([candidate, "-c", "import ensurepip, sys; print(sys.version)"])
        except (OSError, subprocess.SubprocessError):
            continue
        if _minor(ran) == minor:
            return ran.split()[0], candidate
    return None


def _candidates(minor: str) -> Iterator[Path]:
    on_path = shutil.which(f"python{minor}")
    if on_path is not None:
        yield Path(on_path)
    root = Path(os.environ.get("PYENV_ROOT") or Path.home() / ".pyenv")
    yield from sorted((root / "versions").glob(f"{minor}.*/bin/python"), reverse=True)


def _run(command: list[str | Path], timeout_s: float = LOOK_S) -> str:
    clean = {
        name: value
        for name, value in os.environ.items()
        if not name.startswith(("PYTHON", "VIRTUAL_ENV"))
    }
    ran = subprocess.run(
        command,
        env=clean,
        timeout=timeout_s,
        capture_output=True,
        text=True,
        check=True,
    )
    return ran.stdout


def _minor(version: str) -> str:
    return ".".join(version.split()[0].split(".")[:2]) if version.strip() else ""


def _home(version: str) -> Path:
    """Where the environment is; other packages make another one."""
    return CACHE / f"{version}-{blake2b(locked().encode(), digest_size=6).hexdigest()}"


def locked() -> str:
    """The lines of the lock for `PACKAGES`, with the hash of each file that may be taken."""
    wanted = {_normal(each) for each in PACKAGES}
    parts = re.split(r"(?m)^(?=\w)", LOCK.read_text())
    return "".join(each for each in parts if _normal(each.partition("==")[0]) in wanted)


def _normal(name: str) -> str:
    return re.sub(r"[-_.]+", "-", name).lower()


def _make(interpreter: Path, home: Path) -> None:
    sys.stdout.write(f"making an environment of {interpreter} in {home}\n")
    sys.stdout.flush()
    install = ("-m", "pip", "install", "--quiet", "--disable-pip-version-check")
    pinned = ("--no-deps", "--only-binary", ":all:", "--require-hashes")
    try:
        _run([interpreter, "-m", "venv", "--clear", home], MAKE_S)
        lock = home / "lock.txt"
        lock.write_text(locked())
        _run([home / "bin" / "python", *install, *pinned, "-r", lock], MAKE_S)
        (home / "ready").touch()
    except (OSError, subprocess.SubprocessError) as error:
        said = getattr(error, "stderr", None) or str(error)
        home.mkdir(parents=True, exist_ok=True)
        (home / "failure").write_text(str(said).strip().splitlines()[-1])


if __name__ == "__main__":
    main()
