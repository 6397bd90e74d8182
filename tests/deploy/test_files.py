"""The files of `deploy/`: well formed, at one with each other and with the program."""

import os
import re
import shutil
import subprocess
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import Any

import pytest
from ruamel.yaml import YAML

from echoic.config.load import load
from echoic.config.settings_page import render
from echoic.run import worker_process
from schemas.values import subjects
from tests.deploy.cluster import DEPLOY, settings_in

ROOT = DEPLOY.parent
COMPOSE = YAML(typ="safe").load(DEPLOY / "compose.yaml")
SERVICES: dict[str, dict[str, Any]] = COMPOSE["services"]
MANIFESTS = [
    manifest
    for path in sorted((DEPLOY / "kubernetes").glob("*.yaml"))
    for manifest in YAML(typ="safe").load_all(path)
]
UNITS = sorted((DEPLOY / "systemd").glob("*.service"))
PINNED = re.compile(r"^[\w./-]+:[\w.-]*\d[\w.-]*(?P<digest>@sha256:[0-9a-f]{64})?$")
NODE_VARIABLES = set(
    re.findall(r"\$(NATS_\w+)", (DEPLOY / "nats" / "nats.conf").read_text())
)
DOCUMENTED = set(re.findall(r"`([A-Z][A-Z_]+)`", render()))
DOCKERFILE = (DEPLOY / "Dockerfile").read_text()


def of_kind(*kinds: str) -> Iterator[dict[str, Any]]:
    """The manifests of some kinds."""
    return (each for each in MANIFESTS if each["kind"] in kinds)


def pods() -> Iterator[dict[str, Any]]:
    """The specification of each pod."""
    for each in of_kind("Deployment", "StatefulSet"):
        yield each["spec"]["template"]["spec"]


def containers() -> Iterator[dict[str, Any]]:
    """Each container of each pod."""
    return (each for pod in pods() for each in pod["containers"])


def images() -> list[str]:
    """Every image that is named anywhere."""
    named = [service["image"] for service in SERVICES.values()]
    named += [each["image"] for each in containers()]
    return named + re.findall(r"^FROM (\S+)", DOCKERFILE, re.MULTILINE)


@pytest.mark.parametrize("image", sorted(set(images())))
def test_images_are_pinned(image: str) -> None:
    """By version and digest; of NATS nobody's digest was found, and ours is made here."""
    found = PINNED.match(image)
    assert found is not None
    assert image.startswith(("echoic:", "nats:")) == (found["digest"] is None)


def is_known(variables: Iterable[str], *, of_a_node: bool) -> bool:
    """Whether a container's variables are those that its program reads."""
    names = {name for name in variables if name != "POD_NAME"}
    return names == NODE_VARIABLES if of_a_node else settings_in(names) <= DOCUMENTED


def test_compose_sets_what_is_read() -> None:
    """A variable of ours is in docs/settings.md; a node has all that its file asks for."""
    for name, service in SERVICES.items():
        # Others are programs of other people.
        if service["image"].startswith(("echoic:", "nats:")):
            of_a_node = name.startswith("nats")
            assert is_known(service["environment"], of_a_node=of_a_node), name


def test_kubernetes_sets_what_is_read() -> None:
    """So do the manifests; ours take the ConfigMap besides."""
    (shared,) = (
        each["data"]
        for each in of_kind("ConfigMap")
        if each["metadata"]["name"] == "echoic"
    )

    assert is_known(shared, of_a_node=False)
    for each in containers():
        variables = {entry["name"] for entry in each["env"]}
        if not each["image"].startswith("pgvector"):
            assert is_known(variables, of_a_node=each["name"] == "nats")


def test_compose_binds_to_loopback_and_mounts_what_is_there() -> None:
    """Ports are for this machine alone; a file that is mounted exists, or is a secret."""
    for service in SERVICES.values():
        assert all(port.startswith("127.0.0.1:") for port in service.get("ports", ()))
        for mount in service.get("volumes", ()):
            source = mount.split(":")[0]
            if source.startswith("./secrets/"):
                continue
            known = (DEPLOY / source).exists() or source in COMPOSE["volumes"]
            assert known, mount


def test_compose_restarts_and_limits_every_service() -> None:
    """A machine that boots brings all up again; nothing gains rights."""
    for name, service in SERVICES.items():
        assert service["restart"] == "unless-stopped", name
        assert service["security_opt"] == ["no-new-privileges:true"], name


