"""Whether a decision's trace is where its link leads, as far as is known here."""

from echoic.client.decision_json import trace_of
from echoic.config.load import Settings
from echoic.tracing import resend
from echoic.tracing.destinations import SPOOL, Spool
from echoic.tracing.sampling import Sampling, left_out
from replay.recording.decisions import DecisionRecord


def why_untraced(settings: Settings, record: DecisionRecord) -> str | None:
    """Return why the trace is not, or may not be, where its link leads, and what makes it.

    None if nothing says so. What a collector dropped is known to `/metrics` alone.
    """
    spool = Spool(settings.data / SPOOL)
    if resend.spans_of(spool, trace_of(record)):
        return f"no collector took it; it waits in {spool.path}: echoic trace send"
    if not record.is_final:
        return "not sent yet: a trace goes out whole, when its decision has ended"
    # What was more than a silence links to a decision that somebody looks at.
    if record.decided.silence is None or record.asks or record.fires:
        return None
    sampling = Sampling(settings.trace_silent, settings.trace_ratio)
    why = left_out(record.id, sampling)
    session = record.session or "FILE"
    return why and f"{why}; make it: echoic trace send --session {session}"
