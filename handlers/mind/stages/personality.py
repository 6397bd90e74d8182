"""Personality: the traits in force for one occasion, and why.

effective = clamp(template + contexts + overrides + mood + session + rapport, 0, 1), each
trait in six decimals. Traits bias thresholds and words, and decide nothing by themselves.
"""

from collections.abc import Iterator, Mapping, Sequence
from datetime import datetime, timedelta

from msgspec import Struct, structs

from projections.folds.executive import personality as fold
from projections.folds.executive import signs, templates
from projections.folds.executive.signs import NO_EVENT, Moment
from projections.folds.learning import rapport as rapport_fold
from schemas.messages.sensing import PERSON
from schemas.messages.voices import ContextInForce, Voice
from schemas.packs.compiled import CompiledPack
from schemas.state.agent import AgentState
from schemas.state.executive import EVERYBODY, Mood, Personality
from schemas.values.exact_math import clamp, round6
from schemas.values.executive_settings import ExecutiveSettings
from schemas.values.personality import TRAITS, USUAL_TRAITS, PersonalityTemplate, Trait
from schemas.values.rapport_pace import USUAL as USUAL_PACE
from schemas.values.rapport_pace import Pace

_MOOD_SHARE = 0.1
"""What a mood of 1 adds to enthusiasm, or takes from sarcasm (ADR-0014 §6.4)."""

_LONG_SESSION = timedelta(hours=2)
_TIRED_AN_HOUR, _TIRED_MOST = 0.1, 0.3
"""After `_LONG_SESSION`, proactive falls by so much an hour, and by so much at most."""

_RAPPORT_SHARE = 0.3
"""What a rapport of 1 takes from formality, per unit over neutral."""


class Traits(Struct, frozen=True, kw_only=True):
    """The personality in force: effective traits, and what made them."""

    template: PersonalityTemplate | None = None
    name: str | None = None
    """The template's, as it was selected."""
    values: Mapping[Trait, float] = USUAL_TRAITS
    at_rest: Mapping[Trait, float] = USUAL_TRAITS
    """The same without the contexts."""
    contexts: tuple[ContextInForce, ...] = ()
    mood: Mood | None = None
    rapport: float = rapport_fold.NEUTRAL
    is_chosen: bool = False
    """Whether somebody chose a template or moved a trait: only then words change."""

    def __getitem__(self, trait: Trait) -> float:
        return self.values[trait]

    @property
    def active_context(self) -> str | None:
        """What the companion takes part in, if somebody said so."""
        return next((e.name for e in self.contexts if e.by == "switched"), None)

    def record(self, digest: str | None = None) -> Voice | None:
        """Return what a decision records of it; None if nothing is other than usual.

        `digest` is that of the words which a model is told of it.
        """
        if self == USUAL:
            return None
        mood = self.mood
        return Voice(
            template=self.name,
            digest=digest,
            traits=dict(self.values),
            contexts=self.contexts or None,
            valence=mood.valence if mood is not None else None,
            arousal=mood.arousal if mood is not None else None,
            rapport=self.rapport if self.rapport != rapport_fold.NEUTRAL else None,
        )


USUAL = Traits()
"""Nothing is chosen and nothing happened: as without the executive, in words."""


def traits_in_force(
    state: AgentState,
    settings: ExecutiveSettings,
    packs: Sequence[CompiledPack],
    now: datetime,
    moment: Moment = NO_EVENT,
    *,
    wanted: str | None = None,
    pace: Pace = USUAL_PACE,
) -> Traits:
    """Return the traits in force for an event, or for nobody in particular.

    `wanted` is the template of an experiment's variant, which goes before others; `pace`
    is that of rapport.
    """
    own = state.executive.personality
    name = templates.selected(state, settings, wanted)
    template = templates.named(settings, packs, name)
    contexts = tuple(signs.contexts(state, now, moment))
    mood = fold.mood_at(own.mood, now, settings.mood_half_life_s)
    rapport = _rapport_of(state, moment.person, now, pace)
    overrides = tuple(_overrides(own, moment.person, now)) if own.overrides else ()
    tired = of_session(state, now)
    is_moved = template is not None or contexts or overrides or mood is not None
    if not is_moved and not tired and rapport == rapport_fold.NEUTRAL:
        return USUAL
    found = Traits(
        template=template,
        name=name if template is not None else None,
        contexts=contexts,
        mood=mood,
        rapport=rapport,
    )
    return _moved(found, packs, overrides, tired)


