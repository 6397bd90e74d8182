"""The option `--trace` of `echoic replay compare`: decisions of both sides in Jaeger."""

import asyncio
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path

from echoic.client.recordings import LogSource, Source
from echoic.client.replay_traces import Wanted, destination_of, trace_all
from echoic.config.load import Settings
from echoic.terminal.output import note
from evaluation.compare.document import Comparison, Document
from evaluation.compare.session import Plan, SessionResult


def tracing_to(
    settings: Settings, file: Path | None, limit: int, *, originals: bool
) -> "Tracing":
    """Return what the options ask for.

    Raises:
        NotRunningError: no collector answers.
    """
    destination, content = destination_of(settings, file)
    return Tracing(
        Wanted(
            destination=destination,
            jaeger=settings.trace_ui.rstrip("/"),
            content=content,
            limit=limit,
            originals=originals,
        )
    )


@dataclass(frozen=True, slots=True)
class Tracing:
    """Traces a comparison."""

    wanted: Wanted

    def traced(
        self,
        found: Document,
        results: Sequence[SessionResult],
        plan: Plan,
        sources: Sequence[Source],
    ) -> Document:
        """Send the traces, and return the document with the place of each flip's."""
        labels = [each.challenger.label for each in found.comparisons]
        pages = asyncio.run(trace_all(sources, results, plan, labels, self.wanted))
        note(f"traced: {sum(map(len, pages)):,} decisions, decided again")
        if not self.wanted.originals and any(isinstance(s, LogSource) for s in sources):
            note(
                "→ of this instance's own sessions one side alone: what was not traced"
                " live (sampled, or before the collector) comes with --trace-originals"
            )
        comparisons = map(_linked, found.comparisons, pages)
        return replace(found, comparisons=tuple(comparisons))


def _linked(comparison: Comparison, pages: Mapping[str, str]) -> Comparison:
    flips = (
        replace(flip, compare_url=pages.get(flip.decision)) for flip in comparison.flips
    )
    return replace(comparison, flips=tuple(flips))
