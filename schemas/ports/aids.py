"""Aids: what the shell computes for an input before the mind answers it.

The mind does no I/O and loads no embedder, so vectors and compiled packs are handed in.
"""

from collections.abc import Mapping

from immutables import Map
from msgspec import Struct, field

from schemas.packs.compiled import CompiledPack
from schemas.ports.faults import MissingPackError
from schemas.state.agent import AgentState, PackRef, SharedState
from schemas.values.by_identity import by_identity
from schemas.values.unicode_text import quoted
from schemas.values.vectors import Vector, VectorBatch


class Aids(Struct, frozen=True):
    """Aids for one input."""

    vector: Vector | None = None
    """Of the event's text, or of the condition that a control teaches."""
    packs: Mapping[str, CompiledPack] = field(default_factory=dict)
    """Every pack in force and the one the input loads, by digest."""
    is_exact: bool = True
    """Whether any machine would compute the same vector."""
    batch: VectorBatch | None = None
    """The vectors of all inputs answered together, to be multiplied at once."""
    vectors: Mapping[str, Vector] = field(default_factory=dict)
    """Of further texts in the input, by `embedded(text)`."""
    fault: str | None = None
    """Why something could not be computed for this input alone; None if all could."""

    def of(self, text: str) -> Vector | None:
        """Return the vector of one of the further texts; None if it was not embedded."""
        return self.vectors.get(embedded(text))


_EMBEDDED_LIMIT = 2_000
"""How many characters of a text are embedded, from its beginning."""


def embedded(text: str) -> str:
    """Return the part of a text that is embedded: its beginning, white space joined.

    It is also the key of its vector in `Aids.vectors`.
    """
    return " ".join(text[:_EMBEDDED_LIMIT].split())


def in_force(
    shared: SharedState, agent: AgentState, aids: Aids
) -> tuple[CompiledPack, ...]:
    """Return the packs in force for an agent, sorted by name.

    Its own pack replaces a shared one of the same name.

    Raises:
        MissingPackError: the shell did not supply one of them.
    """
    if agent.packs:
        return _sorted(shared.packs.update(agent.packs), aids.packs)
    return _shared(shared.packs, aids.packs)


def pack(ref: PackRef, aids: Aids) -> CompiledPack:
    """Return the compiled pack behind a reference.

    Raises:
        MissingPackError: the shell did not supply it.
    """
    return _pack(ref, aids.packs)


# Nearly every agent has the shared packs alone, and both maps stay the same objects for as
# long as no pack is loaded.
@by_identity(64)
def _shared(
    refs: Map[str, PackRef], packs: Mapping[str, CompiledPack]
) -> tuple[CompiledPack, ...]:
    return _sorted(refs, packs)


def _sorted(
    refs: Map[str, PackRef], packs: Mapping[str, CompiledPack]
) -> tuple[CompiledPack, ...]:
    return tuple([_pack(refs[name], packs) for name in sorted(refs)])


def _pack(ref: PackRef, packs: Mapping[str, CompiledPack]) -> CompiledPack:
    try:
        return packs[ref.digest]
    except KeyError:
        raise MissingPackError(
            f"pack {quoted(ref.name)} {ref.version} (sha256 {ref.digest}) is not at hand:"
            " put its blob back, the log cannot be read without it"
        ) from None
