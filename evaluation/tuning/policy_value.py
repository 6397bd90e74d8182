"""Judge a strategy's parameters by the estimated value of its decisions.

The objective is the doubly robust difference to the recorded strategy. A choice that the
recording does not support, or that asks models too often, is refused, so that a search
cannot drift to where the log shows nothing.
"""

from collections.abc import Mapping, Sequence
from contextlib import aclosing
from dataclasses import dataclass, replace
from statistics import fmean

from evaluation.compare.rows import observations
from evaluation.evidence.gather import UnprovenError
from evaluation.ope.estimate import estimate
from evaluation.ope.results import Estimate
from evaluation.ope.settings import EstimationSettings
from evaluation.ope.verdicts import Verdict
from evaluation.tuning.search import Evaluation, Gain, Refused, Values
from handlers.aids import AidProvider
from replay.open_loop.asked import LoggedDecision, ask_open_loop
from replay.recording.in_force import InForce
from replay.recording.outcomes import Outcome, OutcomeSettings
from replay.recording.recorded_decisions import DecisionsReader
from replay.recording.recorded_groups import recorded_groups
from replay.recording.source import Recording
from replay.verify import Span, verify
from schemas.values.exact_math import total
from schemas.values.settings import StrategySpec
from schemas.values.settings_by_name import strategy_with

# While searching, intervals only rank many choices; the judgement takes the full number.
_SEARCH = EstimationSettings(resamples=500)
_HOLD_OUT = EstimationSettings()
_SHORT_TERM = "short_term_only"
"""The reason code of what says nothing of the long run."""
_MODEL_ARMS = ("llm:", "race:")


@dataclass(frozen=True, slots=True)
class Limits:
    """What no choice may exceed."""

    model_share: float = 1.0
    """The share of decisions in which a model is asked."""
    unsupported: float = 0.01
    """The share of a strategy's odds that the recording could never have shown; as strict
    as the gate's caution."""


@dataclass(frozen=True, slots=True)
class VerifiedRecording:
    """A recording that replays identically, with what its decisions came to."""

    recording: Recording
    outcomes: Mapping[str, Outcome]
    sessions: tuple[tuple[int, str], ...]
    """The broker's time of the first decision of each session, and its id."""
    in_force: InForce
    """What is in force at its end."""


async def verified(
    recording: Recording, provider: AidProvider, settings: OutcomeSettings
) -> VerifiedRecording:
    """Return a recording that was proven to be what its own strategy decides.

    Raises:
        UnprovenError: deciding again gives something else; names the input.
    """
    found = await verify(
        recording.log,
        Span.of(recording),
        provider,
        start=recording.start,
        expected_chain=recording.chain,
    )
    if not found.is_identical:
        place = found.divergence.sequence if found.divergence else recording.last
        raise UnprovenError(f"input {place}: deciding it again gives something else")
    reader = DecisionsReader(settings)
    in_force = InForce.of(recording.start, recording.agent)
    async with aclosing(recorded_groups(recording)) as groups:
        async for group in groups:
            reader.read(group)
            in_force = group.after
    recorded = reader.found()
    began: dict[str, int] = {}
    for record in recorded.records:
        # A session in which gates alone decided tells nothing of a strategy.
        if not record.is_gated:
            began.setdefault(record.session, record.arrived_ns)
    sessions = tuple((began[session], session) for session in began)
    return VerifiedRecording(recording, recorded.outcomes, sessions, in_force)


