"""The demo's telling: each kind of decision once, and repeats counted, not listed.

Its rule: pure, text out of accounts as they come; what is folded is told in figures.
"""

from collections.abc import Iterator

from echoic.client.decision_record import Account
from echoic.client.names import Names
from echoic.terminal.decisions import line
from echoic.terminal.text import Style

_NO_MODEL = (
    "no model is set, so what no heuristic is trusted with stays unanswered: told once"
)


class Story:
    """Tells of decisions, one after the other."""

    def __init__(self, names: Names, style: Style) -> None:
        self._names = names
        self._style = style
        self._told: set[str | None] = set()
        self._spoke = 0
        self._silent = 0

    def lines(self, account: Account) -> Iterator[str]:
        """What is to be shown of a decision: its line, or nothing if one like it was."""
        spoke = account.said is not None
        kind = account.heuristic_id if spoke else account.silence
        if kind in self._told:
            self._spoke += spoke
            self._silent += not spoke
            return
        self._told.add(kind)
        yield from self.rest()
        yield line(account, self._names, self._style)
        if kind == "llm_unavailable":
            yield self._style.paint(f"         {_NO_MODEL}", "dim")

    def rest(self) -> Iterator[str]:
        """The figures of what was folded since the last line."""
        counts = ((self._spoke, "spoke"), (self._silent, "silent"))
        folded = ", ".join(f"{count:,} {word}" for count, word in counts if count)
        if folded:
            yield self._style.paint(
                f"         … more like those above: {folded}", "dim"
            )
        self._spoke = self._silent = 0
