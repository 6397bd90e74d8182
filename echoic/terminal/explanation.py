"""One decision explained on a page of a terminal: verdict, gates, salience, candidates.

Pure; the words are the same without colour.
"""

from collections.abc import Iterator
from typing import TYPE_CHECKING

from echoic.client.decision_json import trace_of
from echoic.explain.amounts import amount
from echoic.explain.characters import acts, has_words
from echoic.explain.explain import Explanation, Weighed
from echoic.explain.sums import Sum
from echoic.explain.what_if import opening
from echoic.terminal.called import as_typed
from echoic.terminal.personality import by_skills, of_decision
from echoic.terminal.screen import bar, figure, indented, short, table, text, words
from replay.recording.decisions import DecisionRecord
from schemas.messages.decisions import Decided, Gate
from schemas.messages.results import Recalled, RecallFailed
from schemas.values.prompt_fencing import capped

if TYPE_CHECKING:
    from rich.console import RenderableType
    from rich.text import Text

_MEMORY_CAP = 120
"""How many characters of a memory are shown."""


def explained(
    record: DecisionRecord,
    found: Explanation,
    link: str = "",
    untraced: str | None = None,
    near: str = "",
) -> "Iterator[RenderableType]":
    """Yield one decision on a page, with the command that asks further and the trace.

    `untraced` is why the trace may not be where the link leads; `near` is which heuristics
    were nearly alike.
    """
    yield from explained_alone(record, found)
    if near:
        yield near
    if found.supposed is None:
        yield f"Try: {as_typed(_next_command(record))}"
        trace = link or trace_of(record)
        yield text((f"trace {trace}", "dim"))
        # The command on a line of its own, to be copied.
        yield from (
            text((each, "dim")) for each in (untraced or "").split("; ") if each
        )


def explained_alone(
    record: DecisionRecord, found: Explanation
) -> "Iterator[RenderableType]":
    """Yield one decision on a page, for an instance that can be asked no more."""
    decided = record.decided
    spoke = record.said is not None
    state = "SPOKE" if spoke else "SILENT" if record.is_final else "WAITS"
    if acts(record) and not has_words(record):
        spoke, state = True, "ACTED"
    yield text(
        f"{short(record.id)}  ",
        (state, "green" if spoke else "yellow"),
        f"  {record.path if spoke else record.silence or _awaited(decided)}"
        f"  {record.text}"
        f"  ({decided.source}.{decided.type}, {record.at.astimezone():%H:%M:%S})",
    )
    yield found.verdict
    if has_words(record):
        yield indented(2, f"“{record.said}”")
    sections = (
        list(_grounds(record, found)),
        list(_salience(decided, found)),
        [table(("", "", "", words()), map(_candidate, found.candidates), 2)]
        if found.candidates
        else [],
    )
    for section in filter(None, sections):
        yield ""
        yield from section
    yield ""
    if found.supposed is not None:
        supposed = ", ".join(f"{k}={v:g}" for k, v in found.suppositions.items())
        yield text((f"What if {supposed}: {found.supposed}.", "bold"))
    elif found.counterfactual:
        yield found.counterfactual


def _grounds(record: DecisionRecord, found: Explanation) -> "Iterator[RenderableType]":
    """Yield what the decision was held against, and who decided, line by line."""
    decided = record.decided
    if found.gates:
        yield table(("", "", "", words()), map(_gate, found.gates), 2)
    lines = [*_layers(decided)]
    if decided.voice is not None:
        lines += of_decision(decided.voice)
    lines += by_skills(decided)
    if decided.follows is not None:
        lines.append(f"follows upon {short(decided.follows)}")
    lines += _remembered(record)
    lines += [
        f"goal {each.similarity:.2f}  {each.text}" for each in decided.goals or ()
    ]
    yield from (indented(2, line) for line in lines)