def test_prepare_makes_every_secret(tmp_path: Path) -> None:
    """What compose mounts is made, once: a second run changes nothing."""
    if shutil.which("openssl") is None:
        pytest.skip("no openssl here")
    deploy = tmp_path / "deploy"
    shutil.copytree(DEPLOY, deploy, ignore=shutil.ignore_patterns("secrets"))
    secrets = deploy / "secrets"

    def prepared() -> dict[str, bytes]:
        ran = subprocess.run(
            ["sh", deploy / "prepare.sh"], capture_output=True, text=True, check=False
        )
        assert ran.returncode == 0, ran.stderr
        return {path.name: path.read_bytes() for path in secrets.iterdir()}

    made = prepared()

    assert prepared() == made
    assert secrets.stat().st_mode & 0o777 == 0o700
    wanted = {Path(each["file"]).name for each in COMPOSE["secrets"].values()}
    wanted |= {
        Path(mount.split(":")[0]).name
        for service in SERVICES.values()
        for mount in service.get("volumes", ())
        if mount.startswith("./secrets/")
    }
    # The accounts are printed by the program, which the image brings.
    assert wanted - {"accounts.conf"} <= made.keys()


def test_compose_is_of_its_specification() -> None:
    """By the schema of the Compose Specification, which knows no other field."""
    schemas = pytest.importorskip("check_jsonschema.builtin_schemas")
    validator = pytest.importorskip("jsonschema").Draft202012Validator(
        schemas.get_builtin_schema("vendor.compose-spec")
    )

    assert [error.message for error in validator.iter_errors(COMPOSE)] == []
    misspelt = {**COMPOSE, "services": {"nats": {"image": "nats", "restarts": "no"}}}
    assert not validator.is_valid(misspelt)


def test_compose_is_valid() -> None:
    """By its own program, where that is."""
    docker = shutil.which("docker")
    version = [docker or "", "compose", "version"]
    if docker is None or subprocess.run(version, capture_output=True).returncode:
        pytest.skip("no docker compose here")

    ran = subprocess.run(
        [docker, "compose", "--file", DEPLOY / "compose.yaml", "config", "--quiet"],
        capture_output=True,
        text=True,
        check=False,
    )

    assert ran.returncode == 0, ran.stderr


@pytest.mark.parametrize(
    "manifest", MANIFESTS, ids=lambda each: f"{each['kind']}-{each['metadata']['name']}"
)
def test_manifests_are_valid(manifest: dict[str, Any]) -> None:
    """By the schemas of Kubernetes, and nothing more than these know."""
    validate = pytest.importorskip("kubernetes_validate")

    validate.validate(manifest, validate.latest_version(), strict=True)


def test_pods_may_do_little() -> None:
    """As the namespace's level `restricted` asks, and with read-only roots."""
    for pod in pods():
        assert pod["securityContext"]["runAsNonRoot"]
        assert pod["securityContext"]["seccompProfile"] == {"type": "RuntimeDefault"}
        assert not pod["automountServiceAccountToken"]
    for each in containers():
        own = each["securityContext"]
        assert not own["allowPrivilegeEscalation"]
        assert own["readOnlyRootFilesystem"]
        assert own["capabilities"] == {"drop": ["ALL"]}
        assert each["resources"]["limits"]["memory"]
        assert {"readinessProbe", "livenessProbe"} <= each.keys()


def test_pods_mount_what_there_is() -> None:
    """Each volume that is mounted is declared, each secret's key is in the template."""
    keys = {
        each["metadata"]["name"]: each["stringData"].keys()
        for each in of_kind("Secret")
    }
    claims = {each["metadata"]["name"] for each in of_kind("PersistentVolumeClaim")}
    for each in of_kind("Deployment", "StatefulSet"):
        pod = each["spec"]["template"]["spec"]
        declared = {volume["name"] for volume in pod["volumes"]} | {
            claim["metadata"]["name"]
            for claim in each["spec"].get("volumeClaimTemplates", ())
        }
        for container in pod["containers"]:
            assert {mount["name"] for mount in container["volumeMounts"]} == declared
        for volume in pod["volumes"]:
            secret = volume.get("secret")
            for item in secret["items"] if secret and "items" in secret else ():
                assert item["key"] in keys[secret["secretName"]]
            if claim := volume.get("persistentVolumeClaim"):
                assert claim["claimName"] in claims


