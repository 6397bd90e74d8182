"""A strategy's parameters, judged by what its decisions would have come to."""

import asyncio
from collections.abc import Sequence
from dataclasses import replace
from functools import cache

import pytest
from pydantic import JsonValue

from evaluation.evidence.gather import UnprovenError
from evaluation.tuning.policy_value import (
    Limits,
    VerifiedRecording,
    WorthObjective,
    verified,
)
from evaluation.tuning.search import Gain, Refused, Search, search
from evaluation.tuning.search_space import Grid, parse_range
from handlers.aids import AidProvider, PackLibrary
from handlers.mind.strategies.registry import UnknownStrategyError
from replay.recording.outcomes import OutcomeSettings
from replay.recording.source import Recording, of_file
from schemas.messages.controls import StrategySelected
from schemas.messages.decisions import Decided
from schemas.values.vectors import Limits as EmbedderLimits
from schemas.values.vectors import Vector
from tests import factories
from tests.evaluation.tuning.many_sessions import explored
from tests.replay.evening import place, without
from tests.replay.scenarios import file_of_scenario, recording_of_scenario
from tests.scenario import Scenario


class Words:
    """The tests' embedder, as a bringer takes it."""

    name = digest = "words"
    dimension = factories.DIMENSION
    limits = EmbedderLimits(match=0.6, duplicate=0.9, endorse=0.6)
    exact = True

    def embed(self, texts: Sequence[str]) -> list[Vector]:
        return [factories.embed(text) for text in texts]


def verified_of(recording: Recording) -> VerifiedRecording:
    """A recording, proven, with its outcomes."""
    bringer = AidProvider(Words(), PackLibrary(recording.log, Words()))
    return asyncio.run(verified(recording, bringer, OutcomeSettings()))


@cache
def evenings() -> VerifiedRecording:
    """A scenario in which a heuristic just under the threshold would have helped."""
    return verified_of(recording_of_scenario(explored(40)))


def searched(limits: Limits, text: str = "0.65,0.9") -> Search:
    """A search for the threshold."""
    objective = WorthObjective([evenings()], limits)
    grid = Grid({"strategy.threshold": parse_range(text)})
    return asyncio.run(search(objective, grid, {"strategy.threshold": 0.7}))


def test_a_better_threshold_is_found_and_holds() -> None:
    """Saying it is worth .9 and silence .5; half of what is searched shows that."""
    best = searched(Limits()).recommended

    assert best is not None
    assert best.values == {"strategy.threshold": 0.65}
    assert isinstance(best.holdout, Gain)
    assert best.holdout.ci is not None
    low, high = best.holdout.ci
    assert low < 0.4 < high


def test_what_changes_nothing_gains_exactly_nothing() -> None:
    """A higher threshold decides the same."""
    result = searched(Limits(), "0.8,0.9")

    assert [each.search for each in result.trials] == [
        Gain(0.0, 0.0, (0.0, 0.0), 1.0, 24, is_clear=False)
    ] * 2
    assert result.finalists == ()


def test_what_was_never_played_is_refused() -> None:
    """Without exploration there is nothing to say of another threshold."""
    scenario = explored(6, rate=0.0)
    objective = WorthObjective([verified_of(recording_of_scenario(scenario))], Limits())
    grid = Grid({"strategy.threshold": parse_range("0.5,0.6")})

    result = asyncio.run(search(objective, grid))

    reasons = [getattr(each.search, "reason", None) for each in result.trials]
    assert reasons == ["unsupported", "unsupported"]
    assert result.recommended is None


def test_what_asks_a_model_too_often_is_refused() -> None:
    """However good it would be."""
    scenario = explored(6, rate=0.5, model=factories.MODEL)
    objective = WorthObjective(
        [verified_of(recording_of_scenario(scenario))], Limits(model_share=0.2)
    )
    grid = Grid({"strategy.threshold": parse_range("0.6,0.9")})

    result = asyncio.run(search(objective, grid))

    found = {each.values["strategy.threshold"]: each.search for each in result.trials}
    assert found[0.9] == Refused(
        "model_share", "asks a model in 100.0%, allowed are 20.0%"
    )
    assert getattr(found[0.6], "reason", None) != "model_share"


def test_a_parameter_that_is_none_is_an_error() -> None:
    """Of the strategy in force at the end."""
    objective = WorthObjective([evenings()], Limits())
    grid = Grid({"strategy.genius": parse_range("0..1")})

    with pytest.raises(UnknownStrategyError, match="genius"):
        asyncio.run(search(objective, grid))


def test_the_strategy_in_force_at_the_end_is_tuned() -> None:
    """Its own parameters stay as they are."""
    scenario = explored(2)
    parameters: dict[str, JsonValue] = {"threshold": 0.8, "max_candidates": 2}
    scenario.control(
        StrategySelected(strategy="heuristic_first", parameters=parameters)
    )
    scenario.decide("health low")

    assert WorthObjective(
        [verified_of(recording_of_scenario(scenario))], Limits()
    ).spec.parameters == (parameters)


def test_a_recording_that_differs_when_decided_again_is_refused() -> None:
    """With the input at which it does."""
    scenario: Scenario = explored(2)
    file = file_of_scenario(scenario)
    broken = without(file, place(file, f".{Decided.token}", 3))
    broken = replace(broken, trailer=replace(broken.trailer, chain="0"))

    with pytest.raises(UnprovenError, match=r"input \d+: deciding it again"):
        verified_of(of_file(broken, "broken"))
