"""Inferring: what a model takes a person to have told, or to wish for.

A fact and a goal are proposed, and count for nothing until a person applies the proposal.
What a person's own words ask to be changed is changed at once, for a day at most, within
that person's rights, and only where the words themselves hold a wish of that kind.
"""

import re
from collections.abc import Callable, Mapping
from typing import NamedTuple

from pydantic import ValidationError

from handlers.mind.context import TurnContext
from handlers.mind.flows import converse, output
from handlers.mind.flows.infer import infer
from handlers.mind.reply import form, reading
from projections.folds import proposals
from projections.folds.executive import conversation, facts, restraints
from schemas.codec.catalogue import ControlMessage
from schemas.messages.controls import GoalsSet, ProfileSet
from schemas.messages.executive import (
    ContextSwitched,
    Muted,
    ReminderSet,
    SalienceModulated,
    TraitAdjusted,
)
from schemas.messages.learning import Inferred, ProposalMade
from schemas.messages.notes import ControlRefused
from schemas.messages.sensing import SOMEBODY
from schemas.state.agent import Pending
from schemas.values import ids, spoken_times
from schemas.values.phrases import Phrases, filled
from schemas.values.prompt_fencing import capped, shown
from schemas.values.unicode_text import words as words_of

_CAP = 200
"""How many characters of each part are proposed, or set."""
_DAY_S = 86_400.0
"""For how long a change holds, at most and where nobody says."""
_MOST = 3
"""How many changes an answer makes at most."""
_BY = 0.2
"""By how much a trait is moved."""
_BEFORE = 4
"""In so many of the last utterances a topic may stand, too: "stop telling me about that"."""
_SHORT, _STEM = 2, 4
"""Words of so few letters are no topic; forms of one word begin with as many."""
_LANGUAGE = re.compile(r"[a-z]{2,3}(-[a-z]{2,4})?")
_OF_PROFILE = ("address", "name", "language")
_OF_THE_HOUSE = frozenset({"context", "goal"})
"""What a guest has no say in."""


def propose(turn: TurnContext, pending: Pending, fields: Mapping[str, object]) -> None:
    """Propose the fact and the goal in a model's answer to a person's own words."""
    if not turn.settings.executive.infers or pending.speaker is None:
        return
    for found in (_fact(fields, pending), _goal(fields)):
        if found is None or _is_known(turn, found):
            continue
        digest = ids.digest(found.kind.encode(), pending.ask_id.encode())
        proposal_id = f"infer-{digest[:6]}"
        if proposals.find(turn.state, proposal_id) is not None:
            continue
        turn.emit(
            ProposalMade(
                proposal_id=proposal_id,
                changes=(),
                evidence=f"in the answer to decision {pending.decision_id}",
                by="model",
                inferred=found,
            )
        )


def _fact(fields: Mapping[str, object], pending: Pending) -> Inferred | None:
    told = fields.get("fact")
    if not isinstance(told, dict):
        return None
    parts = {
        name: capped(reading.field(told, name), _CAP)
        for name in ("subject", "relation", "object")
    }
    if not all(parts.values()):
        return None
    try:
        return Inferred(kind="fact", person=pending.person, **parts).checked()
    except ValidationError:
        return None


def _goal(fields: Mapping[str, object]) -> Inferred | None:
    goal = capped(reading.field(fields, "goal"), _CAP)
    return Inferred(kind="goal", goal=goal) if goal else None


def _is_known(turn: TurnContext, found: Inferred) -> bool:
    """Tell whether it counts already, or is proposed."""
    held = (each.inferred for each in turn.state.proposals if each.inferred is not None)
    if any(each == found for each in held) or found.goal in turn.goals:
        return True
    return any(
        facts.same(each.subject, found.subject)
        and facts.same(each.relation, found.relation)
        and facts.same(each.object, found.object)
        and each.person in (None, found.person)
        for each in turn.state.executive.memory.facts
    )


