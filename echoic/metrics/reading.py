"""Metrics read back from an instance's endpoint, and the figures that people look at."""

import urllib.error
import urllib.request
from collections import Counter
from collections.abc import Mapping
from dataclasses import dataclass

from prometheus_client.parser import text_string_to_metric_families

from echoic.errors import NotRunningError
from echoic.metrics import catalogue
from echoic.metrics.catalogue import Metric

PATIENCE_S = 5.0
"""Seconds that an endpoint may take to answer."""


@dataclass(frozen=True, slots=True)
class Reading:
    """All samples of an endpoint at one moment."""

    samples: Mapping[tuple[str, frozenset[tuple[str, str]]], float]

    def total(self, metric: Metric, **labels: str) -> float:
        """Return the sum of a metric over all series that have these labels."""
        return sum(self._found(metric.name, labels).values())

    def by(self, metric: Metric, label: str, **labels: str) -> dict[str, float]:
        """Return the sums of a metric by the values of a label, the largest first."""
        sums: Counter[str] = Counter()
        for series, value in self._found(metric.name, labels).items():
            sums[dict(series).get(label, "")] += value  # type: ignore[assignment]
        return {name: value for name, value in sums.most_common() if value}

    def highest(self, metric: Metric) -> float:
        """Return the highest value of a metric's series, 0 if there are none."""
        return max(self._found(metric.name, {}).values(), default=0.0)

    def quantile(self, metric: Metric, share: float, **labels: str) -> float | None:
        """Return a histogram's quantile, as PromQL's `histogram_quantile`; None if empty.

        Between two bounds it is interpolated; beyond the last one it is that bound.
        """
        counts: Counter[float] = Counter()
        for series, value in self._found(f"{metric.name}_bucket", labels).items():
            counts[float(dict(series)["le"])] += value  # type: ignore[assignment]
        bounds = sorted(counts)
        if not bounds or not counts[bounds[-1]]:
            return None
        rank, low, below = share * counts[bounds[-1]], 0.0, 0.0
        for bound in bounds:
            if counts[bound] >= rank and counts[bound] > below:
                if bound == float("inf"):
                    return low
                part = (rank - below) / (counts[bound] - below)
                return low + (bound - low) * part
            low, below = bound, counts[bound]
        return low

    def since(self, before: "Reading") -> "Reading":
        """Return what counters and histograms rose by, and gauges as they are now."""
        risen = dict(self.samples)
        for key, value in self.samples.items():
            if key[0] in _RISING:
                # A process that was started again counts from 0.
                earlier = before.samples.get(key, 0.0)
                risen[key] = value - earlier if value >= earlier else value
        return Reading(risen)

    def _found(
        self, name: str, labels: Mapping[str, str]
    ) -> dict[frozenset[tuple[str, str]], float]:
        wanted = labels.items()
        return {
            series: value
            for (each, series), value in self.samples.items()
            if each == name and wanted <= series
        }


_RISING = frozenset(
    name
    for each in catalogue.METRICS
    if each.kind != "gauge"
    for name in (
        each.name,
        *(f"{each.name}_{end}" for end in ("bucket", "count", "sum")),
    )
)


def read(url: str) -> Reading:
    """Read an endpoint.

    Raises:
        NotRunningError: nothing answers there, or no metrics.
    """
    try:
        # No proxy: an instance is near, and its address is nobody else's business.
        opener = urllib.request.build_opener(urllib.request.ProxyHandler({}))
        with opener.open(url, timeout=PATIENCE_S) as answer:
            return parsed(answer.read().decode())
    except (OSError, ValueError) as error:
        reason = error.reason if isinstance(error, urllib.error.URLError) else error
        raise NotRunningError(
            f"no metrics at {url}: {reason}", next_step="echoic status"
        ) from error


def parsed(text: str) -> Reading:
    """Return a reading of Prometheus' text format.

    Raises:
        ValueError: it is none.
    """
    return Reading(
        {
            (sample.name, frozenset(sample.labels.items())): sample.value
            for family in text_string_to_metric_families(text)
            for sample in family.samples
        }
    )


