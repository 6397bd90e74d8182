"""What is in force at a running instance, and where that is not what a shell would say."""

from collections.abc import Mapping
from typing import Any

from nats.aio.client import Client

from echoic.client import known_agents
from echoic.client.connection import Connection
from echoic.client.watch import settings_in_force
from echoic.config.load import Settings, mind_settings
from handlers.mind.strategies.spec import text_of
from projections.folds.proposals import newest_applied
from replay.recording.in_force import InForce, in_force_before
from schemas.messages.controls import ExperimentStarted
from schemas.messages.experiments import Variant
from schemas.values import setting
from schemas.values.base import Part
from schemas.values.setting import Setting, part_in
from schemas.values.settings import ExplorationSettings, MindSettings, StrategySpec
from schemas.values.settings_by_name import LEARNING, learning_value
from schemas.values.subjects import partition_of
from streams.log import ReadableLog

Found = tuple[Any, str]
"""A value, and where it comes from."""


async def differing(connection: Connection, settings: Settings) -> dict[str, Found]:
    """Return the options that have another value in force than here, by name.

    In force is what the instance started with, and over it what the agent has of its own,
    by proposals or a selected strategy.
    """
    agent = settings.agent
    mind = await settings_in_force(connection.log, partition_of(agent))
    here = as_given(mind_settings(settings, mind.limits))
    found: dict[str, Found] = {
        name: (value, "the running instance")
        for name, value in as_given(mind).items()
        if here.get(name) != value
    }
    in_force = await in_force_before(connection.log, agent)
    whose = f"agent {agent}{_by_proposal(in_force)}"
    own = _own_values(in_force)
    return found | {
        name: (value, whose) for name, value in own.items() if here.get(name) != value
    }


def as_given(settings: MindSettings) -> dict[str, Any]:
    """Return the settings that an operator can give, by name, as one gives them."""
    found = _values(settings)
    if settings.exploration is None:
        found["exploration.scheme"] = "none"
    return found


def own_of(agent: str, in_force: InForce) -> str | None:
    """Return what an agent has in force of its own, in words; None if nothing."""
    said = [f"{name} {value}" for name, value in _own_values(in_force).items()]
    if said:
        said[-1] += _by_proposal(in_force)
    experiment = in_force.agent.experiment
    if experiment is not None:
        sides = (label(experiment.named("a")), label(experiment.named("b")))
        said.append(f"experiment: {' against '.join(sides)}")
    return f"{agent}: {'; '.join(said)}" if said else None


async def experimenting(client: Client, log: ReadableLog) -> dict[str, InForce]:
    """Return what is in force for each agent whose experiment runs, without packs."""
    begun = f"ev.*.in.*.control.{ExperimentStarted.token}"
    agents = sorted(await known_agents.with_subject(client, begun))
    found = {each: await in_force_before(log, each, is_bare=True) for each in agents}
    return {
        each: in_force
        for each, in_force in found.items()
        if in_force.agent.experiment is not None
    }


def label(variant: Variant) -> str:
    """Return a variant in a few words."""
    voice = variant.template or ("another personality" if variant.personality else None)
    strategy = None if variant.strategy is None else text_of(variant.strategy)
    return ", ".join(filter(None, (strategy, voice))) or "as set"


def explored(settings: ExplorationSettings | None) -> str | None:
    """Return how is explored, in words; None if it is not."""
    if settings is None or not settings.rate:
        return None
    followed = "; ".join(map(text_of, settings.challengers))
    return (
        f"{settings.scheme} at {settings.rate:g}{f': {followed}' if followed else ''}"
    )


def _own_values(in_force: InForce) -> Mapping[str, Any]:
    """Return what an agent has otherwise than the settings, by the names of options."""
    found: dict[str, Any] = {}
    state, usual = in_force.agent, in_force.settings.learning
    if state.strategy is not None:
        found["strategy"] = text_of(state.strategy)
    for name in LEARNING if state.tuned is not None else ():
        value = learning_value(state.tuned or usual, name)
        if value != learning_value(usual, name):
            found[name] = setting.switched(value)
    return found


def _by_proposal(in_force: InForce) -> str:
    newest = newest_applied(in_force.agent)
    return "" if newest is None else f", proposal {newest.id}"


def _values(part: Part) -> dict[str, Any]:
    found: dict[str, Any] = {}
    for name, field in type(part).model_fields.items():
        own = [each for each in field.metadata if isinstance(each, Setting)]
        value, inner = getattr(part, name), part_in(field)
        if own:
            found[own[0].name] = setting.as_given(own[0], _in_words(value))
        elif inner is not None and isinstance(value, Part):
            found |= _values(value)
    return found


def _in_words(value: Any) -> Any:
    """Return a recorded value with its strategies as an operator names them."""
    if isinstance(value, StrategySpec):
        return text_of(value)
    if isinstance(value, tuple):
        return tuple(map(_in_words, value))
    return value