@pytest.mark.parametrize(
    ("ordinal", "held"), [(0, "0-7"), (1, "8-15"), (2, "0-7"), (15, "8-15")]
)
def test_a_decider_has_the_range_of_its_ordinal(
    ordinal: int, held: str, tmp_path: Path
) -> None:
    """The one of a process of the worker, for which it stands by, or that it owns."""
    (decider,) = (each for each in containers() if each["name"] == "decider")
    program = tmp_path / "echoic"
    program.write_text('#!/bin/sh\necho "$@"\n')
    program.chmod(0o755)
    variables = {
        "HOSTNAME": f"decider-{ordinal}",
        "PATH": f"{tmp_path}:{os.environ['PATH']}",
    }

    ran = subprocess.run(
        [*decider["command"], *decider["args"]],
        env=variables, capture_output=True, text=True, check=True,
    )  # fmt: skip

    assert ran.stdout.split() == ["worker", "--partitions", held]
    ours = worker_process.shares(load(environment={"ECHOIC_WORKER_PROCESSES": "2"}))
    assert subjects.read_range(held) in ours


def test_no_file_holds_a_secret() -> None:
    """Passwords are drawn by prepare.sh; a template says CHANGE-ME."""
    for path in DEPLOY.rglob("*"):
        if path.is_file() and "secrets" not in path.relative_to(DEPLOY).parts:
            text = path.read_text(errors="replace")
            assert "PRIVATE KEY-----" not in text
            for found in re.findall(r"(?:tls|postgresql)://\w+:([^@\s]+)@", text):
                assert found in ("CHANGE-ME", "password") or found.startswith("$("), (
                    path
                )


@pytest.mark.parametrize("unit", UNITS, ids=lambda path: path.name)
def test_units_are_valid(unit: Path, tmp_path: Path) -> None:
    """By systemd's own program, in a root where the programs are that they start."""
    if shutil.which("systemd-analyze") is None:
        pytest.skip("no systemd here")
    text = unit.read_text()
    root = tmp_path / "root"
    for program in re.findall(r"^Exec\w+=(\S+)", text, re.MULTILINE):
        here = root / program.lstrip("/")
        here.parent.mkdir(parents=True, exist_ok=True)
        here.write_text("#!/bin/sh\n")
        here.chmod(0o755)
    for target in ("network-online", "multi-user", "sysinit", "basic", "shutdown"):
        place = root / "usr/lib/systemd/system" / f"{target}.target"
        place.parent.mkdir(parents=True, exist_ok=True)
        place.write_text("[Unit]\nDescription=of the test\n")
    installed = root / "etc/systemd/system" / unit.name
    installed.parent.mkdir(parents=True)
    shutil.copy(unit, installed)

    ran = subprocess.run(
        ["systemd-analyze", "verify", f"--root={root}", unit.name],
        capture_output=True,
        text=True,
        check=False,
    )

    assert ran.returncode == 0, ran.stderr
    assert unit.name not in ran.stderr


@pytest.mark.parametrize("unit", UNITS, ids=lambda path: path.name)
def test_units_may_do_little_and_set_what_is_read(unit: Path) -> None:
    """No rights, no root's files, a user of its own; and known variables."""
    lines = set(unit.read_text().splitlines())

    assert {
        "NoNewPrivileges=yes", "ProtectSystem=strict", "ProtectHome=yes",
        "DynamicUser=yes", "CapabilityBoundingSet=", "PrivateTmp=yes",
    } <= lines  # fmt: skip
    given = " ".join(re.findall(r"^Environment=(.*)", unit.read_text(), re.MULTILINE))
    named = [each.partition("=")[0] for each in given.split()]
    known = NODE_VARIABLES if unit.name == "nats.service" else DOCUMENTED
    assert settings_in(named) <= known


def test_the_image_is_made_of_what_there_is() -> None:
    """Each folder of the wheel is copied and let through; it ends without root."""
    pyproject = (ROOT / "pyproject.toml").read_text()
    wheel = pyproject.partition("[tool.hatch.build.targets.wheel]")[2].partition("]")[0]
    copied = set(re.findall(r"^COPY (\w+) \1$", DOCKERFILE, re.MULTILINE))
    let_through = set(
        re.findall(r"^!([\w.]+)$", (ROOT / ".dockerignore").read_text(), re.MULTILINE)
    )

    assert copied == set(re.findall(r'"(\w+)"', wheel))
    assert copied <= let_through
    final = DOCKERFILE.rpartition("FROM ")[2]
    assert "USER 10001" in final
    assert "HEALTHCHECK" in final
    assert '"echoic", "health"' in final
    assert "pip" not in final
