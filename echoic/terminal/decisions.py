"""What decisions look like in a terminal: one line each, or one explained on a page.

Pure, text in and text out; colour is a choice of the caller, and the words are
the same without it.
"""

from collections.abc import Iterator, Mapping
from typing import Any

from echoic.client.decision_record import Account
from echoic.client.names import Names, named
from echoic.explain.explain import Explanation, Weighed
from echoic.explain.what_if import opening
from echoic.terminal.text import (
    PLAIN,
    WIDE,
    Style,
    bar,
    counted,
    figure,
    fitted,
    padded,
    short,
    visible,
)
from schemas.messages.decisions import Gate
from schemas.values.ids import trace_id

_BADGES = {"heuristic": "S1", "llm": "S2", "fallback": "S2"}


def line(account: Account, names: Names, style: Style = PLAIN) -> str:
    """Return one decision on one line: when, who, what, how much it mattered, and the answer.

    A narrow terminal has no room for who noticed it, the bar and the latency.
    """
    decided = account.decided
    event_width, answer_width = _widths(style.width)
    salience = decided.salience.effective
    columns = (
        account.at.astimezone().strftime("%H:%M:%S"),
        None if style.is_narrow else fitted(decided.source, 9),
        fitted(account.event_text, event_width),
        None if style.is_narrow else bar(salience),
        f"{figure(salience):>3}",
        _answer(account, names, answer_width, style),
        None if style.is_narrow else f"{account.latency_ms:>5.0f} ms",
        style.paint(short(account.id), "dim"),
    )
    return " ".join(column for column in columns if column is not None)


def heading(style: Style = PLAIN) -> str:
    """Return what stands in the columns of the lines."""
    event_width, answer_width = _widths(style.width)
    columns = (
        f"{'time':<8}",
        None if style.is_narrow else f"{'source':<9}",
        fitted("event", event_width),
        "sal" if style.is_narrow else f"{'salience':<12}",
        fitted("S1 learnt, S2 a model's", answer_width),
        None if style.is_narrow else f"{'latency':>8}",
        "id",
    )
    return " ".join(column for column in columns if column is not None)


def explained(account: Account, explanation: Explanation, style: Style = PLAIN) -> str:
    """Return one decision on a page, with the command that asks further."""
    page = (*_page(account, explanation, style), *_further(account, explanation, style))
    return "\n".join(page)


def explained_alone(account: Account, explanation: Explanation, style: Style) -> str:
    """Return one decision on a page, for an instance that can be asked no more."""
    return "\n".join(_page(account, explanation, style))


def _widths(width: int) -> tuple[int, int]:
    """Return how the room beside the fixed columns is shared by event and answer."""
    # The widths of the columns in `line`, with the spaces between them.
    fixed = 8 + 10 + 13 + 9 + 9 + 2 if width >= WIDE else 8 + 4 + 9 + 2
    # Below 40 columns neither text could be read; the line then wraps.
    free = max(40, width - fixed)
    # Two fifths for the event: answers are longer.
    return free * 2 // 5, free - free * 2 // 5


def _answer(account: Account, names: Names, width: int, style: Style) -> str:
    badge = _BADGES.get(account.path, "- ")
    said = account.said
    if said is not None:
        words = f"{_speaker(account, names)} “{said}”"
        return f"{style.paint(badge, 'green')} {fitted(words, width - 3)}"
    words = f"silent: {account.silence}" if account.is_final else "asks the model …"
    return f"{badge} {style.paint(fitted(words, width - 3), 'dim')}"


def _speaker(account: Account, names: Names) -> str:
    if account.path == "heuristic":
        name = named(account.heuristic_id, names)
        return f"{name} {figure(account.predicted_success)}"
    return str(getattr(account.ending, "model", "model"))


def _page(account: Account, explanation: Explanation, style: Style) -> Iterator[str]:
    decided = account.decided
    clock = account.at.astimezone().strftime("%H:%M:%S")
    spoke = account.said is not None
    state = "SPOKE" if spoke else "SILENT" if account.is_final else "WAITS"
    headline = style.paint(f"{state:<7}", "green" if spoke else "yellow")
    why = account.path if spoke else (account.silence or "model")
    yield (
        f"{short(account.id)}  {headline} {why:<16} {visible(account.event_text)}"
        f"  ({decided.source}.{decided.type}, {clock})"
    )
    yield visible(explanation.verdict)
    if account.said is not None:
        yield f"  “{visible(account.said)}”"
    yield ""
    yield from (_gate(gate, style) for gate in explanation.gates)
    yield from _goals(account)
    yield from _salience(account)
    yield from _candidates(explanation.candidates)
    yield ""
    if explanation.supposed is not None:
        supposed = ", ".join(f"{k}={v:g}" for k, v in explanation.suppositions.items())
        yield style.paint(f"What if {supposed}: {explanation.supposed}.", "bold")
    elif explanation.counterfactual:
        yield explanation.counterfactual


