"""Runs: the live mind, and replays of what it decided, each with trace ids of its own."""

from dataclasses import dataclass

from schemas.values import ids as identity


@dataclass(frozen=True, slots=True)
class Run:
    """Who decided: the live mind, or a replay of what it decided."""

    id: str = "live"
    variant: str | None = None
    """What the replay decided by; None: the strategy's own name."""
    jaeger: str | None = None
    """The address of Jaeger's pages."""

    def trace_id(self, event_id: str) -> str:
        """Return the trace id of the decision on an event: the event's own if it is live."""
        if self.is_live:
            return identity.trace_id(event_id)
        return identity.trace_id(f"{self.id}/{event_id}")

    def span_key(self, decision_id: str) -> str:
        """Return what the ids of a decision's spans derive from."""
        # A replay gives a decision the recorded one's id, and spans want ids of their own.
        return decision_id if self.is_live else f"{self.id}/{decision_id}"

    def compared_at(self, event_id: str) -> str | None:
        """Return where Jaeger shows the recorded decision and this one side by side."""
        if self.jaeger is None:
            return None
        pair = f"{LIVE.trace_id(event_id)}...{self.trace_id(event_id)}"
        return f"{self.jaeger}/trace/{pair}"

    @property
    def is_live(self) -> bool:
        """Whether it is no replay."""
        return self == LIVE


LIVE = Run()
