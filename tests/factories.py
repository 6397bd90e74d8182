"""What tests make their worlds of: records, packs, settings and a tiny embedder.

The embedder knows words only: two texts are as alike as the share of words they have in
common, which a reader can count.
"""

from collections.abc import Mapping, Sequence
from datetime import UTC, datetime, timedelta
from hashlib import blake2b
from typing import Any
from uuid import UUID

import orjson
from pydantic import JsonValue

from projections.folds import controls
from projections.folds.fold_context import FoldContext
from schemas.codec.catalogue import ControlMessage
from schemas.codec.envelope import Input
from schemas.codec.upcasts import as_before
from schemas.messages.controls import MindStarted, PackLoaded
from schemas.packs.compiled import CompiledPack, compile_pack
from schemas.packs.manifest import Pack, from_blob, to_blob
from schemas.ports.aids import Aids
from schemas.ports.decision_context import HeuristicCandidate
from schemas.state.agent import AgentState, SharedState
from schemas.values import subjects
from schemas.values.executive_settings import ExecutiveSettings
from schemas.values.learning_settings import LearningSettings
from schemas.values.model_settings import ModelSettings
from schemas.values.record import Record, nanoseconds
from schemas.values.settings import (
    CharacterSettings,
    CodeDigests,
    MatchLimits,
    MindSettings,
    SleepSettings,
)
from schemas.values.vectors import Vector

EPOCH = UUID("3d9f2c52-5a1e-4a53-8f62-0f1c6f7b8a90")
NOON = datetime(2026, 5, 4, 12, 0, 0, tzinfo=UTC)
AGENT = "ana"
DIMENSION = 1024
LIMITS = MatchLimits(match=0.6, duplicate=0.9, endorse=0.6)
MODEL = ModelSettings(name="test/model")
_PLAIN = as_before({})


def embed(text: str) -> Vector:
    """The vector of a text: a one wherever the hash of one of its words falls."""
    values = bytearray(DIMENSION)
    for word in text.lower().split():
        place = int.from_bytes(blake2b(word.encode(), digest_size=2).digest(), "big")
        values[place % DIMENSION] = 1
    return bytes(values)


def settings(**changes: Any) -> MindSettings:
    """Settings with the tests' limits, with nothing on that `changes` do not bring."""
    given = {"limits": LIMITS, "embedder": "words", **changes}
    return MindSettings.model_validate(as_before(given))


def plain_executive(**changes: Any) -> ExecutiveSettings:
    """The executive's settings, with nothing on that `changes` do not bring."""
    return ExecutiveSettings(**{**_PLAIN["executive"], **changes})


def plain_learning(**changes: Any) -> LearningSettings:
    """The settings of learning, likewise."""
    return LearningSettings(**{**_PLAIN["learning"], **changes})


def plain_sleep(**changes: Any) -> SleepSettings:
    """The settings of sleep, likewise."""
    return SleepSettings(**{**_PLAIN["sleep"], **changes})


def plain_characters(**changes: Any) -> CharacterSettings:
    """The settings of characters, likewise."""
    return CharacterSettings(**{**_PLAIN["characters"], **changes})


def mind_started(**changes: Any) -> MindStarted:
    """The start of a mind with `settings(**changes)`."""
    digests = CodeDigests(version="tests", embedder="words")
    return MindStarted(settings=settings(**changes), digests=digests)


def heuristic(
    name: str, condition: str, says: str, confidence: float = 0.8, **more: Any
) -> dict[str, JsonValue]:
    """A heuristic of a manifest."""
    return {
        "name": name,
        "condition": condition,
        "action": {"text": says},
        "confidence": confidence,
        **more,
    }


def pattern(
    trigger: str, outcome: str, timeout_s: float = 60.0, success: bool = True
) -> dict[str, JsonValue]:
    """An outcome pattern of a manifest."""
    return {
        "trigger_pattern": trigger,
        "outcome_pattern": outcome,
        "timeout_sec": timeout_s,
        "is_success": success,
    }


def pack(
    *heuristics: Mapping[str, JsonValue],
    name: str = "garden",
    types: Sequence[str] = ("vital", "thing"),
    patterns: Sequence[Mapping[str, JsonValue]] = (),
    context: str = "",
    events: Sequence[Mapping[str, JsonValue]] = (),
    **more: Any,
) -> CompiledPack:
    """A compiled pack; what it says nothing of has the manifest's defaults."""
    declared = [{"type": type_} for type_ in types]
    manifest = Pack.model_validate(
        {
            "schema": 1,
            "name": name,
            "version": "1.0.0",
            "executive": {
                "domain_context": context,
                "outcome_patterns": list(patterns),
            },
            "events": [*declared, *events],
            "heuristics": list(heuristics),
            **more,
        }
    )
    return compile_pack(
        manifest,
        [embed(each.condition) for each in manifest.heuristics],
        [embed(each.action.text) for each in manifest.heuristics],
    )


def as_stored(compiled: CompiledPack) -> CompiledPack:
    """A pack as it comes out of a log's store, with its keys in order."""
    stored = from_blob(to_blob(compiled.pack))
    return compile_pack(stored, compiled.vectors, compiled.action_vectors)


def pack_loaded(compiled: CompiledPack, *, off: bool = False) -> PackLoaded:
    """The control that puts a pack in force, or takes it out."""
    return PackLoaded(
        name=compiled.pack.name,
        pack_version=compiled.pack.version,
        digest=compiled.digest,
        off=off,
    )


def record(
    subject: str,
    body: bytes | Mapping[str, Any] = b"",
    *,
    headers: Mapping[str, str] | None = None,
    sequence: int = 1,
    at: datetime = NOON,
) -> Record:
    """A record of the log."""
    data = body if isinstance(body, bytes) else orjson.dumps(body)
    return Record(subject, dict(headers or {}), data, sequence, nanoseconds(at))


def sensor_record(
    body: bytes | Mapping[str, Any],
    *,
    agent: str = AGENT,
    source: str = "game",
    type_: str = "vital",
    headers: Mapping[str, str] | None = None,
    sequence: int = 1,
    at: datetime = NOON,
) -> Record:
    """A sensor's record as the log holds it."""
    subject = subjects.input_subject(
        subjects.partition_of(agent), agent, "sensor", f"{source}.{type_}"
    )
    return record(subject, body, headers=headers, sequence=sequence, at=at)


def controlled(state: AgentState, control: ControlMessage) -> AgentState:
    """The state after an applied control."""
    told = Input(record("in", {}), 1, "_", "i", NOON, control)
    context = FoldContext(SharedState(), state, told, Aids(), NOON)
    return controls.applied(state, context, control, "i")


def candidate(
    id_: str, similarity: float = 0.9, confidence: float = 0.8, **more: Any
) -> HeuristicCandidate:
    """A heuristic that an event meets."""
    return HeuristicCandidate(
        **{
            "heuristic_id": id_,
            "condition_text": f"the situation of {id_}",
            "suggested_action": f"the advice of {id_}",
            "similarity": similarity,
            "confidence": confidence,
            "content_hash": "c0",
            **more,
        }
    )


def after(seconds: float) -> datetime:
    """So many seconds after noon."""
    return NOON + timedelta(seconds=seconds)
