"""Find the confidence from which a heuristic answers by itself, as settings stand."""

from handlers.mind.strategies.heuristic_first import HeuristicFirst
from handlers.mind.strategies.registry import STRATEGIES
from replay.recording.in_force import InForce
from schemas.values.settings import StrategySpec
from schemas.values.settings_by_name import parameter_in


def tested(in_force: InForce) -> StrategySpec:
    """Return the agent's strategy if it tests a threshold, else `heuristic_first`."""
    own = in_force.strategy
    # A module's strategy is not in the table; `object` stands for
    # it and tests no threshold.
    is_testing = issubclass(STRATEGIES.get(own.name, object), HeuristicFirst)
    return own if is_testing else StrategySpec(name=HeuristicFirst.name)


def threshold(in_force: InForce) -> float:
    """Return the threshold of that strategy, before any bias of the personality."""
    value = parameter_in(tested(in_force).parameters, "strategy.threshold")
    # A bool is an int in Python.
    is_number = isinstance(value, int | float) and not isinstance(value, bool)
    return float(value or 0.0) if is_number else in_force.settings.threshold
