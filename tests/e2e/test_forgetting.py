"""A person is forgotten: nobody finds their words anywhere, and others' are still there."""

import asyncio
from collections.abc import AsyncIterator
from pathlib import Path
from typing import Any

import pytest
import pytest_asyncio

from echoic.client import forgetting, session_sealing
from echoic.client.connection import open_log
from echoic.client.publish import decided_on, new_event_id, publish, submit
from echoic.client.watch import last_answered
from echoic.errors import EchoicError, SettingsError
from echoic.run.instance import Instance, check_sealing
from handlers.aids import AidProvider, PackLibrary
from projections.errors import StoreUnusable
from projections.projector import rebuild as rebuilding
from projections.projector.rebuild import Here
from projections.store.store import Store
from replay.recording.sessions import exported as exporting
from replay.verify import Verification
from replay.world import verify_session
from schemas.codec.catalogue import ControlMessage
from schemas.codec.checkpoint import CheckpointError, dump
from schemas.messages.controls import PersonForgotten, ProfileSet, SessionStarted
from schemas.messages.executive import (
    FactStated,
    OutputRequested,
    ReminderSet,
    SalienceModulated,
    UserStateChanged,
)
from schemas.messages.feedback import FeedbackGiven
from schemas.messages.notes import ControlRefused
from schemas.messages.sensing import Sensed
from schemas.values.subjects import PARTITIONS, partition_of
from streams.jetstream.checkpoints import JetStreamCheckpoints
from streams.jetstream.key_bucket import Bucket
from streams.jetstream.migrate import migrate
from streams.session_files.file import read_session, write_session
from streams.session_files.memory_log import SessionLog
from streams.topology import LOG_SUBJECTS
from tests.e2e.companion import Companion, bringer, companion, replay
from tests.e2e.conftest import reached_at, running_instance
from tests.e2e.model_double import ModelDouble, reply
from tests.e2e.searching import (
    in_log,
    in_streams,
    in_tables,
    metrics,
    on_disk,
    unpacked,
)
from tests.patience import PATIENCE_S
from tests.servers import fresh_server

CANARY = "Xylocarp"
OTHERS = "Quillwort"


@pytest_asyncio.fixture(loop_scope="session")
async def sealed(tmp_path: Path, double: ModelDouble) -> AsyncIterator[Instance]:
    """An instance with a model, whose log is sealed."""
    # The model answers however slow the machine is.
    patient = {"ECHOIC_MODEL_DEADLINE_S": "100", "ECHOIC_TTL_S": "200"}
    variables = reached_at(double) | patient | {"ECHOIC_PRIVACY_SEAL": "on"}
    async with running_instance(tmp_path, variables) as running:
        yield running


@pytest.mark.asyncio(loop_scope="session")
async def test_what_a_person_said_is_gone_and_what_others_said_is_not(
    sealed: Instance, double: ModelDouble, tmp_path: Path
) -> None:
    """By every door, in every field, and in what a model made of it."""
    double.on(CANARY, reply(f"I see, {CANARY}."))
    double.on(OTHERS, reply(f"I see, {OTHERS}."))
    async with companion(sealed, "desk") as desk:
        await told(desk, "ben", OTHERS)
        await told(desk, "ana", CANARY)
        await desk.tell(SessionStarted(session_id="kept"))
        await checkpointed(sealed, desk.partition)
        before = await in_log(sealed)
        assert [each for each in every_place(CANARY) if each not in before] == []
        # Sealed, so not even now:
        assert CANARY not in await in_streams(sealed)
        assert not on_disk(tmp_path, CANARY, but="postgres")
        await caught_up(sealed)
        assert CANARY in in_tables(sealed)
        kept = await exported(desk, tmp_path, redact=False)
        assert (await verified(sealed, kept)).is_identical
        bare = await exported(desk, tmp_path, redact=True)
        told_of = await verified(sealed, bare)
        assert told_of.is_identical
        assert told_of.sealed > 10 * told_of.identical
        done = await forgotten(sealed, "desk", "ana")
        with pytest.raises(CheckpointError, match="who was forgotten since"):
            await verified(sealed, kept)
        assert len(done.keys) == 1
        after = await desk.senses("What do you know?", person="ben")
        assert after.is_final
        replayed = await replay(sealed, "desk")
        assert replayed.is_identical
        assert 0 < replayed.sealed < replayed.total
        known = sealed.worker.knowing("desk")
        assert known is not None
        state = dump(known).decode()
    log = await in_log(sealed)
    for found in (log, in_tables(sealed), state, await in_streams(sealed)):
        assert CANARY not in found
    assert all(each in log for each in own_words(OTHERS))
    assert OTHERS in in_tables(sealed)
    assert all(f"{OTHERS} {each}" in state for each in ("name", "object", "reminder"))
    assert not on_disk(tmp_path, CANARY, but="postgres")
    assert CANARY not in await metrics(sealed)
    assert not await JetStreamCheckpoints(sealed.client).labels(desk.partition)


