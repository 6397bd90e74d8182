"""Fold facts and profiles: what people and sensors state, corrected by what they say later.

A fact is known by subject, relation and the person whom it concerns. What is beyond the
bound in bytes is forgotten, the fact stated first before others.
"""

from msgspec.structs import replace

from projections.folds.fold_context import Origin
from schemas.messages.controls import ProfileSet
from schemas.messages.executive import FactStated
from schemas.state import limits
from schemas.state.executive import Executive
from schemas.state.memory import Fact, Memory, Profile
from schemas.values.unicode_text import words

_UNKNOWN = Profile()


def stated(executive: Executive, control: FactStated, origin: Origin) -> Executive:
    """Return the executive's state after a fact was stated, corrected or forgotten."""
    memory = executive.memory
    kept = tuple(each for each in memory.facts if not is_replaced(each, control))
    if not control.forget:
        fact = Fact(
            id=origin.id,
            subject=control.subject,
            relation=control.relation,
            object=control.object,
            person=control.person,
            by=control.by,
            at=origin.at,
        )
        kept = _bounded((*kept, fact))
    return replace(executive, memory=replace(memory, facts=kept))


def is_replaced(fact: Fact, control: FactStated) -> bool:
    """Tell whether a control corrects a fact or has it forgotten."""
    # Forgotten for nobody in particular, it is forgotten of all.
    is_anybodys = control.forget and control.person is None
    is_whose = is_anybodys or fact.person == control.person
    is_relation = not control.relation or same(fact.relation, control.relation)
    return is_whose and is_relation and same(fact.subject, control.subject)


_ALIASES = frozenset(
    {"also known as", "is also known as", "is also called", "alias"}
    | {"auch bekannt als", "ist auch bekannt als", "heißt auch", "wird auch genannt"}
)
"""Relations whose two ends are one thing."""


def named_alike(memory: Memory, names: frozenset[str]) -> frozenset[str]:
    """Return names and all further ones of the same things, as facts state them.

    Names are as `folded` makes them.
    """
    pairs = [
        {folded(each.subject), folded(each.object)}
        for each in memory.facts
        if folded(each.relation) in _ALIASES
    ]
    # Each round takes in at least one pair, or is the last.
    for _ in pairs:
        reached = [pair for pair in pairs if pair & names and not pair <= names]
        if not reached:
            break
        names = names.union(*reached)
    return names


def in_words(fact: Fact) -> str:
    """Return a fact as a sentence without its end."""
    return f"{fact.subject} {fact.relation} {fact.object}"


def same(one: str, other: str) -> bool:
    """Tell whether two names differ by nothing but case, spaces and punctuation."""
    return one == other or folded(one) == folded(other)


def folded(name: str) -> str:
    """Return a name as it is compared; one without letters stays as it is."""
    return " ".join(words(name)) or name


def called(memory: Memory, person: str | None, name: str | None) -> Memory:
    """Return the memory in which a person has the name that a token was derived from.

    One that was set stays.
    """
    if person is None or name is None:
        return memory
    known = memory.profiles.get(person) or _UNKNOWN
    if known.name:
        return memory
    profiles = memory.profiles.set(person, replace(known, name=name))
    return replace(memory, profiles=profiles)


def profile_set(memory: Memory, control: ProfileSet) -> Memory:
    """Return the memory after a person's profile was set; what was not said stays."""
    person = control.person
    if person is None:
        return memory
    known = memory.profiles.get(person) or _UNKNOWN
    told = {
        field: value
        for field in ("name", "address", "language")
        if (value := getattr(control, field)) is not None
    }
    profiles = memory.profiles.set(person, replace(known, **told))
    return replace(memory, profiles=profiles)


def _bounded(facts: tuple[Fact, ...]) -> tuple[Fact, ...]:
    size, first = 0, len(facts)
    while first and size <= limits.FACT_BYTES:
        first -= 1
        size += _size(facts[first])
    # The last one taken was too much; a single fact always fits.
    return facts[first + 1 :] if size > limits.FACT_BYTES else facts[first:]


def _size(fact: Fact) -> int:
    told = (fact.id, fact.subject, fact.relation, fact.object, fact.person or "")
    return len("".join(told).encode())
