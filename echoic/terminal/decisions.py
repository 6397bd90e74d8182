"""What decisions look like in a terminal: one line each, or one explained on a page.

Pure; the words are the same without colour.
"""

from collections.abc import Iterator

from rich.console import RenderableType
from rich.table import Table
from rich.text import Text

from echoic.client.names import Names, named
from echoic.client.state import AgentSnapshot
from echoic.explain.explain import Explanation, Weighed
from echoic.explain.what_if import opening
from echoic.terminal.called import as_typed
from echoic.terminal.screen import (
    PLAIN,
    Terminal,
    bar,
    counted,
    figure,
    indented,
    pairs,
    short,
    table,
    text,
    words,
)
from replay.recording.decisions import DecisionRecord
from schemas.codec.catalogue import OutputMessage
from schemas.messages.decisions import Decided, Gate
from schemas.messages.learning import (
    CandidateRefused,
    Endorsed,
    HeuristicFormed,
    HeuristicReinforced,
    SilenceWeighed,
)
from schemas.state.proposals import Proposal
from schemas.values.ids import trace_id

_BADGES = {"heuristic": "S1", "llm": "S2", "fallback": "S2"}
_LATENCY = 5
_WIDE_ONLY = (1, _LATENCY)
"""Columns of a line for which a narrow terminal has no room: source and latency."""


def line(
    record: DecisionRecord, names: Names, terminal: Terminal = PLAIN
) -> RenderableType:
    """Return one decision on one line: when, who, what, how much it mattered, and the answer.

    A narrow terminal has no room for who noticed it, the bar and the latency.
    """
    decided = record.decided
    salience = decided.salience.effective
    return _row(
        terminal,
        f"{record.at.astimezone():%H:%M:%S}",
        decided.source,
        record.text,
        figure(salience)
        if terminal.is_narrow
        else f"{bar(salience)} {figure(salience)}",
        _answer(record, names),
        f"{record.latency_ms:.0f} ms",
        text((short(record.id), "dim")),
    )


def heading(terminal: Terminal = PLAIN) -> RenderableType:
    """Return what stands in the columns of the lines."""
    salience = "sal" if terminal.is_narrow else "salience"
    answer = "S1 learnt, S2 a model's"
    return _row(terminal, "time", "source", "event", salience, answer, "latency", "id")


def explained(record: DecisionRecord, found: Explanation) -> Iterator[RenderableType]:
    """Yield one decision on a page, with the command that asks further."""
    yield from explained_alone(record, found)
    if found.supposed is None:
        yield f"Try: {as_typed(next_command(record))}"
        yield text((f"trace {trace_id(record.decided.event_id)}", "dim"))


def explained_alone(
    record: DecisionRecord, found: Explanation
) -> Iterator[RenderableType]:
    """Yield one decision on a page, for an instance that can be asked no more."""
    decided = record.decided
    spoke = record.said is not None
    state = "SPOKE" if spoke else "SILENT" if record.is_final else "WAITS"
    yield text(
        f"{short(record.id)}  ",
        (state, "green" if spoke else "yellow"),
        f"  {record.path if spoke else record.silence or 'model'}"
        f"  {record.text}"
        f"  ({decided.source}.{decided.type}, {record.at.astimezone():%H:%M:%S})",
    )
    yield found.verdict
    if record.said is not None:
        yield indented(2, f"“{record.said}”")
    yield ""
    yield table(("", "", "", words()), map(_gate, found.gates), 2)
    for goal in decided.goals or ():
        yield indented(2, f"goal {goal.similarity:.2f}  {goal.text}")
    yield ""
    yield from _salience(decided)
    if found.candidates:
        yield ""
        candidates = map(_candidate, found.candidates)
        yield table(("", "", "", words()), candidates, 2)
    yield ""
    if found.supposed is not None:
        supposed = ", ".join(f"{k}={v:g}" for k, v in found.suppositions.items())
        yield text((f"What if {supposed}: {found.supposed}.", "bold"))
    elif found.counterfactual:
        yield found.counterfactual


def next_command(record: DecisionRecord) -> str:
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