class _Refused(Exception):
    """Carries which words tell that nothing was changed."""


class _Change(NamedTuple):
    """One change that a person's words ask for, and what is said of it."""

    control: ControlMessage
    says: str
    """The name of its template."""
    topic: str = ""
    for_s: float = 0.0


def settle(
    turn: TurnContext, pending: Pending, fields: Mapping[str, object]
) -> str | None:
    """Change what a model understood a person's own words to ask for; return what is said.

    None if the model asks for no change. Nothing is changed unless the words themselves
    wish for one of its kind and that person may; what is said is what was really changed.
    """
    settings = turn.settings.executive
    asked = form.wanted(fields) if settings.settles and settings.situated else None
    text, speaker = pending.heard, pending.speaker
    if asked is None or speaker is None:
        return None
    words = converse.in_language_of(turn, text, pending.person)
    if words is None or not words.settled:
        return None
    told = [_settled(turn, pending, words, each) for each in asked[:_MOST]]
    return " ".join(dict.fromkeys(told)) or words.settled["unsettled"]


def _settled(
    turn: TurnContext, pending: Pending, words: Phrases, told: Mapping[str, object]
) -> str:
    """Make one change, and return what is said of it."""
    kind = reading.field(told, "do")
    kind = {"heighten": "watch"}.get(kind, kind)
    # The words of every language that is spoken here: one may mix them.
    every = turn.settings.executive.phrases
    known = [each for each in every if each.wishes_for(kind, pending.heard)]
    words = next(iter(known), words)
    try:
        if not known:
            raise _Refused("unsettled")
        change = _change(turn, pending, words, kind, told)
    except _Refused as refused:
        return words.settled[str(refused)]
    answer = infer(turn, change.control, "model", is_wish=True)
    if isinstance(answer, ControlRefused):
        return words.settled["refused"]
    output.stop(turn, change.control)
    span = spoken_times.in_figures(change.for_s)
    return filled(words.settled[change.says], topic=change.topic, span=span)


def _change(
    turn: TurnContext,
    pending: Pending,
    words: Phrases,
    kind: str,
    told: Mapping[str, object],
) -> _Change:
    """Return the change that is asked for.

    Raises:
        _Refused: the words do not wish for it, or that person may not.
    """
    is_guest = _is_guest(turn, pending)
    if is_guest and kind in _OF_THE_HOUSE:
        raise _Refused("guest")
    whose = pending.speaker if is_guest else None
    try:
        return _MAKES[kind](_Wish(turn, pending, words, told, whose))
    except ValidationError:
        raise _Refused("unsettled") from None


class _Wish(NamedTuple):
    """A change that a model asks for, and who wishes it."""

    turn: TurnContext
    pending: Pending
    words: Phrases
    told: Mapping[str, object]
    whose: str | None
    """For whom alone it holds; None: for everybody, as that person may say."""

    @property
    def by(self) -> str:
        return self.pending.speaker or ""

    def for_s(self, usually: float = _DAY_S) -> float:
        """Return for how long, at most a day."""
        minutes = self.told.get("minutes")
        if isinstance(minutes, bool) or not isinstance(minutes, int | float):
            return usually
        if not 0.0 < minutes < float("inf"):
            raise _Refused("unsettled")
        return min(float(minutes) * 60.0, _DAY_S)

    def text(self, name: str) -> str:
        """Return a text that the person's own words, or those before, hold in part."""
        found = shown(reading.field(self.told, name), _CAP)
        talk = conversation.with_person(
            self.turn.state.executive.memory, self.pending.speaker
        )
        before = (each.text for each in talk[-_BEFORE:])
        said = {
            word for each in (self.pending.heard, *before) for word in words_of(each)
        }
        parts = [each for each in words_of(found) if len(each) > _SHORT]
        if not parts or not any(
            _is_like(part, each) for part in parts for each in said
        ):
            raise _Refused("unsettled")
        return found


