"""States of before, as session files begin with them, are read and gone on from.

Each file was frozen by a program of its format: a state with every field set, the packs in
force, and what comes of a few inputs after it. The state is never made anew; the answers are
where a rule of the mind changes: `python -m tests.schemas.test_golden_states`.
"""

from pathlib import Path
from typing import Any

import orjson
import pytest
from immutables import Map

from schemas.codec import checkpoint
from schemas.codec.checkpoint import FORMAT, OLDEST, CheckpointError
from schemas.codec.upcasts import STATES
from schemas.packs.compiled import CompiledPack, compile_pack
from schemas.packs.manifest import from_blob
from schemas.state.agent import AgentState, PartitionState
from schemas.values.record import Record
from tests import factories
from tests.factories import embed
from tests.scenario import Scenario

FOLDER = Path(__file__).parents[1] / "golden" / "states"
GOLDEN = sorted(FOLDER.glob("format-*/*.json"))


def _named(path: Path) -> str:
    """What a test of a golden state is called."""
    return f"{path.parent.name}/{path.stem}"


@pytest.fixture(autouse=True)
def short_vectors(monkeypatch: pytest.MonkeyPatch) -> None:
    """The goldens hold vectors of this dimension."""
    monkeypatch.setattr(factories, "DIMENSION", 32)


def golden(path: Path) -> dict[str, Any]:
    """What was frozen."""
    read: dict[str, Any] = orjson.loads(path.read_bytes())
    return read


def compiled(blob: str) -> CompiledPack:
    """A pack as the tests' embedder compiles it."""
    pack = from_blob(blob.encode())
    conditions = [embed(each.condition) for each in pack.heuristics]
    return compile_pack(
        pack, conditions, [embed(h.action.text) for h in pack.heuristics]
    )


@pytest.mark.parametrize("path", GOLDEN, ids=_named)
def test_a_frozen_state_is_read_whole(path: Path) -> None:
    """Nothing that it says is lost: today's program writes all of it again."""
    frozen = golden(path)["checkpoint"]
    state = frozen["state"]
    for each in range(frozen["format"], FORMAT):
        state = STATES[each](state)

    written = checkpoint.dump(checkpoint.load(orjson.dumps(frozen)))
    assert _lost(state, orjson.loads(written)["state"]) == []


@pytest.mark.parametrize("path", GOLDEN, ids=_named)
def test_a_scenario_goes_on_from_a_frozen_state(path: Path) -> None:
    """Each later input is answered as it was before, to the byte."""
    frozen = golden(path)
    answers, chain = answered(frozen)

    assert answers == [each["answers"] for each in frozen["later"]]
    assert chain == frozen["chain"]


def answered(frozen: dict[str, Any]) -> tuple[list[list[str]], str]:
    """What the inputs after a frozen state are answered, and the chain in the end."""
    scenario = Scenario(state=checkpoint.load(orjson.dumps(frozen["checkpoint"])))
    scenario.blobs = {key: compiled(blob) for key, blob in frozen["packs"].items()}
    answers = []
    for each in frozen["later"]:
        body = each["body"].encode()
        record = Record(
            each["subject"], each["headers"], body, each["sequence"], each["time_ns"]
        )
        turn = scenario.answer(record)
        scenario.state = turn.state
        answers.append([output.record.body.decode() for output in turn.outputs])
    return answers, scenario.mind.chain


def test_every_format_has_a_golden_and_every_field_a_value() -> None:
    """A new format comes with frozen states of the one before."""
    formats = {path.parent.name for path in GOLDEN}
    states = [golden(path)["checkpoint"]["state"] for path in GOLDEN]
    agents = [agent for state in states for agent in state["agents"].values()]
    fresh = orjson.loads(checkpoint.dump(PartitionState(agents=Map(x=AgentState()))))
    unset = fresh["state"]["agents"]["x"]
    never = [key for key in agents[0] if all(one[key] == unset[key] for one in agents)]

    older = {f"format-{each}" for each in range(OLDEST, FORMAT)}
    assert formats - {f"format-{FORMAT}"} == older
    assert never == []


def test_what_is_too_old_or_too_new_is_refused() -> None:
    """With what this program reads."""
    for format_ in (OLDEST - 1, FORMAT + 1):
        text = orjson.dumps({"format": format_, "state": {}})
        with pytest.raises(CheckpointError, match=f"reads {OLDEST} to {FORMAT}"):
            checkpoint.load(text)


def _lost(old: Any, new: Any, place: str = "") -> list[str]:
    """Where the new JSON does not say what the old one says."""
    if isinstance(old, dict) and isinstance(new, dict):
        return [
            each
            for key in old
            for each in _lost(old[key], new.get(key), f"{place}.{key}")
        ]
    if isinstance(old, list) and isinstance(new, list) and len(old) == len(new):
        pairs = enumerate(zip(old, new, strict=True))
        return [each for at, (a, b) in pairs for each in _lost(a, b, f"{place}[{at}]")]
    return [] if old == new else [f"{place}: {old!r} became {new!r}"]


def main() -> None:
    """Write the answers of the rules of today behind each frozen state."""
    factories.DIMENSION = 32
    for path in GOLDEN:
        frozen = golden(path)
        answers, frozen["chain"] = answered(frozen)
        for each, made in zip(frozen["later"], answers, strict=True):
            each["answers"] = made
        path.write_bytes(orjson.dumps(frozen))


if __name__ == "__main__":
    main()
