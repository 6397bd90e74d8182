"""Verification of a log: every input answered once, by a whole group, in one chain.

What it should have taken of the intake streams, and the packs that it names, are looked for
by `echoic.client.missed`.

It continues from where the log was verified before, and reports that.
"""

from collections.abc import Callable, Iterable, Mapping
from dataclasses import asdict, dataclass, replace
from pathlib import Path

from echoic.client import verified
from replay import chain
from replay.agent_messages import Stray, strays_of_log
from replay.chain import Break, Chained
from streams.audit import Audit, Since, audit
from streams.jetstream.missed import Lost, Missed
from streams.log import ReadableLog
from streams.topology import LOG_SUBJECTS


@dataclass(frozen=True, slots=True)
class Found:
    """The result of a verification."""

    audit: Audit
    """The counts over the whole log, earlier verifications included."""
    breaks: tuple[Break, ...]
    strays: tuple[Stray, ...]
    """What an agent is told that no ask told it."""
    since: Mapping[int, Chained]
    """Where verification began, by partition; those that are missing began at the start."""
    missed: tuple[Missed, ...] = ()
    """What intake streams acknowledged and the log never took."""
    lost: tuple[Lost, ...] = ()
    """What of that they cannot hand out any more."""
    packs: tuple[str, ...] = ()
    """The packs that cannot be read."""
    is_stopped: bool = False
    """Whether no instance runs, so that inputs without an answer wait for the next one."""

    @property
    def known(self) -> int:
        """The number of inputs that had been verified before."""
        return sum(int(mark.groups) for mark in self.since.values())

    @property
    def is_sound(self) -> bool:
        """Whether nothing at all was found."""
        beside = self.missed or self.lost or self.packs
        wrong = self.breaks or self.strays or beside
        waits = self.audit.unanswered if self.is_stopped else 0
        return self.audit.faults == waits and not wrong

    def counts(self) -> dict[str, int]:
        """Return the counts by name."""
        return {
            **asdict(self.audit),
            "broken_chains": len(self.breaks),
            "stray_messages": len(self.strays),
            "missed_messages": len(self.missed),
            "lost_messages": sum(each.count for each in self.lost),
            "unreadable_packs": len(self.packs),
        }

    def as_fields(self) -> dict[str, object]:
        """Return the result as fields for JSON."""
        return {
            **self.counts(),
            "sound": self.is_sound,
            "missed": _rows_of(self.missed),
            "lost": [asdict(each) for each in self.lost],
            "packs": self.packs,
            "verified_from": {
                str(partition): mark.position for partition, mark in self.since.items()
            },
        }


def _rows_of(missed: Iterable[Missed]) -> list[dict[str, object]]:
    """Return missed messages as fields for JSON."""
    names = "stream", "sequence", "agent", "subject"
    return [{name: getattr(each, name) for name in names} for each in missed]


async def verify(
    log: ReadableLog, data: Path, progress: Callable[[int], None], *, full: bool
) -> Found:
    """Verify a log, and keep in the data folder how far it is sound.

    Raises:
        LogUnavailable: the broker does not answer.
    """
    marks = None if full else verified.recall(data)
    since = await verified.verified_heads(log, marks)
    # Before reading: a mark must not claim messages that arrive meanwhile.
    last = await log.last_sequence(LOG_SUBJECTS)
    starts = {
        each: Since(mark.position, mark.last_output) for each, mark in since.items()
    }
    counted = await audit(log, starts)
    checked = await chain.check(log, progress, since)
    wrong = [each async for each in strays_of_log(log, since)]
    breaks = *verified.lacking(log, marks, last), *checked.breaks
    found = Found(counted, breaks, tuple(wrong), since)
    found = replace(
        found,
        audit=replace(
            counted,
            inputs=counted.inputs + found.known,
            groups=counted.groups + found.known,
        ),
    )
    # Unanswered inputs are no damage: a running worker is about to answer them.
    waits = counted.faults == counted.unanswered
    if found.is_sound or (waits and not breaks and not found.strays):
        ends = {each: end for each, end in checked.ends.items() if end.position}
        verified.keep(data, verified.Marks(str(log.epoch), last, ends))
    return found
