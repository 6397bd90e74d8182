"""The settings of a call of the language model, as `MindStarted` records them."""

from collections.abc import Sequence
from typing import Annotated

from pydantic import Field

from schemas.values.base import Name, Part, Seconds
from schemas.values.setting import Setting

_CHAIN, _NEXT = "chain:", ">"
_LINKS_AT_MOST = 8
"""How many models a chain may have: each has its share of one deadline."""


class ModelSettings(Part):
    """The language model of System 2."""

    name: Annotated[
        Name, Setting("model.name", start=None, form="models", reach="sends")
    ]
    """The language model as litellm names it, such as `ollama/llama3.2`; without it only
    heuristics answer. Several, divided by commas, are a chain: the next is asked where one
    refuses, fails, takes longer than its share of the deadline, or sends what nobody may
    hear."""
    temperature: Annotated[float, Setting("model.temperature")] = Field(
        default=0.7, ge=0.0, le=2.0
    )
    """Its sampling temperature."""
    max_tokens: Annotated[int, Setting("model.max_tokens")] = Field(
        default=300, ge=1, le=8_000
    )
    """The longest answer, in tokens; a model that reasons has at least 2,000, for what it
    thinks counts."""
    deadline_s: Annotated[Seconds, Setting("model.deadline_s")] = 30.0
    """How long its answer is waited for."""


def chain_of(models: Sequence[str]) -> str:
    """Return the one name of models that are asked in order: `chain:a>b`; of one its own.

    Raises:
        ValueError: a name is blank, given twice or holds what divides names.
    """
    if len(models) > _LINKS_AT_MOST:
        raise ValueError(f"at most {_LINKS_AT_MOST} models")
    if len({*models}) < len(models):
        raise ValueError("each model once")
    if any(not each or _NEXT in each or "," in each for each in models):
        raise ValueError("names of models without '>', divided by commas")
    return models[0] if len(models) == 1 else _CHAIN + _NEXT.join(models)


def links_of(name: str) -> tuple[str, ...]:
    """Return the models of a chain in order; of a model alone its name."""
    is_chain = name.removeprefix(_CHAIN) != name
    return tuple(name.removeprefix(_CHAIN).split(_NEXT)) if is_chain else (name,)


def chain_in_words(name: str) -> str:
    """Return the models of a name as a person reads them: `a, then b`."""
    return ", then ".join(links_of(name))
