"""The summary at the end of the demo: how much was said, what was learnt, how fast.

Pure, over records and the agent's state; every figure is one of this run.
"""

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass

from rich.console import RenderableType

from echoic.client.names import Names, named
from echoic.demo.home import Scene
from echoic.terminal.screen import counted, pairs, table, text, words
from replay.recording.decisions import DecisionRecord
from replay.verify import Verification
from schemas.state.agent import AgentState
from schemas.state.evidence import Belief, Signal

_SHOWN = 4
"""How many heuristics are listed that rose most, and as many that fell most."""


_CAUSES = {
    (True, True): ("success", "successes"),
    (True, False): ("failure", "failures"),
    (False, True): ("thumb up", "thumbs up"),
    (False, False): ("thumb down", "thumbs down"),
}
"""What moves confidence: whether the world says it or a person, and whether for the good."""


@dataclass(frozen=True, slots=True)
class Report:
    """A finished demo."""

    events: int
    """How many sensor events were published."""
    records: Sequence[DecisionRecord]
    state: AgentState
    home: Scene
    verification: Verification
    home_verification: Verification
    names: Names
    seconds: float

    @property
    def is_identical(self) -> bool:
        """Whether both sessions, decided again, came out the same."""
        return self.verification.is_identical and self.home_verification.is_identical


def as_fields(report: Report) -> dict[str, object]:
    """Return the demo's closing line, for a program to read."""
    spoken = [each for each in report.records if each.said is not None]
    return {
        "events": report.events,
        "answered": len(report.records),
        "spoke": len(spoken),
        "silent": len(report.records) - len(spoken),
        "silent_by_reason": silences(report.records),
        "moved": len(moved(report.state)),
        "rapport": {
            person: report.state.rapport[person].value
            for person in report.state.rapport.sorted_keys()
        },
        "replay": _counts(report.verification),
        "latency_ms": {
            "p50": round(_percentile(_latencies(report.records), 0.50), 3),
            "p95": round(_percentile(_latencies(report.records), 0.95), 3),
        },
        "seconds": round(report.seconds, 3),
        "home": {
            "said": [
                each.said for each in report.home.records if each.said is not None
            ],
            "replay": _counts(report.home_verification),
        },
    }


def summary(report: Report) -> Iterator[RenderableType]:
    """Yield the summary."""
    fields = as_fields(report)
    by_reason = ", ".join(
        f"{count} {reason}" for reason, count in silences(report.records).items()
    )
    answered = f"{fields['events']} events, {fields['answered']} answered"
    yield text((f"{answered} in {report.seconds:.1f} s", "bold"))
    ordered = _latencies(report.records)
    p50, p95 = _percentile(ordered, 0.50), _percentile(ordered, 0.95)
    rapport = report.state.rapport
    yield pairs(
        {
            "spoke": fields["spoke"],
            "silent": f"{fields['silent']}: {by_reason}",
            "latency": f"p50 {p50:.1f} ms, p95 {p95:.1f} ms from event to stored decision",
            **{
                f"rapport {person}": f"0.50 → {rapport[person].value:.2f}"
                " by recorded thumbs"
                for person in rapport.sorted_keys()
            },
        }
    )
    yield ""
    changed = moved(report.state)
    yield f"{len(changed)} heuristics changed by recorded feedback and outcomes:"
    rows = [_row(*each, report.names) for each in changed]
    if len(rows) > 2 * _SHOWN:
        left_out = ("", f"… {len(rows) - 2 * _SHOWN} more", "")
        rows = [*rows[:_SHOWN], left_out, *rows[-_SHOWN:]]
    yield table(("", "", words()), rows, 2)


def proof(report: Report) -> Iterator[RenderableType]:
    """Yield what replaying each session came to."""
    sessions = {"game": report.verification, "home": report.home_verification}
    for name, found in sessions.items():
        mark, colour = ("✓", "green") if found.is_identical else ("✗", "red")
        figures = f"{found.identical}/{found.total} outputs identical"
        yield text((f"{mark} replay verify, {name}: {figures}", colour))


def _counts(verification: Verification) -> dict[str, int]:
    return {"identical": verification.identical, "total": verification.total}


def silences(records: Sequence[DecisionRecord]) -> dict[str, int]:
    """Return how many decisions were silent for each reason, the most common first."""
    counts = Counter(each.silence for each in records if each.silence is not None)
    return dict(sorted(counts.items(), key=lambda item: (-item[1], item[0])))


def moved(state: AgentState) -> list[tuple[str, Belief]]:
    """Return the heuristics with evidence; those that rose most come first."""
    beliefs: Mapping[str, Belief] = dict(state.beliefs)
    changed = [
        (key.partition("@")[0], belief)
        for key, belief in beliefs.items()
        if belief.signals
    ]
    # The id breaks ties, so that the same session gives the same summary.
    changed.sort(key=lambda item: (item[1].declared - item[1].confidence, item[0]))
    return changed


def _latencies(records: Sequence[DecisionRecord]) -> list[float]:
    """Return how long each decision took, in milliseconds, by the broker's clock."""
    return sorted(each.latency_ms for each in records)


def _percentile(ordered: Sequence[float], share: float) -> float:
    """Return the value below which `share` of the ordered values lie; 0 for none."""
    if not ordered:
        return 0.0
    # The nearest rank, without interpolation: a latency that really occurred.
    return ordered[min(len(ordered) - 1, int(share * len(ordered)))]


def _row(heuristic_id: str, belief: Belief, names: Names) -> tuple[str, ...]:
    change = f"{belief.declared:.2f} → {belief.confidence:.2f}"
    return named(heuristic_id, names), change, _causes(belief.signals)


def _causes(signals: Sequence[Signal]) -> str:
    """Return which signals moved it, counted."""
    # A signal is a success rate from 0 to 1; half says nothing either way.
    counts = Counter((each.kind == "implicit", each.value > 0.5) for each in signals)
    return ", ".join(
        counted(counts[each], *names) for each, names in _CAUSES.items() if counts[each]
    )
