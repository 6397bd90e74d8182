"""One voice: which responses break the character that they were said in, by rule.

Nothing is judged that cannot be counted: words, exclamation marks, and turns of sarcasm
where none is due. So a page of breaks is for a person to read, not a score to chase.
"""

from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass

from handlers.mind.stages import voice
from replay.recording.decisions import DecisionRecord
from schemas.values.personality import USUAL_TRAITS, Trait


@dataclass(frozen=True, slots=True, kw_only=True)
class _Break:
    """A response that is out of character."""

    decision_id: str
    rule: str
    """`length`, `exclamations` or `sarcasm`."""
    detail: str
    text: str


@dataclass(frozen=True, slots=True, kw_only=True)
class VoiceCheck:
    """What a check of responses found, for one template."""

    template: str
    responses: int
    breaks: tuple[_Break, ...]

    @property
    def share(self) -> float:
        """The share of responses that break a rule."""
        broken = {each.decision_id for each in self.breaks}
        return len(broken) / self.responses if self.responses else 0.0

    def as_json(self) -> dict[str, object]:
        """Return it as fields for JSON."""
        return {**asdict(self), "share": self.share}


def check(records: Sequence[DecisionRecord]) -> tuple[VoiceCheck, ...]:
    """Check the responses among decisions, by template; those without one last."""
    said: dict[str, list[DecisionRecord]] = {}
    for record in records:
        if record.said is not None:
            own = record.decided.voice
            name = (own.template if own is not None else None) or ""
            said.setdefault(name, []).append(record)
    return tuple(
        VoiceCheck(
            template=name or "none",
            responses=len(said[name]),
            breaks=tuple(each for record in said[name] for each in breaks(record)),
        )
        for name in sorted(said, key=lambda name: (not name, name))
    )


def breaks(record: DecisionRecord) -> tuple[_Break, ...]:
    """Return the rules that a response breaks, by the traits recorded with its decision."""
    text, own = record.said or "", record.decided.voice
    traits: Mapping[Trait, float] = own.traits if own is not None else USUAL_TRAITS
    contexts = [each.name for each in own.contexts or ()] if own is not None else []
    faults = voice.faults(text, traits, is_threat="high_threat" in contexts)
    return tuple(
        _Break(decision_id=record.id, rule=rule, detail=detail, text=text)
        for rule, detail in faults.items()
    )
