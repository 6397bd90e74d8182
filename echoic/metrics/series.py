"""One metric's series, as many as the closed lists of its labels allow and no more."""

from collections.abc import Callable

from prometheus_client import CollectorRegistry, Counter, Gauge, Histogram

from echoic.metrics.catalogue import OTHER, Metric


class Series:
    """The series of one metric; calling it notes an amount under label values."""

    def __init__(self, metric: Metric, registry: CollectorRegistry) -> None:
        """Make the metric, without any series as long as it has labels."""
        self._closed = tuple(metric.labels.values())
        self._acts: dict[tuple[str, ...], Callable[[float], None]] = {}
        """What notes an amount, by label values: a lookup costs less than the client's."""
        names = tuple(metric.labels)
        self._family = _made(metric, names, registry)
        if not names:
            self._acts[()] = _act(self._family)

    def __call__(self, amount: float, *values: str) -> None:
        """Add to a counter, set a gauge, or let a histogram observe.

        A value that is not on its label's list counts as `other`.
        """
        act = self._acts.get(values)
        (act or self._bounded(values))(amount)

    def _bounded(self, values: tuple[str, ...]) -> Callable[[float], None]:
        known = tuple(
            value if value in allowed else OTHER
            for value, allowed in zip(values, self._closed, strict=True)
        )
        # Kept under what is known alone: a flood of new values must not fill the memory.
        if known not in self._acts:
            self._acts[known] = _act(self._family.labels(*known))
        return self._acts[known]


def _made(
    metric: Metric, names: tuple[str, ...], registry: CollectorRegistry
) -> Counter | Gauge | Histogram:
    match metric.kind:
        case "counter":
            return Counter(metric.name, metric.meaning, names, registry=registry)
        case "gauge":
            return Gauge(metric.name, metric.meaning, names, registry=registry)
        case "histogram":
            return Histogram(
                metric.name,
                metric.meaning,
                names,
                registry=registry,
                buckets=metric.buckets,
            )


def _act(child: Counter | Gauge | Histogram) -> Callable[[float], None]:
    match child:
        case Counter():
            return child.inc
        case Gauge():
            return child.set
        case Histogram():
            return child.observe