def _gate(gate: Gate, style: Style) -> str:
    mark = style.paint("✓", "green") if gate.passed else style.paint("✗", "red")
    figures = ""
    if gate.value is not None and gate.threshold is not None:
        # Both are recorded as they were compared, rounded to 6 decimals.
        sign = "≥" if gate.value >= gate.threshold else "<"
        figures = f"{gate.value:.2f} {sign} {gate.threshold:.2f}"
    margin = "" if gate.margin is None else f"{gate.margin:+.2f}"
    return (
        f"  {mark} {gate.name:<12} {figures:<12} {margin:<7} {gate.note or ''}".rstrip()
    )


def _goals(account: Account) -> Iterator[str]:
    """Yield the goals that the event was held to be about, if only such counted."""
    for goal in account.decided.goals or ():
        yield f"  goal {goal.similarity:.2f}  {visible(goal.text)}"


def _salience(account: Account) -> Iterator[str]:
    salience = account.decided.salience
    yield ""
    for name, value in sorted(salience.dimensions.items(), key=lambda item: -item[1]):
        yield f"  {name:<14} {bar(value)} {figure(value)}"
    yield (
        f"  salience {salience.score:.2f} x sensitivity {salience.sensitivity:.2f}"
        f" = {salience.effective:.2f}"
    )


def _candidates(candidates: tuple[Weighed, ...]) -> Iterator[str]:
    if not candidates:
        return
    yield ""
    for each in candidates:
        similarity = "" if each.similarity is None else f"like {each.similarity:.2f}"
        trusted = "" if each.confidence is None else f"trust {each.confidence:.2f}"
        mark = "→" if each.chosen else " "
        name = padded(visible(each.name), 24)
        yield f"  {mark} {name} {similarity:<10} {trusted:<10} {each.why}"


def _further(account: Account, explanation: Explanation, style: Style) -> Iterator[str]:
    if explanation.supposed is not None:
        return
    yield f"Try: {next_command(account)}"
    yield style.paint(f"trace {trace_id(account.decided.event_id)}", "dim")


def next_command(account: Account) -> str:
    """Return the command that shows more of this decision."""
    id_ = short(account.id)
    if account.said is not None:
        return f"echoic feedback {id_} up"
    opened = opening(account.decided)
    # The nearest number that would have let it through, as a command to try.
    if opened is not None:
        return f"echoic explain {id_} --what-if {opened[0]}={opened[1]:.2f}"
    if account.silence == "llm_unavailable":
        domain = account.decided.domain
        return (
            f'echoic heuristic seed --domain {domain} --condition "…" --say "…"'
            " --confidence 0.8"
        )
    return f"echoic explain {id_} --json"


def known(fields: Mapping[str, Any], names: Names) -> str:
    """Return what the mind knows of an agent, on a page."""
    beliefs = sorted(fields["beliefs"], key=lambda each: -each["fires"])
    plain = (
        "position",
        "now",
        "session",
        "strategy",
        "open_fires",
        "waiting_for_model",
    )
    rows = [f"{name.replace('_', ' '):<18} {fields[name] or '-'}" for name in plain]
    rows += [f"{'packs':<18} {', '.join(fields['packs']) or '-'}"]
    rows += [f"{'goals':<18} {'; '.join(fields['goals']) or '-'}"]
    rows += [
        f"{'goals ' + domain:<18} {'; '.join(goals)}"
        for domain, goals in fields["domain_goals"].items()
    ]
    rows += [
        f"{'proposal ' + visible(each['id']):<18} {each['status']}: "
        + ", ".join(
            f"{change['name']} {change['before']} → {change['after']}"
            for change in each["changes"]
        )
        + (visible(each["evidence"]) if each["repertoire"] else "")
        for each in fields["proposals"]
    ]
    rows += [
        f"{'rapport ' + person:<18} {bar(value)} {value:.2f}"
        for person, value in fields["rapport"].items()
    ]
    rows += [
        f"{padded(named(each['heuristic_id'], names), 26)} {bar(each['confidence'])}"
        f" {each['confidence']:.2f}  declared {each['declared']:.2f},"
        f" {counted(each['fires'], 'fire')},"
        f" {counted(each['successes'], 'success', 'successes')}"
        for each in beliefs
    ]
    return "\n".join((fields["agent"], *(f"  {row}" for row in rows)))