def _next_command(record: DecisionRecord) -> str:
    """Return the command that shows more of this decision."""
    id_ = short(record.id)
    if record.said is not None:
        return f"echoic feedback {id_} up"
    opened = opening(record.decided)
    # The nearest number that would have let it through, as a command to try.
    if opened is not None:
        return f"echoic explain {id_} --what-if {opened[0]}={opened[1]:.2f}"
    if record.silence == "llm_unavailable":
        domain = record.decided.domain
        return (
            f'echoic heuristic seed --domain {domain} --condition "…" --say "…"'
            " --confidence 0.8"
        )
    return f"echoic explain {id_} --json"


def _layers(decided: Decided) -> Iterator[str]:
    """Yield what each layer of a character came to."""
    for each in decided.layers or ():
        rule = f" {each.rule}" if each.rule is not None else ""
        verdict = each.verdict.replace("_", " ")
        why = f" ({each.why})" if each.why else ""
        yield f"layer {each.layer}: {verdict}{rule}{why}"


def _remembered(record: DecisionRecord) -> Iterator[str]:
    """Yield what the model was told of long ago, or why it was told nothing."""
    match record.recalled:
        case Recalled(texts=texts):
            yield from (f"remembered {capped(each, _MEMORY_CAP)}" for each in texts)
            if not texts:
                yield "remembered nothing like it"
        case RecallFailed(reason=reason):
            yield f"remembered nothing: the memory failed ({reason})"
        case None if record.recall_id is not None:
            yield "remembered nothing: the memory has not answered"
        case None:
            pass


def _awaited(decided: Decided) -> str:
    """Return what a decision that is not final waits for."""
    return "model" if decided.path == "llm" else decided.timing


def _gate(gate: Gate) -> "tuple[str | Text, ...]":
    figures = ""
    if gate.value is not None and gate.threshold is not None:
        # Both are recorded as they were compared, rounded to 6 decimals.
        sign = "≥" if gate.value >= gate.threshold else "<"
        value, needed = (amount(gate.name, x) for x in (gate.value, gate.threshold))
        figures = f"{value} {sign} {needed}"
    margin = "" if gate.margin is None else amount(gate.name, gate.margin, "+")
    mark = text(("✓", "green") if gate.passed else ("✗", "red"), f" {gate.name}")
    return mark, figures, margin, gate.note or ""


def _salience(decided: Decided, found: Explanation) -> "Iterator[RenderableType]":
    # No event occasioned it, so nothing was weighed.
    if decided.timer is not None:
        return
    salience = decided.salience
    share = "" if salience.share is None else f" (x{salience.share:.2f}, unheeded)"
    dimensions = sorted(salience.dimensions.items(), key=lambda item: -item[1])
    rows = ((name, f"{bar(value)} {figure(value)}") for name, value in dimensions)
    # A character's pack may weigh nothing, and a table without rows is an empty line.
    if dimensions:
        yield table(("", ""), rows, 2)
    yield indented(
        2,
        f"salience {salience.score:.2f} x sensitivity {salience.sensitivity:.2f}{share}"
        f" = {salience.effective:.2f}",
    )
    told = [each for each in found.sums if each.is_told]
    if told:
        yield table(("", words()), ((each.of, _summed(each)) for each in told), 2)


def _summed(found: Sum) -> str:
    """Return a sum with its terms, those of 0 left out; in three digits, which add up."""
    first, *others = found.terms
    more = (
        f" {'-' if each.value < 0 else '+'} {each.name} {abs(each.value):.3f}"
        for each in others
        if each.value
    )
    return f"{first.name} {first.value:.3f}{''.join(more)} = {found.total:.3f}"


def _candidate(each: Weighed) -> tuple[str, ...]:
    similarity = "" if each.similarity is None else f"like {each.similarity:.2f}"
    trusted = "" if each.confidence is None else f"trust {each.confidence:.2f}"
    return f"{'→' if each.chosen else ' '} {each.name}", similarity, trusted, each.why
