"""Compare behaviour: how often a side speaks, by which path, how late, and at what cost.

The baseline's is read from the recording, a challenger's from its closed-loop run over the same
inputs. Latency and cost of model calls that were never made are imputed, as a range.
"""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace

from evaluation.compare.charts import Kind
from evaluation.compare.document import Fact
from replay.recording.decisions import DecisionRecord
from schemas.values.exact_math import total

GONE_ON = "had the world gone on the same"
"""What facts of the recorded inputs are facts of."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Act:
    """What one side did at one decision."""

    spoke: bool
    path: str
    asked_model: bool = False
    latency_ms: tuple[float, float] | None = None
    """The least and the most it may be; None if nothing was waited for, or it is unknown."""
    tokens: int = 0
    cost_usd: tuple[float, float] = (0.0, 0.0)
    is_imputed: bool = False


@dataclass(frozen=True, slots=True, kw_only=True)
class Behaviour:
    """All that a side did."""

    decisions: int
    spoke: int
    by_heuristic: int
    model_calls: int
    tokens: int
    cost_low: float
    cost_high: float
    latencies_low: tuple[float, ...]
    latencies_high: tuple[float, ...]
    imputed: int
    """How many model answers were imputed, since the recording does not hold them."""

    @property
    def cost(self) -> float:
        """The middle of what models may have cost."""
        return _middle(self.cost_low, self.cost_high)


def act_of(record: DecisionRecord) -> Act:
    """Return the recorded strategy's act at a decision; nothing of it is imputed."""
    # Only a final record's last message is its answer; of any other it
    # is unknown how long it took.
    latency = record.latency_ms
    return Act(
        spoke=record.said is not None,
        path=record.path,
        asked_model=bool(record.asks),
        latency_ms=(latency, latency) if record.is_final else None,
        tokens=record.tokens,
        cost_usd=(record.cost_usd, record.cost_usd),
    )


def behaviour(acts: Iterable[Act]) -> Behaviour:
    """Add up what a side did."""
    all_acts = list(acts)
    spoken = [each for each in all_acts if each.spoke and each.latency_ms is not None]
    lows = sorted(each.latency_ms[0] for each in spoken if each.latency_ms)
    highs = sorted(each.latency_ms[1] for each in spoken if each.latency_ms)
    return Behaviour(
        decisions=len(all_acts),
        spoke=sum(each.spoke for each in all_acts),
        by_heuristic=sum(each.spoke and each.path == "heuristic" for each in all_acts),
        model_calls=sum(each.asked_model for each in all_acts),
        tokens=sum(each.tokens for each in all_acts),
        cost_low=total(each.cost_usd[0] for each in all_acts),
        cost_high=total(each.cost_usd[1] for each in all_acts),
        latencies_low=tuple(lows),
        latencies_high=tuple(highs),
        imputed=sum(each.is_imputed for each in all_acts),
    )


def facts(
    ours: Behaviour, theirs: Behaviour, *, is_heard: bool = False
) -> tuple[Fact, ...]:
    """Return the rows that compare two behaviours over the recorded inputs.

    Both are facts of these inputs: what either would have done, had the world gone on the
    same. If other agents heard the baseline (`is_heard`), what they said to it is no more
    than a prediction of what they would have said to a challenger that behaves otherwise.
    """
    of_counts: Kind = "predicted" if is_heard and ours != theirs else "fact"
    imputed = ours.imputed + theirs.imputed
    kind: Kind = "imputed" if imputed else of_counts
    note = f"{theirs.imputed} answers imputed" if theirs.imputed else None
    if ours.imputed:
        note = f"{ours.imputed} and {theirs.imputed} answers imputed"
    rows = [
        _count("spoke", "answers", ours.spoke, theirs.spoke, _of(ours, theirs)),
        _share("spoke_rate", "answer rate", _rate(ours), _rate(theirs)),
        _count("heuristic", "by a heuristic", ours.by_heuristic, theirs.by_heuristic),
        _count("model_calls", "model calls", ours.model_calls, theirs.model_calls),
    ]
    rows = [replace(each, kind=of_counts) for each in rows]
    if ours.model_calls or theirs.model_calls:
        rows += [
            Fact(
                name="cost_usd",
                label="model cost",
                kind=kind,
                unit="USD",
                # Figures to plot and to compare; the range beside them is what is known.
                baseline=ours.cost,
                challenger=theirs.cost,
                delta=theirs.cost - ours.cost,
                low=theirs.cost_low if theirs.imputed else None,
                high=theirs.cost_high if theirs.imputed else None,
                note=note,
            )
        ]
    rows += [
        _latency("latency_p50", "latency, median", 0.5, ours, theirs, kind, note),
        _latency("latency_p95", "latency, 95th", 0.95, ours, theirs, kind, note),
    ]
    return tuple(rows)


def quantile(ascending: Sequence[float], share: float) -> float | None:
    """Return the empirical quantile, without interpolation; None if there are none."""
    if not ascending:
        return None
    return ascending[min(len(ascending) - 1, int(share * len(ascending)))]


def _rate(behaviour: Behaviour) -> float:
    return behaviour.spoke / behaviour.decisions if behaviour.decisions else 0.0


def _of(ours: Behaviour, theirs: Behaviour) -> str:
    """Return how many decisions a count is of, those that end at a gate included."""
    counts = f"{ours.decisions:,} and {theirs.decisions:,}"
    if ours.decisions == theirs.decisions:
        counts = f"{ours.decisions:,}"
    return f"in {counts} decisions, {GONE_ON}"


def _count(
    name: str, label: str, ours: int, theirs: int, note: str | None = None
) -> Fact:
    return Fact(
        name=name,
        label=label,
        kind="fact",
        baseline=float(ours),
        challenger=float(theirs),
        delta=float(theirs - ours),
        note=note,
    )


def _share(name: str, label: str, ours: float, theirs: float) -> Fact:
    return Fact(
        name=name,
        label=label,
        kind="fact",
        unit="share",
        baseline=ours,
        challenger=theirs,
        delta=theirs - ours,
    )


def _latency(
    name: str,
    label: str,
    share: float,
    ours: Behaviour,
    theirs: Behaviour,
    kind: Kind,
    note: str | None,
) -> Fact:
    least, most = (
        quantile(each, share) for each in (ours.latencies_low, ours.latencies_high)
    )
    own = None if least is None or most is None else _middle(least, most)
    low = quantile(theirs.latencies_low, share)
    high = quantile(theirs.latencies_high, share)
    middle = None if low is None or high is None else _middle(low, high)
    is_range = low != high
    return Fact(
        name=name,
        label=label,
        kind="imputed" if is_range else kind,
        unit="ms",
        baseline=own,
        challenger=middle,
        delta=None if own is None or middle is None else middle - own,
        low=low if is_range else None,
        high=high if is_range else None,
        note=note,
    )


def _middle(low: float, high: float) -> float:
    return (low + high) / 2.0
