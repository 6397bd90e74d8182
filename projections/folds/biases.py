"""Biases: personality as small adjustments of decisions.

In order of precedence: the agent's own for a domain, its own for all, the pack's of that
domain, the settings'. From the second edition on each is limited to `MOST_BIAS`.
"""

from collections.abc import Mapping, Sequence

from immutables import Map
from msgspec.structs import replace

from schemas.messages.controls import ProfileSet
from schemas.packs.manifest import MOST_BIAS, CompiledPack
from schemas.state.agent import AgentState
from schemas.values.exact_math import clamp
from schemas.values.settings import MindSettings

_NONE: Mapping[str, float] = {}


def in_force(
    settings: MindSettings,
    state: AgentState,
    packs: Sequence[CompiledPack],
    domain: str | None = None,
) -> dict[str, float]:
    """Return the biases for an event of a domain; for None, those of no domain."""
    of_pack = next((each.pack for each in packs if each.pack.name == domain), None)
    found: dict[str, float] = {
        # Later entries override earlier ones, name by name.
        **settings.biases,
        **(of_pack.biases if of_pack else _NONE),
        **state.biases,
        **state.domain_biases.get(domain or "", _NONE),
    }
    if settings.edition < 2:
        return found
    return {name: clamp(found[name], -MOST_BIAS, MOST_BIAS) for name in found}


def applied(state: AgentState, message: ProfileSet) -> AgentState:
    """Return the state with other biases, of the agent or of one domain."""
    told = Map(message.biases)
    if message.domain is None:
        return replace(state, biases=told)
    others = state.domain_biases
    # No biases for a domain means that those for all events count there again.
    if told:
        return replace(state, domain_biases=others.set(message.domain, told))
    if message.domain in others:
        return replace(state, domain_biases=others.delete(message.domain))
    return state
