"""Take the image's steps in an empty root, and run what comes of it.

    debootstrap --variant=minbase --include=python3,python3-venv,ca-certificates \\
        trixie /tmp/base
    python -m bench.image /tmp/base

For machines without Docker: the steps are read from `deploy/Dockerfile`, only its base image
is the folder that is given (a Debian with the same Python). What compose says of the worker
and the projector holds for them here: a read-only root, no capabilities, the same variables,
over three brokers and a PostgreSQL that run outside. It needs root, and a minute or two.
"""

import argparse
import asyncio
import json
import os
import re
import shlex
import shutil
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path

from ruamel.yaml import YAML

from projections.postgres.server import embedded_postgres
from tests.deploy.cluster import DEPLOY, Cluster, cluster

CONTEXT = DEPLOY.parent
START_S = 120.0
_PATH = "/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin"
_PASSED_OVER = ("VOLUME",)
_ABSENT = ("nats-server", "postgres", "pip", "gcc", "git")
"""Programs that the image must not have."""


@dataclass(slots=True)
class Stage:
    """The root folder of one stage, and what its steps have set so far."""

    root: Path
    workdir: str = "/"
    user: str = "0"
    environment: dict[str, str] = field(default_factory=lambda: {"PATH": _PATH})
    commands: dict[str, list[str]] = field(default_factory=dict)
    """ENTRYPOINT, CMD and HEALTHCHECK."""

    def inside(self, path: str) -> Path:
        """Return where a path of the image is on this machine."""
        return self.root / str(Path(self.workdir) / path).lstrip("/")


def steps(text: str) -> Iterator[tuple[str, str]]:
    """Yield the instructions of a Dockerfile with their arguments, lines joined."""
    code = re.sub(r"^\s*#.*\n", "", text, flags=re.MULTILINE)
    for line in code.replace("\\\n", " ").splitlines():
        if line.strip():
            name, _, rest = line.strip().partition(" ")
            yield name, " ".join(rest.split())


def build(text: str, base: Path, folder: Path) -> Stage:
    """Take all steps; return the last stage.

    Raises:
        ValueError: a step is of a kind that is not known here.
        subprocess.CalledProcessError: a step fails.
    """
    stages: dict[str, Stage] = {}
    stage = Stage(base)
    for name, rest in steps(text):
        print(f"{name} {rest}", file=sys.stderr, flush=True)
        if name == "FROM":
            named = rest.split(" AS ")[1:] or ["last"]
            stage = stages[named[0]] = _begun(base, folder / named[0])
        elif name == "RUN":
            _run(stage, rest)
        elif name == "COPY":
            _copy(stage, rest, stages)
        elif name == "ENV":
            words = (each.partition("=") for each in shlex.split(rest))
            stage.environment |= {
                key: value.replace("$PATH", stage.environment["PATH"])
                for key, _, value in words
            }
        elif name == "WORKDIR":
            stage.workdir = rest
            stage.inside("").mkdir(parents=True, exist_ok=True)
        elif name == "USER":
            stage.user = rest
        elif name in ("ENTRYPOINT", "CMD", "HEALTHCHECK"):
            stage.commands[name] = json.loads(rest[rest.index("[") :])
        elif name not in _PASSED_OVER:
            raise ValueError(f"{name}: such a step is not known here")
    return stage


def _begun(base: Path, root: Path) -> Stage:
    subprocess.run(["cp", "--archive", base, root], check=True)
    # The image of Python calls it so as well.
    (root / "usr/bin/python").unlink(missing_ok=True)
    (root / "usr/bin/python").symlink_to("python3")
    # A build has the network of its machine.
    for path in ("etc/resolv.conf", "etc/ssl/certs/ca-certificates.crt"):
        (root / path).unlink(missing_ok=True)
        shutil.copy(Path("/") / path, root / path)
    return Stage(root)


def _run(stage: Stage, command: str) -> None:
    pip = {key: value for key, value in os.environ.items() if key.startswith("PIP_")}
    inner = f"cd {shlex.quote(stage.workdir)} && {command}"
    subprocess.run(
        ["chroot", stage.root, "/bin/sh", "-c", inner],
        env=pip | stage.environment,
        stdout=sys.stderr,
        check=True,
    )


def _copy(stage: Stage, rest: str, stages: Mapping[str, Stage]) -> None:
    words = rest.split()
    source = CONTEXT
    if words[0].startswith("--from="):
        source = stages[words.pop(0).removeprefix("--from=")].root
    *names, target = words
    for name in names:
        found, there = source / name.lstrip("/"), stage.inside(target)
        if target.endswith("/"):
            there = there / found.name
        there.parent.mkdir(parents=True, exist_ok=True)
        if found.is_dir():
            # As .dockerignore has it, which a test holds against these steps.
            ignored = shutil.ignore_patterns("__pycache__")
            shutil.copytree(found, there, symlinks=True, ignore=ignored)
        else:
            shutil.copy(found, there)


