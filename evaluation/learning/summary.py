"""The learning report: answers, costs and confidence by period, and faults in credit.

Each recording is read by itself, so that progress can be shown; the report then combines
the readings in order of time.
"""

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass

from evaluation.evidence.refold import predictions
from evaluation.learning.answers import Answer, answers
from evaluation.learning.causes import BY_SILENCE, BY_SLEEP, Cause
from evaluation.learning.credit_audit import RULES, Audit, Fault, audit
from evaluation.learning.history import LearningHistory, learning_history
from evaluation.learning.periods import Period, by_voice, period, quarters, stretches
from evaluation.learning.time_to_trust import Rise, named, rises
from evaluation.ope.calibration import LEAST_PAIRS, Calibration, calibration
from replay.recording.source import Recording

_SEED = "reliability"
"""The key of the draws behind the null band."""


@dataclass(frozen=True, slots=True)
class Reading:
    """All that the report takes from one recording."""

    history: LearningHistory
    answers: tuple[Answer, ...]
    audit: Audit


@dataclass(frozen=True, slots=True, kw_only=True)
class Report:
    """All recordings together."""

    agents: tuple[str, ...]
    sessions: int
    total: Period
    periods: tuple[Period, ...]
    voices: tuple[Period, ...]
    """Empty unless asked for."""
    fires: int
    """How many fires' ends are known."""
    calibration: Calibration | None
    """None of fewer than ten."""
    rises: tuple[Rise, ...]
    formed: int
    """How many liked answers of a model became a heuristic."""
    silences: int
    """How many heuristics that say nothing were formed."""
    kept: int
    """How often one of them kept silent."""
    refused: Mapping[str, int]
    """How many did not, by reason."""
    trust: tuple[Cause, ...]
    """Where the last trusted heuristic of a domain fell, or one rose again, and no model
    answers."""
    credits: int
    faults: tuple[Fault, ...]
    names: Mapping[str, str]

    def as_json(self) -> dict[str, object]:
        """Return all of it, for programs."""
        return {
            "v": 1,
            "agents": list(self.agents),
            "sessions": self.sessions,
            "total": _fields(self.total),
            "periods": [_fields(each) for each in self.periods],
            "by_personality": [_fields(each) for each in self.voices],
            "calibration": self._calibration(),
            "time_to_threshold": [asdict(each) for each in self.rises],
            "formed": self.formed,
            "silences": self.silences,
            "kept_silent": self.kept,
            "refused": dict(self.refused),
            "trust": [
                {"heuristic": each.heuristic_id, "at": each.at, "what": each.what}
                for each in self.trust
            ],
            "credits": self.credits,
            "wrong_credits": len(self.faults),
            "faults": [
                {**asdict(each), "means": RULES[each.rule]} for each in self.faults
            ],
        }

    def _calibration(self) -> dict[str, object]:
        if self.calibration is None:
            return {"fires": self.fires, "least": LEAST_PAIRS}
        found = asdict(self.calibration)
        is_calibrated = self.calibration.is_calibrated
        return {"fires": self.fires, **found, "is_calibrated": is_calibrated}


async def read(recording: Recording) -> Reading:
    """Read one recording.

    Raises:
        UnprovenError: its confidences do not follow from its facts; names the input.
        UnreadableOutputError: an output is damaged, or of a newer program.
        LogDamaged: the recording is not sound.
        MissingPackError: a pack in force is not in the recording's store.
    """
    history = await learning_history(recording)
    # All parts of one recording share what is known of its fires.
    said = await answers(recording, history.evidence[0].happened)
    return Reading(history, said, await audit(recording))


def report(
    readings: Sequence[Reading], *, per: int | None = None, has_voices: bool = False
) -> Report:
    """Return the report on one recording at least.

    Args:
        readings: what was read, in any order.
        per: so many decisions make a period; None: a quarter of the sessions does.
        has_voices: whether personalities are set side by side.
    """
    # By the broker's time: agents' own clocks may be those of
    # games, and cannot be compared.
    ordered = sorted(readings, key=lambda each: each.history.began_ns)
    histories = [each.history for each in ordered]
    said = [answer for each in ordered for answer in each.answers]
    pairs = [
        (made.predicted, made.happened)
        for each in histories
        for part in each.evidence
        for made in predictions(part, {})
    ]
    causes = [move.cause for each in histories for move in each.moves]
    return Report(
        agents=tuple(dict.fromkeys(each.agent for each in histories)),
        sessions=len(
            {(each.agent, part.session) for each in histories for part in each.evidence}
        ),
        total=period("all", said),
        periods=quarters(said) if per is None else stretches(said, per),
        voices=by_voice(said) if has_voices else (),
        fires=len(pairs),
        calibration=_calibrated(pairs),
        rises=rises(
            histories,
            [[answer.record.sequence for answer in each.answers] for each in ordered],
        ),
        formed=sum(
            cause.kind == "formed" and cause.by not in (BY_SLEEP, BY_SILENCE)
            for cause in causes
        ),
        silences=sum(
            cause.kind == "formed" and cause.by == BY_SILENCE for cause in causes
        ),
        kept=sum(cause.kind == "kept" for cause in causes),
        refused=_summed(histories),
        trust=tuple(cause for cause in causes if cause.kind == "trust"),
        credits=sum(each.audit.credits for each in ordered),
        faults=tuple(fault for each in ordered for fault in each.audit.faults),
        names=named(histories),
    )


def _summed(histories: Sequence[LearningHistory]) -> dict[str, int]:
    found: Counter[str] = Counter()
    for each in histories:
        found.update(each.refused)
    return dict(sorted(found.items()))


def _calibrated(pairs: Sequence[tuple[float, float]]) -> Calibration | None:
    if len(pairs) < LEAST_PAIRS:
        return None
    predicted, happened = zip(*pairs, strict=True)
    return calibration(predicted, happened, seed=_SEED)


def _fields(each: Period) -> dict[str, object]:
    return {
        **asdict(each),
        "system_1_share": each.system_1_share,
        "model_calls_per_event": each.calls_per_event,
    }
