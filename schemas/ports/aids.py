"""What the shell works out for an input before the mind takes it: vectors and packs.

The mind does no I/O and loads no model, so whatever it needs of either comes in here.
"""

from collections.abc import Mapping

from immutables import Map
from msgspec import Struct, field

from schemas.packs.manifest import CompiledPack
from schemas.state.agent import AgentState, PackRef, SharedState
from schemas.values.unicode_text import quoted
from schemas.values.vectors import Batch, Vector


class Aids(Struct, frozen=True):
    """Aids for one input."""

    vector: Vector | None = None
    """Of the text at hand: an event's, or the condition that a control teaches."""
    packs: Mapping[str, CompiledPack] = field(default_factory=dict)
    """Every pack in force and the one the input loads, by digest."""
    is_exact: bool = True
    """Whether any machine would compute the same vector."""
    batch: Batch | None = None
    """The vector with those of other inputs, which are multiplied together."""
    vectors: Mapping[str, Vector] = field(default_factory=dict)
    """Of further texts that the input brings, by `embedded(text)`."""
    fault: str | None = None
    """What could not be worked out of this input, and of no other; None if all could."""

    def of(self, text: str) -> Vector | None:
        """Return the vector of one of the further texts; None if it was not brought."""
        return self.vectors.get(embedded(text))


EMBEDDED_LIMIT = 2_000
"""How many characters of a text are embedded."""


def embedded(text: str) -> str:
    """Return what of a text is embedded: enough to know what it says, without line breaks."""
    return " ".join(text[:EMBEDDED_LIMIT].split())


class MissingAidsError(LookupError):
    """What was worked out for a recorded input cannot be worked out here and now."""


class MissingStrategyError(LookupError):
    """A strategy that the log names is of a module that this program may not import."""


class MissingPackError(LookupError):
    """A pack that the log refers to is not at hand: the fold cannot go on without it."""


def in_force(
    shared: SharedState, agent: AgentState, aids: Aids
) -> tuple[CompiledPack, ...]:
    """Return the packs that hold for an agent, by name; its own stand before the shared.

    Raises:
        MissingPackError: the shell did not bring one of them.
    """
    refs: Map[str, PackRef] = shared.packs
    if agent.packs:
        refs = refs.update(agent.packs)
    return tuple([pack(refs[name], aids) for name in sorted(refs)])


def pack(ref: PackRef, aids: Aids) -> CompiledPack:
    """Return the compiled pack behind a reference.

    Raises:
        MissingPackError: the shell did not bring it.
    """
    try:
        return aids.packs[ref.digest]
    except KeyError:
        raise MissingPackError(
            f"pack {quoted(ref.name)} {ref.version} (sha256 {ref.digest}) is not at hand:"
            " put its blob back, the log cannot be read without it"
        ) from None
