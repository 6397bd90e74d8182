"""From recordings to rows, and from rows to an estimate, in a call each; public API."""

import asyncio
from collections.abc import Iterable, Sequence
from contextlib import aclosing
from dataclasses import replace
from pathlib import Path

from echoic.client.recordings import FileSource, opened
from echoic.embedders import WordLlamaEmbedder
from evaluation.compare.rows import asked
from evaluation.compare.rows import observations as rows_of
from evaluation.ope.estimate import estimate as estimated
from evaluation.ope.people import Population
from evaluation.ope.results import Estimate
from evaluation.ope.rows import Observation
from evaluation.ope.settings import EstimationSettings
from handlers.mind.strategies.spec import parse
from replay.open_loop.asked import ask_open_loop
from replay.recording.outcomes import OutcomeSettings
from replay.recording.recorded_decisions import recorded_decisions
from replay.recording.source import RecordingError
from schemas.messages.experiments import Variant

# The target's index in the pair that is asked; the baseline is 0.
_CHALLENGER = 1


def observations(
    recordings: Sequence[Path],
    target: str,
    baseline: str | None = None,
    outcome: OutcomeSettings | None = None,
) -> list[Observation]:
    """Return one row for each recorded decision that reached a strategy.

    Args:
        recordings: files of sessions.
        target: the strategy to be judged, `heuristic_first:threshold=0.5`.
        baseline: what it is compared with; None: the one that made each recording.
        outcome: what counts as a good outcome, and what as none.

    Raises:
        SessionFileError, RecordingError: a file is none, or holds no decision.
        UnknownStrategyError: there is no such strategy.
    """
    asking = (_variant(baseline), _variant(target))
    return asyncio.run(_observed(recordings, asking, outcome or OutcomeSettings()))


def estimate(
    rows: Iterable[Observation],
    settings: EstimationSettings | None = None,
    *,
    population: Population | None = None,
    others: Sequence[float | None] = (),
) -> Estimate:
    """Estimate both strategies and their difference, with None for what is withheld.

    Args:
        rows: logged decisions.
        settings: limits, margin and bootstrap; None: the usual ones.
        population: whom the verdict is about: `these` people, or any `alike`; None: as the
            settings say.
        others: the p-values of other targets compared on the same rows, uncorrected: a
            claim that may be luck among that many is taken back.

    Raises:
        ObservationError: a row cannot be true, a decision comes twice, or there is none.
    """
    chosen = settings or EstimationSettings()
    if population is not None:
        chosen = replace(chosen, population=population)
    return estimated(rows, chosen, others=others).shown()


async def _observed(
    files: Sequence[Path], asking: tuple[Variant, Variant], outcome: OutcomeSettings
) -> list[Observation]:
    found: list[Observation] = []
    for file in files:
        async with opened(FileSource(file, WordLlamaEmbedder.name)) as (recording, _):
            if recording.altered is not None:
                raise RecordingError(f"{recording.origin!r}: {recording.altered}")
            async with aclosing(ask_open_loop(recording, asking)) as decisions:
                reached = asked([each async for each in decisions])
            # Outcomes lie behind the decisions, so they take a second pass over the
            # recording.
            recorded = await recorded_decisions(recording, outcome)
            found += rows_of(reached, _CHALLENGER, recorded.outcomes)
    return found


def _variant(strategy: str | None) -> Variant:
    return Variant() if strategy is None else Variant(strategy=parse(strategy))
