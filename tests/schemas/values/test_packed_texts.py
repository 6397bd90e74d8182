"""Packed texts are the map that they were made of, and so is a bounded map of texts."""

import pickle
import subprocess
import sys
from uuid import UUID

from hypothesis import given
from hypothesis import strategies as st
from immutables import Map

from schemas.codec import checkpoint
from schemas.state.agent import AgentState, PartitionState, SourceMemory
from schemas.values.bounded_map import Bounded
from schemas.values.packed_texts import PackedTexts

IDS = st.uuids().map(str) | st.sampled_from([UUID(int=0).hex, str(UUID(int=1)).upper()])
TEXTS = st.text(st.characters(), max_size=8) | IDS | st.text("0123-f", min_size=36)


@given(st.dictionaries(TEXTS, TEXTS, max_size=20), TEXTS)
def test_packed_texts_are_what_they_were_made_of(
    entries: dict[str, str], other: str
) -> None:
    """Each key has its value, no other has one, and what is equal compares so."""
    packed = PackedTexts(Map(entries))

    assert dict(packed) == entries == packed
    assert len(packed) == len(entries)
    assert list(packed) == sorted(entries)
    assert packed.get(other) == entries.get(other)
    assert packed.get(other, "none") == entries.get(other, "none")
    assert (other in packed) == (other in entries)
    assert Map(entries) == packed == PackedTexts(packed)


@given(st.lists(IDS, unique=True, max_size=40), st.integers(1, 8))
def test_a_bounded_map_of_texts_forgets_as_any_other(
    keys: list[str], limit: int
) -> None:
    """Packed or not, the same keys are remembered, with the same values."""
    texts: Bounded[str, str] = Bounded(limit)
    others: Bounded[str, tuple[str]] = Bounded(limit)
    for key in keys:
        texts, others = texts.set(key, key[::-1]), others.set(key, (key[::-1],))

    assert texts.sorted_keys() == others.sorted_keys()
    assert len(texts) == len(others)
    for key in keys:
        known = others.get(key)
        assert texts.get(key) == (None if known is None else known[0])
        assert (key in texts) == (key in others)


def test_packed_texts_are_found_in_another_process() -> None:
    """There texts have other hashes."""
    packed = pickle.dumps(PackedTexts({str(n): f"of {n}" for n in range(50)}))
    code = (
        "import pickle, sys; packed = pickle.load(sys.stdin.buffer);"
        "print(all(packed.get(str(n)) == f'of {n}' for n in range(50)))"
    )
    command = [sys.executable, "-c", code]
    done = subprocess.run(command, input=packed, capture_output=True, check=True)

    assert done.stdout.strip() == b"True"


def test_a_checkpoint_does_not_tell_what_was_packed() -> None:
    """It has the bytes of one whose texts never were, and is read as equal."""
    seen: Bounded[str, str] = Bounded(3)
    for number in range(5):
        seen = seen.set(str(UUID(int=number)), f"d{number}")
    plain = Bounded(3, seen.younger, Map(dict(seen.older)))

    packed, unpacked = (
        PartitionState(
            agents=Map(
                {
                    "ada": AgentState(
                        sources=Bounded(9, Map({"s": SourceMemory(seen=x)}))
                    )
                }
            )
        )
        for x in (seen, plain)
    )
    older: object = seen.older
    assert isinstance(older, PackedTexts)
    assert checkpoint.dump(packed) == checkpoint.dump(unpacked)
    assert checkpoint.load(checkpoint.dump(packed)) == packed == unpacked
