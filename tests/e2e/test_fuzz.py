"""Anything at all is published to a running instance: it answers, and goes on."""

import json

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from echoic.run.instance import Instance
from projections.projector import rebuild
from projections.store import queries
from projections.store.store import Store
from replay.verify import Span, verify
from schemas.values.subjects import PARTITIONS
from tests.e2e.companion import Companion, bringer, is_sound
from tests.e2e.raw import publish_raw

pytestmark = [pytest.mark.asyncio(loop_scope="session"), pytest.mark.services]

EXAMPLES = 25
AT_ONCE = 12

VISIBLE = st.characters(
    codec="utf-8", exclude_categories=("Z", "C"), exclude_characters="."
)
TOKENS = st.sampled_from(
    ["fuzz", "_", "*", ">", "game", "user", "vital", "message", "feedback", "control"]
) | st.text(VISIBLE, min_size=1, max_size=70)
SUBJECTS = (
    st.sampled_from(["in.fuzz.game.vital", "in.fuzz.user.feedback", "in.fuzz.ui.control"])
    | st.lists(TOKENS, min_size=1, max_size=6).map(lambda tokens: f"in.{'.'.join(tokens)}")
).map(str.encode) | st.binary(min_size=1, max_size=20).map(
    # What the protocol itself could not carry never gets as far as the log.
    lambda raw: b"in.fuzz.game." + raw.translate(None, b"\0\t\n\r .").replace(b" ", b"")
    + b"x"
)  # fmt: skip
JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text(max_size=20),
    lambda inner: (
        st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=8), inner)
    ),
    max_leaves=8,
)
FIELDS = st.dictionaries(
    st.sampled_from(
        [
            "text", "fields", "occurred_at", "salience", "intent", "urgency", "ttl_s",
            "entities", "immediate", "in_reply_to", "outcome", "evaluation_data",
            "decision_id", "heuristic_id", "rating", "value", "control", "session_id",
            "clock", "goals", "name", "digest", "strategy", "biases", "condition",
        ]
    ),
    JSON | st.sampled_from(["session_started", "goals_set", "pack_loaded", "event"]),
)  # fmt: skip
BODIES = (
    st.binary(max_size=80)
    | st.text(max_size=40).map(str.encode)
    | JSON.map(lambda value: json.dumps(value).encode())
    | FIELDS.map(lambda fields: json.dumps({"text": "It rains", **fields}).encode())
)
HEADERS = (
    st.just(b"")
    | st.binary(max_size=60)
    | st.dictionaries(
        st.sampled_from(
            ["ce-id", "ce-schemaversion", "ce-type", "ce-causeseq", "content-type",
             "Nats-Msg-Id", "Nats-Rollup", "Nats-TTL", "Nats-Expected-Last-Sequence",
             "Nats-Batch-Id", "Nats-Batch-Sequence", "Nats-Batch-Commit", "traceparent"]
        ),
        st.text(VISIBLE, max_size=30) | st.sampled_from(["0", "1", "sub", "all", "1s"]),
        max_size=4,
    ).map(lambda found: "".join(f"{k}: {found[k]}\r\n" for k in found).encode())
)  # fmt: skip
MESSAGES = st.lists(st.tuples(SUBJECTS, HEADERS, BODIES), max_size=AT_ONCE)


@settings(
    max_examples=EXAMPLES,
    deadline=None,
    suppress_health_check=[HealthCheck.function_scoped_fixture, HealthCheck.too_slow],
)
@given(messages=MESSAGES)
async def test_nothing_published_stops_the_mind(
    ada: Companion, live: Instance, messages: list[tuple[bytes, bytes, bytes]]
) -> None:
    """Arbitrary subjects, headers and bodies, raw over the wire; then all is as before."""
    await publish_raw(live.credentials, messages)

    after = await ada.senses("Is it over?", intent="informational")
    assert after.silence == "informational"


async def test_every_one_of_them_was_answered(ada: Companion, live: Instance) -> None:
    """What the fuzz left in the log has its groups, and they come out the same again."""
    for partition in range(PARTITIONS):
        await is_sound(live, partition)
        replayed = await verify(live.log, Span(partition), bringer(live))
        assert replayed.is_identical, replayed.divergence
    assert (await ada.senses("Is anybody there?")).path == "llm"


async def test_the_tables_are_the_fold_of_it_all(live: Instance) -> None:
    """The read models took in whatever came, and hold what a fresh fold of the log does."""
    assert live.database_url is not None
    with Store(live.database_url) as store:
        found = await rebuild.verify(
            live.log, store, rebuild.Here(live.log, store, bringer(live))
        )
        assert queries.without_rows(store) == ()

    assert found.is_equal, found.differences
    assert len(found.positions) == PARTITIONS
