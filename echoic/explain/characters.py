"""Sentences of a character's decisions: which layer acted, why it did, and why others did not.

Pure, over what the log recorded.
"""

from replay.recording.decisions import DecisionRecord
from schemas.messages.arms import RANDOM, reflex_of
from schemas.messages.decisions import Completed, Decided, LayerVerdict

_TALKS = "in conversation"
"""The rule by which a talker answers what it hears."""

_MISSING = " missing: "
"""How the queue's tactics begin what they say of what something costs."""


def acts(record: DecisionRecord) -> bool:
    """Tell whether a layer of a character acted, be it without a word."""
    has_layer = record.decided.layer is not None
    return has_layer and record.is_final and record.silence is None


def has_words(record: DecisionRecord) -> bool:
    """Tell whether something was said: of what is done the text is but its name."""
    action = record.answer.action
    is_name = acts(record) and action is not None and record.said == action.type
    return bool(record.said) and not is_name


def acted(record: DecisionRecord) -> str:
    """Return how a layer came to what it did, in a sentence or a few."""
    decided = record.decided
    if decided.layer == "autonomous":
        return _chosen(record)
    if decided.layer == "place":
        return f"The place saw to its conversations: {_why(decided)}."
    if record.path == "reflex":
        done = f"Acted by a reflex, {reflex_of(decided.arm)}, without a model."
    elif record.path == "queue":
        done = _worked(decided)
    else:
        done = _answered(record)
    return f"{done}{_others(decided)}"


def asked(record: DecisionRecord) -> str:
    """Return which layer waits for its model, and why it asked; nothing of a companion."""
    decided = record.decided
    return f", asked by the {decided.layer} ({_why(decided)})" if decided.layer else ""


def came_to_nothing(record: DecisionRecord) -> str:
    """Return how a sentence begins on an answer that nothing became of."""
    layer = record.decided.layer
    return f"The {layer} came to nothing" if layer else "Stayed silent"


def unanswered(record: DecisionRecord) -> str:
    """Return why a talker did not answer what it heard; nothing else."""
    for each in record.decided.layers or ():
        if each.rule == _TALKS and each.verdict == "nothing_due":
            return f" The talker does not answer: it {each.why}."
    return ""


def _worked(decided: Decided) -> str:
    verdict = _acting(decided)
    why = verdict.why if verdict is not None else ""
    of = f" ({verdict.rule})" if verdict is not None and verdict.rule else ""
    done = f"Worked off its plan{of}, {decided.text}, without a model: {why}."
    # The tactics say of what most is missing, and that is what they bring.
    if _MISSING in why and "nothing is missing" not in why:
        done += " It fetches what is most lacking first; among equals, the nearest."
    return done


def _answered(record: DecisionRecord) -> str:
    """Return what became of a layer's question to its model."""
    decided, ending = record.decided, record.ending
    model = getattr(ending, "model", "the model")
    action = ending.action if isinstance(ending, Completed) else None
    why = _why(decided)
    if decided.layer == "executor":
        done = f"Planned by the model {model}: {why}."
    elif record.said:
        done = f"Spoke by the model {model}: {why}."
    elif action is not None:
        what = " ".join(filter(None, (action.type, action.target)))
        done = f"Acted by the model {model}, {what}: {why}."
    else:
        done = f"Asked the model {model}, which had nothing to say or do: {why}."
    left_out = ending.left_out if isinstance(ending, Completed) else None
    return f"{done} Left out: {'; '.join(left_out)}." if left_out else done


def _others(decided: Decided) -> str:
    """Return why the layers before the one that acts did not, as a sentence."""
    told = []
    for each in decided.layers or ():
        if each.verdict == "acts":
            break
        told.append(f"the {each.layer} did not: {each.why}")
    return f" Before it {'; '.join(told)}." if told else ""


def _chosen(record: DecisionRecord) -> str:
    """Return how an autonomous character came to what it does."""
    decided, ending = record.decided, record.ending
    choice = ending.choice if isinstance(ending, Completed) else None
    if choice is None:
        how = "at random" if decided.arm.startswith(RANDOM) else "by routine"
        why = _why(decided)
        because = f": {why}" if why else ""
        odds = f" (probability {decided.probability:.2f})"
        return f"Acted {how}, without a model{because}{odds}."
    if choice.fallback is not None:
        odds = f" (probability {choice.probability:.2f})"
        return f"Acted at random: {choice.fallback}{odds}."
    sure = ""
    if choice.self_confidence is not None:
        sure = f", {choice.self_confidence:.2f} sure"
    thought = f", thinking: {choice.thought}" if choice.thought else ""
    done = f"Acted by the model {getattr(ending, 'model', '')}{sure}{thought}"
    reason = f" Its reason: {choice.reasoning}" if choice.reasoning else ""
    return f"{done.rstrip('.')}.{reason}"


def _acting(decided: Decided) -> LayerVerdict | None:
    found = (each for each in decided.layers or () if each.verdict == "acts")
    return next(found, None)


def _why(decided: Decided) -> str:
    verdict = _acting(decided)
    return verdict.why if verdict is not None else ""
