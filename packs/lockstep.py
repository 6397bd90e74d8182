"""What the members of a world have still to answer, by what `out.<agent>.wakeup` tells.

A member owes an answer to each event that it was told, a result to each thing that its mind
asked for, and to hear what another member tells it. The world stands still until nobody owes
anything, so that a slow mind misses nothing.
"""

from collections.abc import Mapping, Sequence
from typing import Any


class Debts:
    """What is owed, by ids; what is told may come in any order."""

    def __init__(self, members: Sequence[str]) -> None:
        """Begin with nothing owed."""
        self._members = frozenset(members)
        self._open: dict[str, str] = {}
        """Who owes what."""
        self._early: set[str] = set()
        """What was heard before its speaker's mind told of it."""
        self.answering: set[str] = set()
        """Who has ever told what it answered."""

    @property
    def owing(self) -> Sequence[str]:
        """Who owes something, in order."""
        return sorted(set(self._open.values()))

    def told(self, agent: str, event_id: str) -> None:
        """Note an event that a member is told."""
        self._open[event_id] = agent

    def heard(self, agent: str, said: Mapping[str, Any]) -> None:
        """Note what a member has answered, asked for, and got."""
        self.answering.add(agent)
        for id_, receiver in said.get("asks", ()):
            self._open[id_] = agent
            if receiver in self._members:
                self._expect(f"{id_}/heard", receiver)
        ended, cause = said.get("ended"), said.get("cause")
        self._open.pop(said.get("answers", ""), None)
        if ended:
            self._open.pop(ended, None)
        if ended and said.get("failed"):
            self._open.pop(f"{ended}/heard", None)
        if cause:
            self._hear(f"{cause}/heard")

    def forgive(self) -> None:
        """Owe nothing any more: who was restarted cannot tell what it has done before."""
        self._open.clear()
        self._early.clear()

    def _expect(self, what: str, receiver: str) -> None:
        if what in self._early:
            self._early.discard(what)
        else:
            self._open[what] = receiver

    def _hear(self, what: str) -> None:
        if self._open.pop(what, None) is None:
            self._early.add(what)