@dataclass(frozen=True, slots=True, kw_only=True)
class Figures:
    """What `echoic top` shows, of a stretch of time or since the start."""

    seconds: float | None
    """How long the stretch is; None: since each process started."""
    processes: Mapping[str, bool]
    """Whether each process works."""
    log_sequence: float
    waiting: float
    """How far the last answered input is behind the last one of the log."""
    inputs: float
    decisions: Mapping[str, float]
    """By outcome."""
    paths: Mapping[str, float]
    """Of answers."""
    silences: Mapping[str, float]
    """Why nothing was said, silent and dropped together."""
    decide_p50_s: float | None
    decide_p95_s: float | None
    answer_p50_s: float | None
    answer_p95_s: float | None
    queue_p95_s: float | None
    commit_p95_s: float | None
    model: Mapping[str, float]
    """Calls of models, by how they ended."""
    model_p95_s: float | None
    tokens: Mapping[str, float]
    cost_usd: float
    feedback: Mapping[str, float]
    outcomes: Mapping[str, float]
    quarantined: Mapping[str, float]
    """By reason, but `rate`."""
    shed: float
    mapped_topics: float
    """Events whose MQTT topic had to be mapped."""
    faults: Mapping[str, float]
    heuristics: Mapping[str, float]
    agents: float
    behind: float
    """Partitions whose read models are behind the log."""
    lag_s: float
    disk_free_bytes: float


def figures(now: Reading, before: Reading | None, seconds: float | None) -> Figures:
    """Return the figures of the time since `before`, or since the start without one."""
    risen = now if before is None else now.since(before)
    silences = Counter(risen.by(catalogue.DECISIONS, "reason"))
    del silences[catalogue.NONE]
    quarantined = risen.by(catalogue.QUARANTINED, "reason")
    up = now.by(catalogue.UP, catalogue.PROCESS)
    names = {
        dict(series)[catalogue.PROCESS]
        for name, series in now.samples
        if name == catalogue.UP.name
    }
    behind = now.highest(catalogue.LOG_INPUT_SEQUENCE) - now.highest(
        catalogue.ANSWERED_SEQUENCE
    )
    return Figures(
        seconds=seconds if before is not None else None,
        processes={name: name in up for name in sorted(names)},
        log_sequence=now.highest(catalogue.LOG_SEQUENCE),
        waiting=max(0.0, behind),
        inputs=risen.total(catalogue.INPUTS),
        decisions=risen.by(catalogue.DECISIONS, "outcome"),
        paths=risen.by(catalogue.DECISIONS, "path", outcome="spoke"),
        silences=silences,
        decide_p50_s=risen.quantile(catalogue.DECIDE, 0.5),
        decide_p95_s=risen.quantile(catalogue.DECIDE, 0.95),
        answer_p50_s=risen.quantile(catalogue.ANSWER, 0.5),
        answer_p95_s=risen.quantile(catalogue.ANSWER, 0.95),
        queue_p95_s=risen.quantile(catalogue.QUEUE_DELAY, 0.95),
        commit_p95_s=risen.quantile(catalogue.COMMIT, 0.95),
        model=risen.by(catalogue.MODEL_CALLS, "outcome"),
        model_p95_s=risen.quantile(catalogue.MODEL_SECONDS, 0.95),
        tokens=risen.by(catalogue.MODEL_TOKENS, "direction"),
        cost_usd=risen.total(catalogue.MODEL_COST),
        feedback=risen.by(catalogue.FEEDBACK, "label"),
        outcomes=risen.by(catalogue.OUTCOMES, "outcome"),
        shed=quarantined.pop("rate", 0.0),
        mapped_topics=risen.total(catalogue.MAPPED_TOPICS),
        quarantined=quarantined,
        faults=risen.by(catalogue.FAULTS, "kind"),
        heuristics=now.by(catalogue.HEURISTICS, "origin"),
        agents=now.total(catalogue.AGENTS),
        behind=now.highest(catalogue.BEHIND),
        lag_s=now.highest(catalogue.LAG),
        disk_free_bytes=now.highest(catalogue.DISK_FREE),
    )