def words_under(
    wanted: str,
    state: AgentState,
    settings: ExecutiveSettings,
    packs: Sequence[CompiledPack],
    recorded: Voice | None,
    person: str | None,
    at: datetime,
) -> Traits:
    """Return the traits that words would have read at a recorded decision, by a template.

    `state` holds the overrides of then. How long the session was is not recorded, and
    moves only what words do not read.
    """
    was = recorded or Voice(traits={})
    valence, rapport = was.valence or 0.0, was.rapport
    found = Traits(
        template=templates.named(settings, packs, wanted),
        contexts=was.contexts or (),
        mood=Mood(valence=valence, arousal=was.arousal or 0.0, at=at),
        rapport=rapport_fold.NEUTRAL if rapport is None else rapport,
    )
    overrides = tuple(_overrides(state.executive.personality, person, at))
    return _moved(found, packs, overrides, 0.0)


def _moved(
    found: Traits,
    packs: Sequence[CompiledPack],
    overrides: Sequence[Mapping[Trait, float]],
    tired: float,
) -> Traits:
    """Return the traits with all that moves them."""
    contexts = [templates.modifiers(packs, each.name) for each in found.contexts]
    moves: list[Mapping[Trait, float]] = [
        *overrides,
        of_mood(found.mood.valence if found.mood is not None else 0.0),
        {"proactive": tired},
        of_rapport(found.rapport),
    ]
    values = effective(found.template, [*contexts, *moves])
    return structs.replace(
        found,
        values=values,
        at_rest=effective(found.template, moves) if contexts else values,
        is_chosen=found.template is not None or bool(overrides),
    )


def effective(
    template: PersonalityTemplate | None, moves: Sequence[Mapping[Trait, float]]
) -> dict[Trait, float]:
    """Return a template's traits with all that moves them added, within [0, 1]."""
    values = dict(USUAL_TRAITS)
    if template is not None:
        values |= template.traits
    moved: dict[Trait, float] = {}
    for each in moves:
        for trait, by in each.items():
            moved[trait] = moved.get(trait, 0.0) + by
    for trait in moved if template is None else TRAITS:
        values[trait] = round6(clamp(values[trait] + moved.get(trait, 0.0), 0.0, 1.0))
    return values


def _rapport_of(
    state: AgentState, person: str | None, now: datetime, pace: Pace = USUAL_PACE
) -> float:
    """Return the rapport with a person, now; with nobody named, that with `user`.

    A vote without a name is by `user`, as words without one are.
    """
    known = state.rapport.get(person or PERSON)
    if known is None:
        return rapport_fold.NEUTRAL
    return rapport_fold.value_at(known, now, pace)


def _overrides(
    own: Personality, person: str | None, now: datetime
) -> Iterator[Mapping[Trait, float]]:
    """Yield what was set for everybody, then what was for the person addressed."""
    for who in (EVERYBODY, person) if person else (EVERYBODY,):
        known = own.overrides.get(who)
        if not known:
            continue
        lasting = {
            trait: known[trait].amount
            for trait in TRAITS
            if trait in known and _lasts(known[trait].until, now)
        }
        if lasting:
            yield lasting


def _lasts(until: datetime | None, now: datetime) -> bool:
    return until is None or now < until


def of_rapport(rapport: float) -> Mapping[Trait, float]:
    """Return what a rapport adds: with old friends it speaks less formally."""
    return {"formality": _RAPPORT_SHARE * (rapport_fold.NEUTRAL - rapport)}


def of_mood(valence: float) -> Mapping[Trait, float]:
    """Return what a mood adds: enthusiasm, or less sarcasm."""
    if valence > 0.0:
        return {"enthusiasm": _MOOD_SHARE * valence}
    return {"sarcasm": _MOOD_SHARE * valence}


def of_session(state: AgentState, now: datetime) -> float:
    """Return what a long session adds to proactive: 0 or less."""
    began = fold.session_began(state)
    if began is None or now - began <= _LONG_SESSION:
        return 0.0
    hours = (now - began - _LONG_SESSION).total_seconds() / 3600.0
    return -min(_TIRED_AN_HOUR * hours, _TIRED_MOST)
