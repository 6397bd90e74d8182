"""The village under each mode: `python -m bench.village.modes [--hours H] [--seed N]`.

The same village is played by minds that ask one model to talk and another to plan, one for
both, or none; the model is the fixed one. What is printed are facts of these days, not
estimates: what follows a decision follows in each village for itself.
"""

import argparse
from collections.abc import Callable, Mapping
from functools import partial

from bench import facts
from bench.facts import Facts
from bench.village.playing import Village
from packs.village import model
from schemas.messages.controls import StrategySelected

MODES = ("split", "single", "scripted")


def played(
    mode: str, seed: int, hours: float, opening: float = model.OPENING
) -> Mapping[str, Facts]:
    """Play a village under a mode; return the facts of each villager, by name."""
    village = Village(seed, hours=hours, answer=partial(model.answer, opening=opening))
    for mind in village.minds.values():
        mind.tell(StrategySelected(strategy="layers", parameters={"mode": mode}))
    village.played()
    sessions = village.recorded()
    return {name: facts.of_session(sessions[name]) for name in village.plan.names}


def table(found: Mapping[str, Facts]) -> str:
    """Return facts as a table, a column for each of what they are of."""
    rows = [f"| | {' | '.join(found)} |", f"|---|{'---|' * len(found)}"]
    for label, cell in CELLS.items():
        cells = " | ".join(cell(each) for each in found.values())
        rows.append(f"| {label} | {cells} |")
    return "\n".join(rows) + "\n"


def _tokens(of: Facts) -> str:
    calls = of.asked.total()
    if not calls:
        return "-"
    told, said = of.tokens_in.total() / calls, of.tokens_out.total() / calls
    return f"{told:.0f}, {said:.0f}"


CELLS: Mapping[str, Callable[[Facts], str]] = {
    "hours lived": lambda of: f"{of.hours:.0f}",
    "needs met": lambda of: f"{of.needs_met:.1%}",
    "buildings planned, built": lambda of: f"{of.planned}, {of.built}",
    "actions an hour": lambda of: f"{of.acted.total() / of.hours:.1f}",
    "of these succeeded": lambda of: f"{of.succeeded:.0%}",
    "ended by others, by talk": lambda of: f"{of.outcomes['overridden']}, {of.by_talk}",
    "the same as just before": lambda of: f"{of.repetition:.0%}",
    "kinds of action": lambda of: f"{len(of.acted)}",
    "model calls an hour": lambda of: f"{of.asked.total() / of.hours:.1f}",
    "decisions to act without a model": lambda of: f"{of.without_model:.0%}",
    "all decisions without a model": lambda of: f"{of.of_all_without:.0%}",
    "tokens a call, in and out": _tokens,
    "$ an hour": lambda of: f"{of.dollars / of.hours:.4f}",
    "drawn by chance": lambda of: f"{of.drawn}",
}


def main() -> None:
    """Play, and print."""
    parser = argparse.ArgumentParser(
        prog="python -m bench.village.modes", description=__doc__
    )
    parser.add_argument("--seed", type=int, default=7)
    parser.add_argument("--hours", type=float, default=24.0)
    parser.add_argument("--opening", type=float, default=model.OPENING,
        help="how likely the model opens a conversation when it may")  # fmt: skip
    args = parser.parse_args()
    chosen = args.seed, args.hours, args.opening
    found = {mode: facts.total(played(mode, *chosen).values()) for mode in MODES}
    print(table(found), end="")


if __name__ == "__main__":
    main()
