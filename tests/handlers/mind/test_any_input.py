"""Whatever comes in is answered: nothing that can be published stops the mind."""

import json

from hypothesis import given
from hypothesis import strategies as st

from schemas.codec import catalogue
from schemas.values import subjects
from tests import factories
from tests.scenario import Scenario

PARTITION = subjects.partition_of("ana")
TOKENS = st.sampled_from(
    ["ana", "_", "game", "user", "vital", "message", "feedback", "control", "sensed"]
) | st.text(st.characters(codec="utf-8", exclude_characters=".\r\n"), max_size=8)
KINDS = st.sampled_from([*subjects.INPUT_KINDS, *subjects.OUTPUT_KINDS, "sensor"])
DETAILS = st.sampled_from([*(model.token for model in catalogue.INPUTS)])
SUBJECTS = st.builds(
    lambda partition, agent, kind, rest: (
        f"ev.{partition}.in.{agent}.{kind}.{'.'.join(rest)}"
    ),
    st.integers(0, subjects.PARTITIONS - 1),
    TOKENS,
    KINDS,
    st.lists(TOKENS | DETAILS, min_size=1, max_size=4),
)
JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text(max_size=20),
    lambda inner: (
        st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=8), inner)
    ),
    max_leaves=8,
)
TIMES = st.sampled_from(
    [
        "1970-01-01T00:00:00Z",
        "2100-01-01T00:00:00Z",
        "9999-12-31T23:59:59Z",
        "0001-01-01T00:00:00+14:00",
        "2026-05-04T14:00:00+02:00",
        "now",
        0,
        1e308,
    ]
)
HUGE = st.sampled_from([0, -1, 1e-300, 1e9, 1e12, 1e300, 10**40, True])
ODDS = {
    "text": st.text(max_size=40) | st.just("x" * 9_000),
    "fields": st.dictionaries(st.sampled_from(["health", "a.b", "a"]), JSON) | JSON,
    "occurred_at": TIMES,
    "salience": st.dictionaries(
        st.sampled_from(["threat", "novelty", "x"]), st.floats()
    ),
    "intent": st.sampled_from(["informational", "actionable", "other"]),
    "urgency": st.floats(-1, 2),
    "entities": st.lists(st.text(max_size=4), max_size=3),
    "immediate": st.booleans(),
    "ttl_s": HUGE,
    "in_reply_to": st.text(max_size=300) | JSON,
    "outcome": st.sampled_from(["succeeded", "failed", "overridden", "other"]),
    "evaluation_data": JSON,
    "control": st.sampled_from(["session_started", "muted", "goals_set", "pub"]),
    "session_id": st.text(max_size=9),
    "clock": st.sampled_from(["event", "broker"]),
    "rating": st.sampled_from(["positive", "negative", "scaled"]),
    "value": st.floats(-1, 1),
    "heuristic_id": st.text(max_size=9),
    "goals": st.lists(st.text(max_size=5), max_size=3),
    "biases": st.dictionaries(st.just("confidence_threshold"), st.floats()),
    "strategy": st.sampled_from(["silent", "random", "heuristic_first", "none"]),
    "parameters": JSON,
    "condition": st.text(max_size=9),
    "when": st.sampled_from(["a.b = 1", "health < 3", "health <", ""]),
    "name": st.text(max_size=9),
    "domain": st.sampled_from(["game", "garden", ""]),
    "ask_id": st.text(max_size=9),
}
BODIES = (
    st.binary(max_size=60)
    | JSON.map(lambda value: json.dumps(value).encode())
    | st.fixed_dictionaries({}, optional=ODDS).map(
        lambda fields: json.dumps({"text": "health", **fields}).encode()
    )
)
HEADERS = st.fixed_dictionaries(
    {},
    optional={
        "ce-id": st.text(max_size=20) | st.sampled_from(["i" * 300, "same", "a\nb"]),
        "ce-schemaversion": st.sampled_from(["0", "1", "2", "-1", "x", "", "9" * 5000]),
        "content-type": st.sampled_from(["application/json", "text/plain"]),
        "ce-type": st.text(max_size=5),
    },
)
SENSED = st.builds(
    lambda source, type_: f"ev.{PARTITION}.in.ana.sensor.{source}.{type_}",
    st.sampled_from(["game", "user"]),
    st.sampled_from(["vital", "message", "feedback", "control"]),
)
GARDEN = factories.pack(
    factories.heuristic("low", "health", "Rest.", when="a.b = 1 or health < 3"),
    patterns=[factories.pattern("health", "health")],
)


@given(st.lists(st.tuples(SUBJECTS | SENSED, BODIES, HEADERS), max_size=6))
def test_whatever_comes_in_is_answered(
    inputs: list[tuple[str, bytes, dict[str, str]]],
) -> None:
    """Any subject, body and headers get a group; `Scenario` checks each one's invariants."""
    scenario = Scenario(GARDEN, model=factories.MODEL)

    for subject, body, headers in inputs:
        scenario.take(subject, body, headers)

    assert all(turn.outputs for turn in scenario.turns)