class Container:
    """One service of compose.yaml over the built root, without a network of its own."""

    def __init__(
        self, stage: Stage, data: Path, environment: Mapping[str, str]
    ) -> None:
        """Give it a data folder, which belongs to the image's user."""
        data.mkdir(mode=0o700)
        os.chown(data, int(stage.user), int(stage.user))
        self._stage, self._data = stage, data
        self._environment = stage.environment | dict(environment)

    def run(self, command: list[str]) -> "subprocess.CompletedProcess[str]":
        """Run one more command in it, as `docker compose exec` does."""
        return subprocess.run(
            self._command(command), env=self._environment, text=True,
            capture_output=True, check=False,
        )  # fmt: skip

    @contextmanager
    def up(self) -> Iterator["subprocess.Popen[bytes]"]:
        """Keep it up for the length of the block; SIGTERM must end it cleanly."""
        commands = self._stage.commands
        whole = self._command(commands["ENTRYPOINT"] + commands["CMD"])
        process = subprocess.Popen(whole, env=self._environment, stdout=sys.stderr)
        try:
            yield process
        finally:
            process.terminate()
            code = process.wait(60)
        assert code == 0, f"it ended with {code}"

    def healthy(self, process: "subprocess.Popen[bytes]") -> None:
        """Wait until the image's own probe is content."""
        until = time.monotonic() + START_S
        while (found := self.run(self._stage.commands["HEALTHCHECK"])).returncode:
            assert process.poll() is None, "it ended"
            assert time.monotonic() < until, found.stdout + found.stderr
            time.sleep(1)

    def _command(self, command: list[str]) -> list[str]:
        root, user = shlex.quote(str(self._stage.root)), self._stage.user
        mounts = f"""
            mount --bind {root} {root} && mount -o remount,bind,ro {root}
            mount --bind {shlex.quote(str(self._data))} {root}/data
            mount --rbind /dev {root}/dev && mount -t proc proc {root}/proc
            mount -t tmpfs tmpfs {root}/tmp
        """
        inside = shlex.join(
            ["setpriv", f"--reuid={user}", f"--regid={user}", "--clear-groups",
             "--no-new-privs", "--bounding-set=-all", "--inh-caps=-all",
             "env", f"--chdir={self._stage.workdir}", *command]
        )  # fmt: skip
        script = f"set -e\n{mounts}\nexec chroot {root} {inside}"
        return ["unshare", "--mount", "sh", "-c", script]


async def tried(stage: Stage, folder: Path) -> dict[str, object]:
    """Run worker and projector as compose does, and have one event decided."""
    services = YAML(typ="safe").load(DEPLOY / "compose.yaml")["services"]
    async with (
        cluster(folder) as made,
        embedded_postgres(folder / "elsewhere", durable=False) as database,
    ):
        _give_secrets(stage, made, database.url)
        here = {"OTEL_TRACES_EXPORTER": "none", "ECHOIC_METRICS_LISTEN": "off"}
        worker, projector = (
            Container(stage, folder / name, services[name]["environment"] | here)
            for name in ("worker", "projector")
        )
        return await asyncio.to_thread(_look, worker, projector)


def _give_secrets(stage: Stage, made: Cluster, database_url: str) -> None:
    secrets = stage.root / "run/secrets"
    secrets.mkdir(parents=True)
    shutil.copy(made.variables["NATS_URL_FILE"], secrets / "nats_url")
    (secrets / "database_url").write_text(database_url)
    shutil.copy(made.variables["ECHOIC_NATS_CA"], secrets / "ca")


def _look(worker: Container, projector: Container) -> dict[str, object]:
    pub = ["echoic", "pub", "Player health is low", "--wait", "--json"]
    down = worker.run(["echoic", "health"]).returncode
    with worker.up() as first, projector.up() as second:
        worker.healthy(first)
        projector.healthy(second)
        decided = worker.run(pub)
        assert decided.returncode == 0, decided.stderr
        doctor = worker.run(["echoic", "doctor"])
        print(doctor.stdout, file=sys.stderr)
        written = worker.run(["sh", "-c", "echo x > /opt/echoic/x"]).returncode
        user = worker.run(["id", "-u"]).stdout.strip()
    return {
        "health_before": down,
        "health": 0,
        "decision": json.loads(decided.stdout)["silence"],
        "doctor": doctor.returncode,
        "user": user,
        "can_write_its_program": written == 0,
    }


def main() -> None:
    """Build, look at what is in it, and run it."""
    parser = argparse.ArgumentParser(prog="python -m bench.image")
    parser.add_argument("base", type=Path, help="a root folder with Python in it")
    base = parser.parse_args().base.resolve()
    with tempfile.TemporaryDirectory(prefix="echoic-image-") as name:
        folder = Path(name)
        # The image's user passes through to its data.
        folder.chmod(0o755)
        stage = build((DEPLOY / "Dockerfile").read_text(), base, folder)
        programs = stage.root / "opt/echoic/bin"
        found = [each for each in _ABSENT if list(programs.glob(f"{each}*"))]
        assert not found, found
        size = subprocess.check_output(["du", "-sm", stage.root / "opt/echoic"])
        told = asyncio.run(tried(stage, folder))
    print(json.dumps({"megabytes": int(size.split()[0]), **told}, indent=2))


if __name__ == "__main__":
    main()
