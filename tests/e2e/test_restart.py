"""An instance that is stopped and started again over its folder goes on where it was."""

from pathlib import Path

import pytest

from schemas.messages.controls import MindStarted, PackLoaded
from schemas.messages.decisions import Decided
from schemas.messages.notes import Handled
from schemas.values.subjects import PARTITIONS, SHARED_AGENT
from streams.log import scan
from tests.e2e.companion import companion, of_pack
from tests.e2e.conftest import running_instance

pytestmark = [pytest.mark.asyncio(loop_scope="session"), pytest.mark.services]

LOW = "Player health is low"


async def test_what_was_learnt_is_known_after_a_restart(tmp_path: Path) -> None:
    """Confidence, rapport, taught heuristics and ids seen outlive the process."""
    async with running_instance(tmp_path, {}) as live, companion(live, "ada") as ada:
        first = await ada.senses(LOW, fields={"health": 1}, id_="low-1")
        await ada.votes(first, "negative")
        await ada.taught("bell", "The bell tolls", "Listen.")

    async with running_instance(tmp_path, {}) as live, companion(live, "ada") as ada:
        await ada.publish(LOW, fields={"health": 1}, id_="low-1")
        await ada.comes(Handled)
        bell = await ada.senses("The bell tolls", type_="weather")
        again = await ada.senses(LOW, fields={"health": 1}, salience={"threat": 0.9})

        assert bell.said == "Listen."
        confidence, trial = again.decided.gates[-2:]
        assert (confidence.name, confidence.value) == ("confidence", 0.571429)
        # Nobody else answers there, so what fell may be tried again (learning.trials).
        assert trial.name == "trial"
        assert (await ada.state()).rapport["user"].value == 0.45
        assert len(await ada.outputs(Decided)) == 3
        await ada.votes(first, "positive")
        assert await ada.confidence(of_pack("heal")) == 0.857143


async def test_other_settings_hold_from_the_restart_on(tmp_path: Path) -> None:
    """What shapes decisions is in the log: each part replays under its own settings."""
    strict = {"EXECUTIVE_HEURISTIC_THRESHOLD": "0.9", "ECHOIC_RELEVANCE": "0.1"}
    paths: list[str] = []
    for variables in ({}, strict, {}):
        async with (
            running_instance(tmp_path, variables) as live,
            companion(live, "ada") as ada,
        ):
            decision = await ada.senses(
                LOW, fields={"health": 1}, salience={"threat": 0.9}
            )
            paths.append(decision.path)

    assert paths == ["heuristic", "rejected", "heuristic"]


async def test_a_pack_is_loaded_once(tmp_path: Path) -> None:
    """A pack in force by the same content is not loaded again by the next start."""
    counts = []
    for _ in range(2):
        async with running_instance(tmp_path, {}) as live:
            for token in (PackLoaded.token, MindStarted.token):
                subject = f"ev.*.in.{SHARED_AGENT}.control.{token}"
                counts.append(len([each async for each in scan(live.log, subject)]))

    assert counts == [PARTITIONS, PARTITIONS, PARTITIONS, 2 * PARTITIONS]
