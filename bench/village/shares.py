"""Which layer decided, by villager, and how often each is asked by its cadence."""

from collections.abc import Mapping
from statistics import median

from bench.facts import NOTHING, Facts

_LAYERS = ("reflex", "queue", "talker", "executor", "single")


def table(found: Mapping[str, Facts], extraversion: Mapping[str, float]) -> str:
    """Return the shares as a table, a line for each villager."""
    rows = [
        f"| villager | extraversion | {' | '.join(_LAYERS)} | nothing due | calls an hour |"
        " $ an hour | acts without a model | all decisions without |",
        f"|---|---|{'---|' * len(_LAYERS)}---|---|---|---|---|",
    ]
    for name, each in found.items():
        by_layer = (str(each.decided[layer]) for layer in _LAYERS)
        cells = (
            name, f"{extraversion[name]:.1f}", *by_layer, str(each.decided[NOTHING]),
            f"{each.asked.total() / each.hours:.1f}", f"{each.dollars / each.hours:.4f}",
            f"{each.without_model:.0%}", f"{each.of_all_without:.0%}",
        )  # fmt: skip
        rows.append(f"| {' | '.join(cells)} |")
    return "\n".join(rows) + "\n"


def cadences(of: Facts) -> str:
    """Return the median time between a layer's calls, by the rule that had it asked."""
    return "".join(
        f"{rule}: asked {len(spans)} times, {median(spans):.1f} s after the call before\n"
        for rule, spans in sorted(of.between.items())
    )


def purposes(of: Facts) -> str:
    """Return calls, tokens and dollars an hour of one character, by purpose."""
    return "".join(
        f"{each}: {calls / of.hours:.1f} calls an hour, {of.tokens_in[each] / calls:.0f}"
        f" tokens in and {of.tokens_out[each] / calls:.0f} out a call\n"
        for each, calls in sorted(of.asked.items())
    )