def _quiet(wish: _Wish) -> _Change:
    for_s = wish.for_s(restraints.QUIET_S)
    control = Muted.from_fields({"for_s": for_s, "by": wish.by, "person": wish.whose})
    return _Change(control, "quiet", for_s=for_s)


def _topical(wish: _Wish) -> _Change:
    is_watch = reading.field(wish.told, "do") != "suppress"
    topic, for_s = wish.text("about"), wish.for_s()
    control = SalienceModulated.from_fields(
        {
            "change": "heighten" if is_watch else "suppress",
            "about": topic,
            "for_s": for_s,
            "by": wish.by,
            "person": wish.whose,
        }
    )
    return _Change(control, "watch" if is_watch else "suppress", topic, for_s)


def _trait(wish: _Wish) -> _Change:
    trait, more = reading.field(wish.told, "trait"), wish.told.get("more")
    text = wish.pending.heard
    known = wish.turn.settings.executive.phrases
    if not isinstance(more, bool) or not any(
        each.names_trait(trait, text, is_more=more) for each in known
    ):
        raise _Refused("unsettled")
    for_s = wish.for_s()
    control = TraitAdjusted.from_fields(
        {
            "trait": trait,
            "by_amount": _BY if more else -_BY,
            "for_s": for_s,
            "by": wish.by,
            # How one is spoken to is one's own.
            "person": wish.pending.speaker,
        }
    )
    name = wish.words.traits.get(trait, (trait,))[0]
    return _Change(control, "more" if more else "less", name, for_s)


def _reminder(wish: _Wish) -> _Change:
    text = wish.text("text")
    in_s = wish.for_s(0.0)
    if not in_s:
        raise _Refused("unsettled")
    fields = {"text": text, "in_s": in_s, "person": wish.pending.person, "by": wish.by}
    return _Change(ReminderSet.from_fields(fields), "reminder", text, in_s)


def _context(wish: _Wish) -> _Change:
    name, text = reading.field(wish.told, "context"), wish.pending.heard
    known = wish.turn.settings.executive.phrases
    if not name or not any(each.names_context(name, text) for each in known):
        raise _Refused("unsettled")
    for_s = wish.for_s()
    fields = {"context": name, "for_s": for_s, "by": wish.by}
    topic = wish.words.contexts.get(name, (name,))[0]
    return _Change(ContextSwitched.from_fields(fields), "context", topic, for_s)


def _profile(wish: _Wish) -> _Change:
    if wish.pending.person in (None, SOMEBODY):
        raise _Refused("refused")
    for_s = wish.for_s()
    fields: dict[str, object] = {"person": wish.pending.person, "for_s": for_s}
    said = next((each for each in _OF_PROFILE if reading.field(wish.told, each)), "")
    if said == "language":
        value = reading.field(wish.told, said).lower()
        if not _LANGUAGE.fullmatch(value):
            raise _Refused("unsettled")
    else:
        value = wish.text(said)
    return _Change(ProfileSet.from_fields({**fields, said: value}), said, value, for_s)


def _goal_wished(wish: _Wish) -> _Change:
    goal = wish.text("goal")
    goals = tuple(dict.fromkeys((*wish.turn.goals, goal)))
    return _Change(GoalsSet.from_fields({"goals": goals}), "goal", goal)


_MAKES: Mapping[str, Callable[[_Wish], _Change]] = {
    "quiet": _quiet,
    "suppress": _topical,
    "watch": _topical,
    "trait": _trait,
    "reminder": _reminder,
    "context": _context,
    "profile": _profile,
    "goal": _goal_wished,
}


def _is_guest(turn: TurnContext, pending: Pending) -> bool:
    """Tell whether packs say who lives there, and who speaks does not."""
    residents = {each.name for pack in turn.packs for each in pack.pack.people}
    return bool(residents) and pending.person not in residents


def _is_like(one: str, other: str) -> bool:
    """Tell whether two words are one, or forms of one."""
    return one == other or (len(other) > _SHORT and one[:_STEM] == other[:_STEM])
