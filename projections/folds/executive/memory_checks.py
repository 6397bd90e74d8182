"""Facts and profiles: may this be stated, set or forgotten? The fold carries it out."""

from projections.folds.executive import facts
from schemas.messages.controls import ProfileSet
from schemas.messages.executive import FactStated
from schemas.state.executive import Executive
from schemas.values.personality import MOST_BIAS
from schemas.values.reasons import Refusal
from schemas.values.settings import MindSettings
from schemas.values.unicode_text import quoted

Problem = tuple[Refusal, str]
"""Why something is refused, with the detail."""


def of_fact(executive: Executive, control: FactStated) -> Problem | None:
    """Return why a fact cannot be stated or forgotten; None if it can."""
    if not control.forget:
        missing = [
            name for name in ("relation", "object") if not getattr(control, name)
        ]
        return ("invalid", f"a fact has a {missing[0]}") if missing else None
    if any(facts.is_replaced(each, control) for each in executive.memory.facts):
        return None
    return "unknown_fact", "there is no such fact"


def described(control: FactStated) -> str:
    """Return what is done about a fact, without its words, which are personal."""
    return "forgotten" if control.forget else "remembered"


def of_profile(control: ProfileSet, settings: MindSettings) -> Problem | None:
    """Return why a profile cannot be set; None if it can."""
    for name in sorted(control.biases):
        # Not `>`: nan fails every comparison, and must be refused.
        if not abs(control.biases[name]) <= MOST_BIAS:
            detail = (
                f"the bias {quoted(name)} is {control.biases[name]:g}: give -0.1 to 0.1"
            )
            return "invalid", detail
    told = (control.name, control.address, control.language)
    if control.person is None:
        is_told = any(each is not None for each in told)
        return ("invalid", "name the person whose profile it is") if is_told else None
    if control.biases or control.domain is not None:
        return "invalid", "a person's profile has no biases and no domain"
    if all(each is None for each in told) and not control.off:
        return "invalid", "a profile has a name, an address or a language"
    return None
