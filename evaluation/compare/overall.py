"""All recordings taken together: the parts of a document that no challenger changes."""

from collections import Counter
from collections.abc import Sequence
from dataclasses import asdict, dataclass, replace
from functools import cached_property

from evaluation.compare.document import (
    DivergencePart,
    OutcomePart,
    PackPart,
    Provenance,
    SelfReplayPart,
    SessionPart,
    StrategyPart,
    Stretch,
)
from evaluation.compare.rows import BASELINE, observations
from evaluation.compare.session import Plan, SessionResult, in_order
from evaluation.compare.whole_sessions import beside_a_verdict, played_by
from evaluation.ope.rows import Observation
from evaluation.ope.settings import EstimationSettings
from replay.open_loop.asked import LoggedDecision
from replay.recording.outcomes import Outcome
from replay.recording.session_outcomes import SessionSummary, summaries
from schemas.values import ids
from schemas.values.base import rfc3339


@dataclass(frozen=True, slots=True, kw_only=True)
class Wish:
    """What was asked for besides the plan, for the record."""

    command: str
    echoic: str
    estimation: EstimationSettings
    watermark: str | None = None


@dataclass(frozen=True)
class Whole:
    """The results of all recordings, in an order of their own."""

    results: tuple[SessionResult, ...]
    plan: Plan
    wish: Wish

    @cached_property
    def decisions(self) -> list[LoggedDecision]:
        """Every decision that reached a strategy, its session named as no other is."""
        known: dict[str, str] = {}
        return [
            replace(each, session=_named(each.session, result, known))
            for result in self.results
            for each in result.decisions
        ]

    @cached_property
    def outcomes(self) -> dict[str, Outcome]:
        """What every decision came to, by its id."""
        return {
            id_: outcome
            for result in self.results
            for id_, outcome in result.recorded.outcomes.items()
        }

    @cached_property
    def frozen(self) -> str:
        """What the set of recordings is known by."""
        # Sorted, so that the order in which recordings were named does not matter.
        digests = sorted(result.recording.digest for result in self.results)
        return ids.digest(*(digest.encode() for digest in digests))

    def strategy(self, index: int = BASELINE) -> StrategyPart:
        """Return a strategy as the recordings have it."""
        found = [each.recording.strategies[index] for each in self.results]
        by_hash = {each.config_hash: each for each in found}
        # Recordings may have been made under several settings. The least hash is an
        # arbitrary choice, but the same in whatever order they were named.
        first = by_hash[min(by_hash)]
        others = len(by_hash) - 1
        if not others:
            return first
        return replace(first, label=f"{first.label} and {others} more")

    def sessions(self) -> tuple[SessionPart, ...]:
        """Return every recording."""
        return tuple(_session(result) for result in self.results)

    def outcome(self) -> OutcomePart:
        """Return what is known of outcomes."""
        settings = self.plan.outcome
        asked = [self.outcomes[each.record.id] for each in self.decisions]
        sources = Counter(each.source for each in asked if each.value is not None)
        unknown = [each for each in asked if each.value is None]
        return OutcomePart(
            prefer=settings.prefer,
            window_s=settings.window_s,
            silence=settings.silence,
            unseen=settings.unseen,
            known=len(asked) - len(unknown),
            unknown=sum(not each.is_censored for each in unknown),
            censored=sum(each.is_censored for each in unknown),
            by_source={name: sources[name] for name in sorted(sources)},
            feedback_rate=self._feedback_rate(),
        )

    def beside_a_verdict(self) -> tuple[str, ...]:
        """Return what is said of whole sessions beside each verdict."""
        explored = (
            not dict(each.odds[BASELINE].arms).get(each.decided.arm)
            for each in self.decisions
        )
        played = played_by(self.strategy().label, explored)
        return beside_a_verdict(self.results, self.session_outcomes, played)

    @cached_property
    def session_outcomes(self) -> tuple[SessionSummary, ...]:
        """Return what whole sessions came to, by each measure that a pack declares."""
        values = [
            replace(each, session=f"{each.session} of {result.recording.digest}")
            for result in self.results
            for each in result.recorded.sessions
        ]
        return summaries(values)

    @cached_property
    def self_replay(self) -> SelfReplayPart:
        """The recorded strategy against its recordings."""
        found = [each.verification for each in self.results]
        return SelfReplayPart(
            identical=sum(each.identical for each in found),
            total=sum(each.total for each in found),
            is_identical=all(each.is_identical for each in found),
            divergence=next(filter(None, map(_divergence, self.results)), None),
        )

    def provenance(self) -> Provenance:
        """Return where every number comes from."""
        notes = [result.recording for result in self.results]
        packs = sorted({pack for note in notes for pack in note.packs})
        return Provenance(
            command=self.wish.command,
            code=self.wish.echoic,
            epochs=tuple(sorted({note.epoch for note in notes})),
            ranges=tuple(
                Stretch(agent=note.agent, first=note.first, last=note.last)
                for note in notes
            ),
            seeds=tuple(sorted({note.seed for note in notes})),
            embedders=tuple(sorted({note.embedder for note in notes})),
            packs=tuple(
                PackPart(name=name, version=version, digest=digest)
                for name, version, digest in packs
            ),
            estimator=self.wish.estimation,
        )

    def _feedback_rate(self) -> float:
        said = [
            self.outcomes[record.id]
            for result in self.results
            for record in result.recorded.records
            # What a timer said has no outcome.
            if record.said is not None and record.id in self.outcomes
        ]
        return sum(each.votes > 0 for each in said) / len(said) if said else 0.0


def _named(session: str, result: SessionResult, known: dict[str, str]) -> str:
    """Return a session name that is unique over all recordings.

    The estimator clusters by it: two sessions of one name must not become one cluster.
    """
    digest = result.recording.digest
    if known.setdefault(session, digest) == digest:
        return session
    return f"{session} of {digest}"


def _session(result: SessionResult) -> SessionPart:
    note, records = result.recording, result.recorded.records
    return SessionPart(
        id=", ".join(note.sessions),
        agent=note.agent,
        title=note.title,
        origin="log" if note.origin == "log" else "file",
        decisions=len(records),
        asked=len(result.decisions),
        started_at=rfc3339(records[0].at) if records else "",
        ended_at=rfc3339(records[-1].at) if records else "",
        digest=note.digest,
    )


def _divergence(result: SessionResult) -> DivergencePart | None:
    found = result.verification.divergence
    if found is None:
        return None
    return DivergencePart(session=", ".join(result.recording.sessions), **asdict(found))


def rows_of(
    results: Sequence[SessionResult], plan: Plan, *, challenger: int
) -> list[Observation]:
    """Return the estimator's rows of one challenger, counted from 1, over all recordings."""
    wish = Wish(command="", echoic="", estimation=EstimationSettings())
    whole = Whole(tuple(in_order(results)), plan, wish)
    return observations(whole.decisions, challenger, whole.outcomes)
