"""Decisions by agent, of a bounded number of agents: any more count together."""

from prometheus_client import CollectorRegistry, Counter

from echoic.metrics.catalogue import AGENT_DECISIONS

REST = "(other)"
"""The agents beyond the bound; no agent can be called so."""


class AgentDecisions:
    """Counts decisions of the first few agents; of none if the bound is 0."""

    def __init__(self, registry: CollectorRegistry, bound: int) -> None:
        """Make the metric, which has no series yet."""
        metric = AGENT_DECISIONS
        names = tuple(metric.labels)
        self._family = Counter(metric.name, metric.meaning, names, registry=registry)
        self._bound = bound
        self._known: set[str] = set()

    def note(self, agent: str, outcome: str) -> None:
        """Count a decision."""
        if not self._bound:
            return
        if len(self._known) < self._bound:
            self._known.add(agent)
        name = agent if agent in self._known else REST
        self._family.labels(name, outcome).inc()