def state(found: AgentSnapshot, agent: str, names: Names) -> Iterator[RenderableType]:
    """Yield what is known of an agent, on a page."""
    known = found.agent
    yield agent
    goals = known.domain_goals
    rows = {
        "position": found.position,
        "now": known.now,
        "session": known.session and known.session.id,
        "strategy": found.strategy and found.strategy.name,
        "open fires": len(known.fires),
        "waiting for model": len(known.pending),
        "packs": ", ".join(found.packs),
        "goals": "; ".join(found.goals),
        **{f"goals {domain}": "; ".join(goals[domain]) for domain in sorted(goals)},
        **{f"proposal {each.id}": _proposal(each) for each in known.proposals},
        **{
            f"rapport {person}": f"{bar(known.rapport[person].value)}"
            f" {known.rapport[person].value:.2f}"
            for person in known.rapport.sorted_keys()
        },
    }
    yield pairs({name: value or "-" for name, value in rows.items()})
    beliefs = sorted(
        known.beliefs, key=lambda key: (-known.beliefs[key].fire_count, key)
    )
    yield table(
        ("", "", "", "", ""),
        (
            (
                named(key.partition("@")[0], names),
                f"{bar(belief.confidence)} {belief.confidence:.2f}",
                f"declared {belief.declared:.2f}",
                counted(belief.fire_count, "fire"),
                counted(belief.success_count, "success", "successes"),
            )
            for key in beliefs
            for belief in (known.beliefs[key],)
        ),
        2,
    )


def _row(terminal: Terminal, *cells: str | Text) -> RenderableType:
    """Return cells in columns that are the same for every line of a terminal."""
    made = Table.grid(padding=(0, 1, 0, 0), expand=True)
    widths = (8, 9, None, 3 if terminal.is_narrow else 12, None, 8, 8)
    # Three eighths of the room for the event: answers are longer.
    ratios = (None, None, 3, None, 5, None, None)
    shown = [
        index
        for index in range(len(cells))
        if not terminal.is_narrow or index not in _WIDE_ONLY
    ]
    for index in shown:
        made.add_column(
            width=widths[index],
            ratio=ratios[index],
            no_wrap=True,
            justify="right" if index == _LATENCY else "left",
        )
    made.add_row(
        *(
            text(each) if isinstance(each, str) else each
            for each in map(cells.__getitem__, shown)
        )
    )
    return made


def _answer(record: DecisionRecord, names: Names) -> Text:
    badge = _BADGES.get(record.path, "- ")
    if record.said is not None:
        return text((badge, "green"), f" {_speaker(record, names)} “{record.said}”")
    silence = f"silent: {record.silence}" if record.is_final else "asks the model …"
    return text(f"{badge} ", (silence, "dim"))


def _speaker(record: DecisionRecord, names: Names) -> str:
    if record.path == "heuristic":
        name = named(record.heuristic_id, names)
        return f"{name} {figure(record.answer.predicted_success)}"
    return str(getattr(record.ending, "model", "model"))


def _gate(gate: Gate) -> tuple[str | Text, ...]:
    figures = ""
    if gate.value is not None and gate.threshold is not None:
        # Both are recorded as they were compared, rounded to 6 decimals.
        sign = "≥" if gate.value >= gate.threshold else "<"
        figures = f"{gate.value:.2f} {sign} {gate.threshold:.2f}"
    margin = "" if gate.margin is None else f"{gate.margin:+.2f}"
    mark = text(("✓", "green") if gate.passed else ("✗", "red"), f" {gate.name}")
    return mark, figures, margin, gate.note or ""


def _salience(decided: Decided) -> Iterator[RenderableType]:
    salience = decided.salience
    dimensions = sorted(salience.dimensions.items(), key=lambda item: -item[1])
    rows = ((name, f"{bar(value)} {figure(value)}") for name, value in dimensions)
    yield table(("", ""), rows, 2)
    yield indented(
        2,
        f"salience {salience.score:.2f} x sensitivity {salience.sensitivity:.2f}"
        f" = {salience.effective:.2f}",
    )


def _candidate(each: Weighed) -> tuple[str, ...]:
    similarity = "" if each.similarity is None else f"like {each.similarity:.2f}"
    trusted = "" if each.confidence is None else f"trust {each.confidence:.2f}"
    return f"{'→' if each.chosen else ' '} {each.name}", similarity, trusted, each.why


def _proposal(each: Proposal) -> str:
    changes = ", ".join(f"{c.name} {c.before} → {c.after}" for c in each.changes)
    return f"{each.status}: {changes}{each.evidence if each.repertoire else ''}"


def lesson(message: OutputMessage, names: Names) -> str | None:
    """Return what a message tells of learning from models; None if nothing."""
    match message:
        case HeuristicFormed():
            return f"formed {message.name}, trusted {message.confidence:.2f}"
        case HeuristicReinforced(heuristic_id=id_, confidence=confidence):
            return f"reinforced {named(id_, names)}, now trusted {confidence:.2f}"
        case CandidateRefused(reason=reason, detail=detail):
            return f"formed nothing: {reason}{f', {detail}' if detail else ''}"
        case SilenceWeighed(heuristic_id=id_, value=value) if value is not None:
            side = "for" if value > 0.0 else "against"
            return f"one more occasion {side} silence: {named(id_, names)}"
        case Endorsed(heuristic_id=id_, similarity=similarity):
            said = f"the model said the same by itself, like {similarity:.2f}"
            return f"endorsed {named(id_, names)}: {said}"
        case _:
            return None
