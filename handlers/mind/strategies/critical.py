"""Critical: which occasions are too urgent to wait at, or to try things at."""

from schemas.messages.decisions import Exclusion
from schemas.ports.decision_context import DecisionContext

CRITICAL_URGENCY = 0.9
"""From this urgency on, an event or what it calls for brooks no delay and no trial."""

CRITICAL_THREAT = 0.8
"""From this threat on, neither does an event."""


def criticality(context: DecisionContext, arm: str) -> Exclusion | None:
    """Why taking `arm` here is critical; None if it is not."""
    urgency = max(
        [context.urgency, *(c.urgency for c in context.candidates if c.arm == arm)]
    )
    if urgency >= CRITICAL_URGENCY:
        return "critical_urgency"
    if context.salience.get("threat", 0.0) >= CRITICAL_THREAT:
        return "threat"
    return None