async def told(desk: Companion, person: str, word: str) -> None:
    """Tell a companion a word in every field that may hold one."""
    log, client = desk.live.log, desk.live.client
    event: dict[str, Any] = {
        "fields": {"note": f"{word} field"},
        "entities": [f"{word} entity"],
        "evaluation_data": {"truth": f"{word} truth"},
    }
    decision = await desk.senses(f"{word} text", person=person, **event)
    comment = FeedbackGiven(
        decision_id=decision.id,
        rating="positive",
        actor=person,
        comment=f"{word} comment",
    )
    await desk.tell(comment)
    for control in controls_of(person, word):
        await desk.tell(control)
    said = Sensed(
        source="user",
        type="message",
        text=f"remind me in 10 minutes to water the {word} request",
        person=person,
    )
    id_ = new_event_id()
    await publish(client, desk.agent, said, event_id=id_)
    await decided_on(log, desk.agent, "user", "message", id_, 0)


def controls_of(person: str, word: str) -> tuple[ControlMessage, ...]:
    """Every control that holds words of a person's."""
    return (
        ProfileSet(person=person, name=f"{word} name", address=f"{word} address"),
        FactStated(
            person=person,
            subject=f"{word} subject",
            relation=f"{word} relation",
            object=f"{word} object",
        ),
        ReminderSet(person=person, text=f"{word} reminder", in_s=3600.0),
        SalienceModulated(person=person, change="heighten", about=f"{word} topic"),
        UserStateChanged(
            person=person, activity=f"{word} activity", focus=f"{word} focus"
        ),
        OutputRequested(person=person, text=f"{word} announcement"),
    )


def own_words(word: str) -> list[str]:
    """What a person said themselves."""
    ends = (
        "text field entity truth comment name address subject relation object reminder"
        " topic activity focus announcement request"
    )
    return [f"{word} {each}" for each in ends.split()]


def every_place(word: str) -> list[str]:
    """The same, and what a model said of it."""
    return [*own_words(word), f"I see, {word}."]


async def forgotten(live: Instance, agent: str, person: str) -> forgetting.Forgotten:
    """Forget a person as the command does."""
    assert live.database_url is not None
    provider = AidProvider(live.embedder, PackLibrary(live.log, live.embedder))
    with Store(live.database_url) as store:
        filler = Here(live.log, store, provider)
        return await forgetting.forget(
            live.client, live.log, agent, person, (store, filler)
        )


async def exported(desk: Companion, folder: Path, *, redact: bool) -> Path:
    """All of a companion so far as a session's file, which holds nobody's words."""
    log, last = desk.live.log, await desk.live.log.last_sequence(LOG_SUBJECTS)
    source = session_sealing.source(log, redact=redact)
    within = (await first_of(desk), last)
    file = await exporting(source, desk.agent, "all", bringer(desk.live), within=within)
    file = await session_sealing.finished(file, log, redact=redact)
    path = folder / f"all-{redact}.echoic"
    write_session(path, file)
    text = unpacked(path.read_bytes())
    assert "desk" in text
    assert CANARY not in text
    assert OTHERS not in text
    return path


async def first_of(desk: Companion) -> int:
    """The sequence of a companion's first input."""
    return (await desk.groups())[0].input.sequence


async def verified(live: Instance, path: Path) -> Verification:
    """What a replay of a file comes to, beside its log."""
    file = await session_sealing.opened_by(live.client, read_session(path))

    def providing(log: SessionLog) -> AidProvider:
        return AidProvider(live.embedder, PackLibrary(log, live.embedder))

    return await verify_session(file, providing)


async def checkpointed(live: Instance, partition: int) -> None:
    """Wait until a state of a partition is saved."""
    async with asyncio.timeout(PATIENCE_S):
        while not await JetStreamCheckpoints(live.client).labels(partition):  # noqa: ASYNC110
            await asyncio.sleep(0.05)


async def caught_up(live: Instance) -> None:
    """Wait until the tables are up with the log."""
    assert live.database_url is not None
    with Store(live.database_url) as store:
        async with asyncio.timeout(PATIENCE_S):
            while await behind(live, store):  # noqa: ASYNC110
                await asyncio.sleep(0.05)


