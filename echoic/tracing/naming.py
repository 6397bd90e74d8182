"""Names that a decision's messages leave to the mind's state: a trace shows them. Pure."""

import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass

from schemas.packs.compiled import CompiledPack
from schemas.state.agent import STRANGER, PackRef, PartitionState

NameOf = Callable[[str], str | None]
"""Returns the name of a heuristic by its id; None if it is not known."""

# Of a heuristic's arm, alone or within a race; see `schemas.messages.arms`.
_HEURISTIC = re.compile(r"heuristic:([^@]+)@[^@+]*")
_MODEL = re.compile(r"llm:(.+?)@[^@+]+@[^@+]+(?=\+|$)")


def nameless(_: str) -> None:
    """Know no name: of what is read from the log alone."""


def named_arm(arm: str, name_of: NameOf) -> str:
    """Return an arm as a person calls it: by name or id, and by model, without hashes."""
    arm = _MODEL.sub(lambda found: found[1], arm)
    return _HEURISTIC.sub(lambda found: name_of(found[1]) or found[1], arm)


def heuristic_of(arm: str) -> str | None:
    """Return the id of the heuristic whose arm it is; None of any other arm."""
    found = _HEURISTIC.fullmatch(arm)
    return found and found[1]


@dataclass(frozen=True, slots=True)
class Held:
    """What the mind held after it had decided."""

    state: PartitionState
    packs: Mapping[str, CompiledPack]
    """By digest."""

    def version(self, agent: str, pack: str) -> str | None:
        """Return the version of the pack in force of this name."""
        ref = self._ref(agent, pack)
        return None if ref is None else ref.version

    def name_of(self, agent: str, pack: str, heuristic_id: str) -> str | None:
        """Return the name of a heuristic of the agent's own, or of its pack's."""
        own = self.state.agents.get(agent, STRANGER).taught(heuristic_id)
        if own is not None:
            return own.name
        ref = self._ref(agent, pack)
        compiled = None if ref is None else self.packs.get(ref.digest)
        if compiled is None:
            return None
        row = compiled.row_of(heuristic_id)
        return None if row is None else compiled.pack.heuristics[row].name

    def _ref(self, agent: str, pack: str) -> PackRef | None:
        own = self.state.agents.get(agent, STRANGER).packs.get(pack)
        # The agent's own pack replaces a shared one of the same name.
        return own or self.state.shared.packs.get(pack)
