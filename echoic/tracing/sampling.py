"""Which decisions are traced: all that speak, and of the silent ones a share.

Games send hundreds of events a second and are answered with silence; the log keeps every
decision, so that `echoic explain` never depends on this.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from zlib import crc32

from echoic.config.options import Silent
from projections.folds import rate_limits
from schemas.codec.envelope import Output
from schemas.messages.decisions import Decided
from schemas.state.agent import Allowance
from schemas.values.settings import IntakeSettings

RATE = IntakeSettings(rate=20.0, burst=20)
"""Silent decisions a second up to which `auto` traces all."""
_RATIO = 0.05
"""The share of silent decisions that is traced beyond it: one in twenty."""

_ONE_NS = round(1_000_000_000 / RATE.rate)
_BURST_NS = _ONE_NS * RATE.burst
_EXCESS_NS = _BURST_NS - _ONE_NS
"""How far ahead an allowance is, in nanoseconds, from which on another one is excess."""


@dataclass(frozen=True, slots=True)
class Sampling:
    """What is wanted: all silent decisions, a share, none, or all until they are many."""

    silent: Silent = "auto"
    ratio: float = _RATIO


DEFAULT = Sampling()


class Sampler:
    """Chooses, for one thread; it remembers the rate alone."""

    def __init__(self, sampling: Sampling) -> None:
        self._silent = sampling.silent
        self._ratio = sampling.ratio
        self._allowance = Allowance()

    def keeps(self, outputs: Sequence[Output], now_ns: int) -> bool:
        """Tell whether the trace of a group is wanted, at nanoseconds since 1970."""
        return not is_silent(outputs) or self.share(outputs[0], now_ns) > 0.0

    def share(self, decision: Output, now_ns: int) -> float:
        """Return of which share a silent decision is traced as one; 0: it is left out."""
        if self._silent == "all":
            return 1.0
        if self._silent == "none":
            return 0.0
        if self._silent == "auto" and self._is_slow(now_ns):
            return 1.0
        return self._ratio if is_drawn(decision.id, self._ratio) else 0.0

    def _is_slow(self, now_ns: int) -> bool:
        # In a burst this is asked of each event, and `after` takes ten times as long.
        if _EXCESS_NS < self._allowance.free_at_ns - now_ns <= _BURST_NS:
            return False
        after = rate_limits.after(self._allowance, RATE, now_ns)
        self._allowance = after or self._allowance
        return after is not None


def is_drawn(decision_id: str, ratio: float) -> bool:
    """Tell whether a decision is in the share: by its id, so on every machine alike."""
    # An id is hexadecimal digits of a hash, so a checksum of it is even enough.
    return crc32(decision_id.encode()) < ratio * 2**32


def left_out(decision_id: str, sampling: Sampling) -> str | None:
    """Return why a silent decision has no trace, or may have none; None if it has one."""
    if sampling.silent == "all":
        return None
    if sampling.silent == "none":
        return "not traced: silences are not (trace.silent)"
    if is_drawn(decision_id, sampling.ratio):
        return None
    share = f"{sampling.ratio:.3g} of the silences are (trace.ratio)"
    if sampling.silent == "auto":
        return f"perhaps not traced: beyond {RATE.rate:g} a second, {share}"
    return f"not traced: {share}"


def is_silent(outputs: Sequence[Output]) -> bool:
    """Tell whether a group is a single decision to be silent.

    One with more in it, such as an outcome, links to a decision that somebody looks at.
    """
    if len(outputs) != 1:
        return False
    said = outputs[0].message
    return isinstance(said, Decided) and said.silence is not None