async def behind(live: Instance, store: Store) -> bool:
    """Whether the tables lack something."""
    try:
        stands = store.positions(store.serving().number)
    except StoreUnusable:
        # The projector has not begun.
        return True
    for partition in range(PARTITIONS):
        position = stands.get(partition)
        if await last_answered(live.log, partition) > (
            position.sequence if position else 0
        ):
            return True
    return False


CUTS = (
    (Bucket, "erase"),
    (forgetting, "submit"),
    (JetStreamCheckpoints, "drop"),
    (rebuilding, "rebuild"),
)
"""What each step of a forgetting calls."""


@pytest.mark.asyncio(loop_scope="session")
async def test_a_forgetting_that_was_cut_off_is_completed_by_calling_again(
    tmp_path: Path, double: ModelDouble, monkeypatch: pytest.MonkeyPatch
) -> None:
    """At each step, and with a restart in between; done again it does nothing more."""
    variables = reached_at(double) | {"ECHOIC_PRIVACY_SEAL": "on"}
    people = [f"p{number}" for number, _ in enumerate(CUTS)]
    async with running_instance(tmp_path, variables) as live:
        async with companion(live, "desk") as desk:
            for person in people:
                await desk.senses(f"{CANARY}-{person}", person=person)
            await desk.senses(f"{OTHERS} text", person="ben")
        copied = await copy_of_keys(live)
        for person, (owner, name) in zip(people, CUTS, strict=True):
            with monkeypatch.context() as cut:
                cut.setattr(owner, name, fails)
                with pytest.raises(CutOffError):
                    await forgotten(live, "desk", person)
    async with running_instance(tmp_path, variables) as live:
        keyring = live.log.keyring
        assert keyring is not None
        assert await keyring.unfinished() == [("desk", each) for each in people]
        for person in people:
            assert len((await forgotten(live, "desk", person)).keys) == 1
        assert await keyring.unfinished() == []
        assert (await forgotten(live, "desk", people[0])).keys == ()
        async with companion(live, "desk") as desk:
            await desk.senses("And now?", person="ben")
            known = live.worker.knowing("desk")
            assert known is not None
            state = dump(known).decode()
        for found in (await in_log(live), in_tables(live), state):
            assert CANARY not in found
            assert OTHERS in found
        # As if an older copy of the bucket had been put back.
        for key in people:
            await keyring.bucket.put(f"key.desk.{key}", copied[f"key.desk.{key}"])
        assert await forgetting.destroy_again(live.log) == len(people)
        assert await forgetting.destroy_again(live.log) == 0
    assert not on_disk(tmp_path, CANARY, but="postgres")


async def copy_of_keys(live: Instance) -> dict[str, bytes]:
    """The keys, as no backup of ours holds them."""
    assert live.log.keyring is not None
    bucket = live.log.keyring.bucket
    stored = [await bucket.get(name) for name in await bucket.names("key.desk.*")]
    return {each.subject: each.value for each in stored if each is not None}


class CutOffError(Exception):
    """The step did not happen."""


async def fails(*given: object, **named: object) -> None:
    """Fail as a process does that is killed here."""
    raise CutOffError


@pytest.mark.asyncio(loop_scope="session")
async def test_a_log_in_clear_refuses_and_says_what_to_do(live: Instance) -> None:
    """Nothing that it holds can be deleted; nor is the control taken for done."""
    with pytest.raises(EchoicError, match="nobody can be forgotten") as refused:
        await forgetting.forget(live.client, live.log, "desk", "ana")
    assert "ECHOIC_PRIVACY_SEAL=on" in str(refused.value.next_step)
    outputs = await submit(
        live.log, "desk", PersonForgotten(person="ana"), partition=partition_of("desk")
    )
    (refusal,) = [each.message for each in outputs]
    assert isinstance(refusal, ControlRefused)
    assert refusal.reason == "unfit"


@pytest.mark.asyncio(loop_scope="session")
@pytest.mark.parametrize("is_sealed", [True, False])
async def test_a_log_is_sealed_for_its_whole_life_or_never(*, is_sealed: bool) -> None:
    """One that began in clear cannot be sealed, nor the other way round."""
    async with fresh_server() as server:
        client = await server.connect("tests")
        try:
            await migrate(client, is_sealed=is_sealed)
            epoch = await migrate(client, is_sealed=not is_sealed)
            log = await open_log(client, epoch)
            check_sealing(log, wanted=is_sealed)
            with pytest.raises(SettingsError, match="privacy"):
                check_sealing(log, wanted=not is_sealed)
        finally:
            await client.close()