class WorthObjective:
    """The lower bound of what a strategy gains over the recorded one."""

    def __init__(self, recordings: Sequence[VerifiedRecording], limits: Limits) -> None:
        """Judge by these recordings, within the limits."""
        self._recordings = recordings
        self._limits = limits
        # The sessions of all recordings in one order of time, so that the latest are held
        # out whichever recording they are of.
        self._places = sorted(
            (began_ns, index, session)
            for index, each in enumerate(recordings)
            for began_ns, session in each.sessions
        )
        self._outcomes = {
            id_: outcome
            for each in recordings
            for id_, outcome in each.outcomes.items()
        }

    @property
    def spec(self) -> StrategySpec:
        """The strategy in force at the end of the latest recording."""
        return self._latest.strategy

    @property
    def in_force(self) -> InForce:
        """All that is in force there."""
        return self._latest

    @property
    def sessions(self) -> int:
        """How many sessions hold a decision of a strategy."""
        return len(self._places)

    @property
    def names(self) -> Sequence[str]:
        """Their names, in the order of time."""
        return [session for _, _, session in self._places]

    async def gains(
        self, choices: Sequence[Values], sessions: range
    ) -> list[Evaluation]:
        """Return what each choice gains over the recorded strategy in some sessions.

        Raises:
            UnknownStrategyError: the strategy has no such parameter, or not this value.
        """
        specs = tuple(strategy_with(self.spec, choice) for choice in choices)
        decisions = await self._decisions(specs, sessions)
        # The search has the earlier sessions, which begin with the first.
        is_search = sessions.start == 0
        settings = _SEARCH if is_search else _HOLD_OUT
        return [
            self._gain(decisions, place, settings, len(sessions))
            for place in range(1, len(specs) + 1)
        ]

    def worth(self, gain: Gain) -> float:
        """Return the estimate less one standard error."""
        return gain.lower

    @property
    def _latest(self) -> InForce:
        _, index, _ = self._places[-1] if self._places else (0, -1, "")
        return self._recordings[index].in_force

    async def _decisions(
        self, specs: tuple[StrategySpec, ...], sessions: range
    ) -> list[LoggedDecision]:
        wanted = [self._places[place][1:] for place in sessions]
        found: list[LoggedDecision] = []
        for index, each in enumerate(self._recordings):
            here = {session for place, session in wanted if place == index}
            if not here:
                continue
            # One pass asks the baseline (None) and all choices together.
            async for decision in ask_open_loop(each.recording, (None, *specs)):
                if decision.context is not None and decision.session in here:
                    # Sessions of two recordings may share a name and are two clusters all
                    # the same. Contexts are dropped: nothing later reads them, and they
                    # are most of a decision's memory.
                    session = f"{index}/{decision.session}"
                    found.append(replace(decision, context=None, session=session))
        return found

    def _gain(
        self,
        decisions: Sequence[LoggedDecision],
        place: int,
        settings: EstimationSettings,
        sessions: int,
    ) -> Evaluation:
        share = _model_share(decisions, place)
        # Refused before the estimate, whose bootstrap is what takes time.
        if share > self._limits.model_share:
            return Refused(
                "model_share",
                f"asks a model in {share:.1%}, allowed are"
                f" {self._limits.model_share:.1%}",
            )
        found = estimate(observations(decisions, place, self._outcomes), settings)
        refused = self._unsupported(found) or _withheld(found)
        difference = found.difference
        if refused is not None or difference.dr is None:
            return refused or Refused("not_enough_overlap", "there are bounds alone")
        return Gain(
            value=difference.dr,
            se=difference.se,
            ci=difference.ci,
            p_value=difference.p_value,
            sessions=sessions,
            is_clear=difference.verdict == Verdict.BETTER,
            notes=tuple(
                each.detail for each in difference.reasons if each.code == _SHORT_TERM
            ),
        )

    def _unsupported(self, found: Estimate) -> Refused | None:
        mass, limit = found.target.unsupported_mass, self._limits.unsupported
        if mass <= limit:
            return None
        return Refused(
            "unsupported",
            f"{mass:.1%} of its odds were never played, {limit:.0%} may be",
        )


def _withheld(found: Estimate) -> Refused | None:
    difference = found.difference
    if not difference.withheld:
        return None
    reason = next(iter(difference.reasons), None)
    detail = "the gates refuse it" if reason is None else reason.detail
    return Refused(str(difference.verdict).lower(), detail)


def _model_share(decisions: Sequence[LoggedDecision], place: int) -> float:
    """Return the mean probability with which a model would be asked."""
    return fmean(
        total(
            share
            for arm, share in decision.odds[place].arms
            if arm.startswith(_MODEL_ARMS)
        )
        for decision in decisions
    )
