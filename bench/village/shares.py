"""Which layer decided, counted from the log of each villager."""

from collections import Counter
from collections.abc import Mapping
from dataclasses import dataclass, field

from schemas.codec.decode import read_output
from schemas.messages.asks import ModelAsked
from schemas.messages.decisions import Decided
from streams.session_files.file import SessionFile

_READ = (f".{Decided.token}", f".{ModelAsked.token}")


@dataclass(slots=True)
class Shares:
    """What one villager's decisions came to."""

    acted: Counter[str] = field(default_factory=Counter)
    """Decisions in which a layer acted, by layer."""
    nothing: int = 0
    """Decisions on events about which there was nothing to do."""
    asked: int = 0
    """Calls of a model."""
    reflexes: Counter[str] = field(default_factory=Counter)
    """Those of reflexes, by arm."""

    @property
    def without_model(self) -> float:
        """The share of decisions to act that asked no model, 0 to 1."""
        total = self.acted.total()
        return 1 - self._by_model / total if total else 1.0

    @property
    def of_all(self) -> float:
        """The share that asked no model, of all decisions, those to do nothing too."""
        total = self.acted.total() + self.nothing
        return 1 - self._by_model / total if total else 1.0

    @property
    def _by_model(self) -> int:
        return self.acted["talker"] + self.acted["executor"]


def of_session(session: SessionFile) -> Shares:
    """Count the decisions of a session."""
    found = Shares()
    for record in session.records:
        if not record.subject.endswith(_READ):
            continue
        match read_output(record).message:
            case ModelAsked():
                found.asked += 1
            case Decided(layer=None):
                found.nothing += 1
            case Decided(layer=str() as layer, arm=arm):
                found.acted[layer] += 1
                if layer == "reflex":
                    found.reflexes[arm] += 1
            case _:
                pass
    return found


def table(shares: Mapping[str, Shares], extraversion: Mapping[str, float]) -> str:
    """Return the shares as a table, a line for each villager."""
    rows = [
        "| villager | extraversion | reflex | queue | talker | executor |"
        " nothing due | model calls |"
        " acts without a model | all decisions without |",
        "|---|---|---|---|---|---|---|---|---|---|",
    ]
    rows += [
        f"| {name} | {extraversion[name]:.1f} | {each.acted['reflex']} |"
        f" {each.acted['queue']} | {each.acted['talker']} | {each.acted['executor']} |"
        f" {each.nothing} | {each.asked} |"
        f" {each.without_model:.0%} | {each.of_all:.0%} |"
        for name, each in shares.items()
    ]
    return "\n".join(rows) + "\n"
