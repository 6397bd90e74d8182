"""Prompts: what the model is told, and what is made of its answer.

The system prompt holds who it is, where, and the person's goals; the prompt holds the
event and what was said in like situations, in no order, without scores, to be ignored if
it does not fit. The prediction comes with the answer, in the same call.
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass

import orjson

from schemas import identity
from schemas.context import DecisionContext, HeuristicCandidate, ReadAnswer
from schemas.decisions import llm_arm
from schemas.numbers import clamp, round6
from schemas.packs import CompiledPack
from schemas.settings import MindSettings, ModelSettings

EVENT_CAP = 1_000
CANDIDATE_CAP = 300
CONTEXT_CAP = 2_000
GOAL_CAP = 200
"""How many characters of each go into a prompt."""

UNKNOWN_PREDICTION = 0.5
"""What a prediction counts as that cannot be read."""

_FORMAT = (
    'Reply with one JSON object: {"response": what you say, "" to say nothing, '
    '"predicted_success": the probability from 0 to 1 that it leads to a good outcome, '
    '"prediction_confidence": how much you know to judge that, from 0 to 1}.'
)
_GOALS = "The person's goals, by which success is measured:"
_EVENT = "Just now, from {source}: {text}"
_EARLIER = "What was said in similar situations (you may ignore all of it):"
_CANDIDATE = '- when "{condition}": "{action}"'
_QUESTION = "What do you say?"
_TEMPLATES = (_FORMAT, _GOALS, _EVENT, _EARLIER, _CANDIDATE, _QUESTION)
_CAPS = f"{EVENT_CAP}/{CANDIDATE_CAP}/{CONTEXT_CAP}/{GOAL_CAP}"


@dataclass(frozen=True, slots=True)
class Prompt:
    """What a model is asked."""

    system: str
    user: str
    shown: tuple[HeuristicCandidate, ...]
    """The candidates in it."""
    request_hash: str


def system_prompt(
    settings: MindSettings, packs: Sequence[CompiledPack], goals: Sequence[str]
) -> str:
    """Base, personality, the domains by name, and goals, each capped."""
    contexts = [
        _capped(pack.pack.executive.domain_context, CONTEXT_CAP) for pack in packs
    ]
    parts = [settings.base_prompt, settings.personality, *contexts]
    if goals:
        listed = "\n".join(f"- {_capped(goal, GOAL_CAP)}" for goal in goals)
        parts.append(f"{_GOALS}\n{listed}")
    parts.append(_FORMAT)
    return "\n\n".join(part.strip() for part in parts if part.strip())


def arm(model: ModelSettings, system: str, max_candidates: int) -> str:
    """The arm of asking this model in this way, whatever the event."""
    template = identity.digest(
        *(text.encode() for text in _TEMPLATES),
        system.encode(),
        _CAPS.encode(),
        f"neutral/{max_candidates}".encode(),
    )
    return llm_arm(model.name, template, _sampling_hash(model))


def build(
    context: DecisionContext,
    candidates: Sequence[HeuristicCandidate],
    system: str,
    model: ModelSettings,
    max_candidates: int,
    drawn: Callable[[str], float],
) -> Prompt:
    """The prompt for an event; `drawn` is the keyed draw that shuffles the candidates."""
    shown = tuple(
        sorted(
            candidates[:max_candidates],
            key=lambda each: (drawn(f"order/{each.heuristic_id}"), each.heuristic_id),
        )
    )
    event = _EVENT.format(
        source=context.event_source, text=_capped(context.event_text, EVENT_CAP)
    )
    parts = [event]
    if shown:
        parts.append("\n".join([_EARLIER, *(_line(each) for each in shown)]))
    parts.append(_QUESTION)
    user = "\n\n".join(parts)
    return Prompt(system, user, shown, request_hash(model, system, user))


def request_hash(model: ModelSettings, system: str, prompt: str) -> str:
    """What a replay finds an answer by: the request, whole."""
    return identity.digest(
        model.name.encode(),
        system.encode(),
        prompt.encode(),
        _sampling_hash(model).encode(),
    )


def read_answer(text: str, ceiling: float) -> ReadAnswer:
    """Read a model's answer; one that is no JSON object is taken at its word.

    Its own confidence is clamped to [0, ceiling]: models think too well of themselves.
    """
    fields = _object_in(text)
    if fields is None:
        unknown = min(UNKNOWN_PREDICTION, ceiling)
        return ReadAnswer(text.strip(), unknown, unknown)
    response = fields.get("response")
    return ReadAnswer(
        text=response.strip() if isinstance(response, str) else "",
        predicted_success=_prediction(fields.get("predicted_success"), ceiling),
        prediction_confidence=_prediction(fields.get("prediction_confidence"), ceiling),
    )


def _object_in(text: str) -> dict[str, object] | None:
    # Models like to wrap what they were asked for in a fence or a sentence.
    start, end = text.find("{"), text.rfind("}")
    if start < 0 or end < start:
        return None
    try:
        fields: dict[str, object] = orjson.loads(text[start : end + 1])
    except orjson.JSONDecodeError:
        return None
    # An object that is all of the answer is for a program: nobody should hear it.
    is_all = text.strip() == text[start : end + 1]
    return fields if is_all or "response" in fields else None


def _prediction(value: object, ceiling: float) -> float:
    if isinstance(value, bool) or not isinstance(value, int | float):
        value = UNKNOWN_PREDICTION
    return round6(clamp(float(value), 0.0, ceiling))


def _sampling_hash(model: ModelSettings) -> str:
    return identity.digest(f"{model.temperature}/{model.max_tokens}".encode())


def _line(candidate: HeuristicCandidate) -> str:
    return _CANDIDATE.format(
        condition=_capped(candidate.condition_text, CANDIDATE_CAP),
        action=_capped(candidate.suggested_action, CANDIDATE_CAP),
    )


def _capped(text: str, cap: int) -> str:
    flat = " ".join(text.split())
    return flat if len(flat) <= cap else flat[: cap - 1] + "…"
