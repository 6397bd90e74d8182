"""Wording: in whose words a model is told what it is, and asked how its answer will do.

A strategy's own go first, then those of the pack whose domain the event is of, then the
settings'.
"""

from collections.abc import Sequence
from dataclasses import dataclass

from handlers.mind.strategies.model_parameters import Asking
from schemas.packs.manifest import CompiledPack, Executive
from schemas.ports.decision_context import Strategy
from schemas.values.settings import MindSettings

_UNSAID = Executive()


@dataclass(frozen=True, slots=True)
class Wording:
    """The words for one event."""

    settings: MindSettings
    """The settings, with the base prompt in force."""
    prediction: str | None
    """How a separate prediction is asked for; None: in the program's own words."""
    is_packs: bool
    """Whether a pack has a say in them."""


def wording(
    settings: MindSettings,
    packs: Sequence[CompiledPack],
    strategy: Strategy,
    domain: str | None = None,
) -> Wording:
    """The words for an event of a domain; without one, those for any other event."""
    own_base, own_prediction = _own(strategy)
    of_pack = next((each.pack for each in packs if each.pack.name == domain), None)
    said = of_pack.executive if of_pack else _UNSAID
    base = own_base or said.system_prompt
    if base:
        settings = settings.model_copy(update={"base_prompt": base})
    by_pack = (said.system_prompt and not own_base) or (
        said.prediction_prompt and not own_prediction
    )
    return Wording(
        settings, own_prediction or said.prediction_prompt or None, bool(by_pack)
    )


def possible(packs: Sequence[CompiledPack], strategy: Strategy) -> tuple[str, ...]:
    """What tells in which other words a model may be asked, by what domain it is about."""
    own_base, own_prediction = _own(strategy)
    told = []
    for each in packs:
        said = each.pack.executive
        if said.system_prompt and not own_base:
            told.append(f"{each.pack.name}/system/{said.system_prompt}")
        if said.prediction_prompt and not own_prediction:
            told.append(f"{each.pack.name}/prediction/{said.prediction_prompt}")
    return tuple(told)


def _own(strategy: Strategy) -> tuple[str | None, str | None]:
    if not isinstance(strategy, Asking):
        return None, None
    return strategy.system_prompt, strategy.prediction_prompt_template
