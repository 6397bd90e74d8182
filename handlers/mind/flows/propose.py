"""Proposals: submit, apply or revert a change of settings or heuristics.

A proposal is checked when it is made and again when it is applied, for its strategy may
be another by then. Only what was applied last can be reverted.
"""

from collections.abc import Iterable, Mapping, Sequence

from msgspec import structs

from handlers.mind.context import TurnContext
from handlers.mind.flows.infer import infer
from handlers.mind.strategies import registry
from projections.folds import proposals
from projections.folds.characters import persona
from projections.folds.characters.body import mind_of
from schemas.messages.controls import (
    GoalsSet,
    ProposalApplied,
    ProposalReverted,
    ProposalSubmitted,
)
from schemas.messages.executive import FactStated
from schemas.messages.learning import (
    CharacterChange,
    HeuristicFormed,
    Inferred,
    ProposalMade,
    SettingChange,
)
from schemas.messages.notes import ControlApplied, ControlRefused
from schemas.messages.repertoire import Formed, RepertoireChange
from schemas.state.proposals import Proposal
from schemas.values.base import Scalar
from schemas.values.reasons import Refusal
from schemas.values.settings_by_name import (
    ANY_PARAMETER,
    LEARNING,
    STRATEGY_PREFIX,
    TuningError,
    learning_value,
    parameter_in,
    unknown,
)
from schemas.values.subjects import SHARED_AGENT
from schemas.values.unicode_text import quoted

_GOALS = 32
"""How many goals an agent has at most."""

_ProposalControl = ProposalSubmitted | ProposalApplied | ProposalReverted


class _RefusedError(Exception):
    """Carries the reason of a refusal."""

    def __init__(self, reason: Refusal, detail: str) -> None:
        super().__init__(detail)
        self.reason = reason


def answer(turn: TurnContext, control: _ProposalControl) -> None:
    """Submit, apply or revert a proposal, or refuse it with the reason."""
    try:
        _check_agent(turn, control)
        match control:
            case ProposalSubmitted():
                _submitted(turn, control)
            case ProposalApplied():
                _applied(turn, control)
            case reverted:
                _reverted(turn, reverted)
    except _RefusedError as refused:
        turn.emit(
            ControlRefused(
                control=control.token, reason=refused.reason, detail=str(refused)
            )
        )


def _check_agent(turn: TurnContext, control: _ProposalControl) -> None:
    if turn.input.agent == SHARED_AGENT:
        raise _RefusedError(
            "invalid", f"{quoted(control.token)} concerns one agent: name it"
        )


def _submitted(turn: TurnContext, control: ProposalSubmitted) -> None:
    if proposals.find(turn.state, control.proposal_id) is not None:
        raise _RefusedError(
            "proposal_exists",
            f"there is a proposal {quoted(control.proposal_id)}: give another id",
        )
    changes = _changes(turn, control)
    # Checked before anything is emitted, so that a refusal is the only output.
    _check_possible(turn, changes)
    _check_measured(changes, control.baseline)
    _apply(turn, control, changes)
    turn.emit(
        ProposalMade(
            proposal_id=control.proposal_id,
            changes=changes,
            evidence=control.evidence,
            figures=control.figures,
            by=control.by,
        )
    )


def _applied(turn: TurnContext, control: ProposalApplied) -> None:
    proposal = _known(turn, control.proposal_id)
    if proposal.status == "applied":
        raise _RefusedError("already_applied", f"{quoted(proposal.id)} is in force")
    if proposal.repertoire is not None:
        _changed(turn, control, proposal.repertoire)
        return
    if proposal.inferred is not None:
        _accepted(turn, control, proposal.inferred)
        return
    if proposal.character is not None:
        _turned_into(turn, control, proposal.character, proposal.character)
        return
    _check_possible(turn, proposal.changes)
    _check_current(turn, proposal)
    _apply(turn, control, proposal.changes)


def _reverted(turn: TurnContext, control: ProposalReverted) -> None:
    proposal = _known(turn, control.proposal_id)
    if proposal.status != "applied":
        raise _RefusedError("not_applied", f"{quoted(proposal.id)} is not in force")
    if proposal.repertoire is not None:
        _changed_back(turn, control, proposal.repertoire)
        return
    if proposal.inferred is not None:
        _taken_back(turn, control, proposal.inferred)
        return
    if proposal.character is not None:
        back = persona.inverse(proposal.character)
        _turned_into(turn, control, back, proposal.character)
        return
    # Reverting restores `before`: out of order that would undo the newer one, too.
    newest = proposals.newest_applied(turn.state)
    if newest is not None and newest.id != proposal.id:
        raise _RefusedError(
            "newer_applied", f"{quoted(newest.id)} was applied on top: revert it first"
        )
    # A control may have set the strategy by hand, which a revert must not overwrite.
    if proposals.in_force(turn.state) != proposal.after:
        raise _RefusedError(
            "newer_applied",
            f"a strategy was selected after {quoted(proposal.id)} was applied",
        )
    _apply(turn, control, proposal.changes)


def _accepted(turn: TurnContext, control: ProposalApplied, found: Inferred) -> None:
    """Let a fact or a goal count: a person accepts what a model inferred."""
    wanted: FactStated | GoalsSet
    if found.kind == "goal":
        kept = tuple(each for each in turn.goals if each != found.goal)
        if len(kept) >= _GOALS:
            raise _RefusedError("invalid", f"there are {len(kept)} goals already")
        wanted = GoalsSet(goals=(*kept, found.goal))
    else:
        wanted = FactStated(
            subject=found.subject,
            relation=found.relation,
            object=found.object,
            person=found.person,
            by=control.by,
        )
    detail = f"{control.proposal_id}: a {found.kind}"
    turn.emit(ControlApplied(control=control.token, detail=detail))
    infer(turn, wanted, "rule")


def _taken_back(turn: TurnContext, control: ProposalReverted, found: Inferred) -> None:
    wanted: FactStated | GoalsSet
    if found.kind == "goal":
        wanted = GoalsSet(goals=tuple(e for e in turn.goals if e != found.goal))
    else:
        wanted = FactStated(
            subject=found.subject,
            relation=found.relation,
            object="",
            person=found.person,
            forget=True,
            by=control.by,
        )
    detail = f"{control.proposal_id}: no {found.kind} any more"
    turn.emit(ControlApplied(control=control.token, detail=detail))
    # What was corrected or forgotten since is not there to be taken back.
    infer(turn, wanted, "rule")


def _turned_into(
    turn: TurnContext,
    control: _ProposalControl,
    wanted: CharacterChange,
    proposed: CharacterChange,
) -> None:
    """Change what a character is, or change it back, if it is what it was."""
    mind = mind_of(turn.packs)
    if mind is None or mind.autonomous is None:
        raise _RefusedError("outdated", "the agent is no autonomous character any more")
    autonomy = turn.state.character.autonomy
    outdated = persona.outdated(mind.autonomous, autonomy, wanted)
    if outdated is not None:
        raise _RefusedError("outdated", outdated)
    detail = f"{control.proposal_id}: {proposed.kind} {proposed.name}"
    turn.emit(ControlApplied(control=control.token, detail=detail[:500]))


def _changed(
    turn: TurnContext, control: ProposalApplied, change: RepertoireChange
) -> None:
    """Apply a change of the repertoire, if the heuristics concerned are what they were."""
    # The proposal may be days old: an edit or a release since makes it another change.
    outdated = proposals.outdated(turn.state, turn.packs, change)
    if outdated is not None:
        raise _RefusedError("outdated", outdated)
    _answered(turn, control, change)
    if change.formed is not None:
        id_ = control.proposal_id
        turn.emit(proposed_heuristic(change.formed, change.domain, id_))


def _changed_back(
    turn: TurnContext, control: ProposalReverted, change: RepertoireChange
) -> None:
    moved_on = proposals.moved_on(turn.state, turn.packs, change)
    if moved_on is not None:
        raise _RefusedError("outdated", moved_on)
    _answered(turn, control, change)


def _answered(
    turn: TurnContext, control: _ProposalControl, change: RepertoireChange
) -> None:
    """Emit that it is done, and announce what is frozen or released by it."""
    names = ", ".join(each.name for each in change.after)
    detail = f"{control.proposal_id}: {change.kind} {names}"
    done = ControlApplied(control=control.token, detail=detail)
    if change.going:
        going = change.going[0]
        turn.watch(going.heuristic_id, going.content_hash, done)
    else:
        turn.emit(done)


def _apply(
    turn: TurnContext, control: _ProposalControl, changes: Sequence[SettingChange]
) -> None:
    names = ", ".join(each.name for each in changes)
    detail = f"{control.proposal_id}: {names}"
    turn.emit(ControlApplied(control=control.token, detail=detail))


def _known(turn: TurnContext, proposal_id: str) -> Proposal:
    proposal = proposals.find(turn.state, proposal_id)
    if proposal is None:
        raise _RefusedError(
            "unknown_proposal", f"this agent has no proposal {quoted(proposal_id)}"
        )
    return proposal


def _changes(
    turn: TurnContext, control: ProposalSubmitted
) -> tuple[SettingChange, ...]:
    """Return each change with the value before and after, in order of names."""
    now = _in_force(turn, control.changes)
    return tuple(
        SettingChange(name=name, before=now[name], after=control.changes[name])
        for name in sorted(control.changes)
    )


def _in_force(turn: TurnContext, named: Iterable[str]) -> dict[str, Scalar | None]:
    """Return the values in force of these settings, defaults included, by name."""
    spec = turn.state.strategy or turn.settings.strategy
    config = registry.in_force(spec, turn.settings).config
    found: dict[str, Scalar | None] = {}
    for name in named:
        if name in LEARNING:
            found[name] = learning_value(turn.learning, name)
        elif name.startswith(STRATEGY_PREFIX):
            found[name] = parameter_in(config, name)
        else:
            raise _RefusedError("invalid", str(unknown(name, ANY_PARAMETER)))
    return found


def _check_measured(
    changes: Sequence[SettingChange], baseline: Mapping[str, Scalar]
) -> None:
    """Refuse figures that were measured against other values than those in force."""
    for each in changes:
        if each.name in baseline and baseline[each.name] != each.before:
            raise _RefusedError(
                "outdated",
                f"{each.name} is {each.before} here, and was measured against"
                f" {baseline[each.name]}: its figures say nothing of this agent",
            )


def _check_current(turn: TurnContext, proposal: Proposal) -> None:
    """Refuse to apply a change whose starting point is not in force any more."""
    now = _in_force(turn, [each.name for each in proposal.changes])
    for each in proposal.changes:
        if now[each.name] != each.before:
            raise _RefusedError(
                "outdated",
                f"{each.name} is {now[each.name]} by now, and was {each.before} when"
                f" {quoted(proposal.id)} was proposed: propose it anew",
            )


def _check_possible(turn: TurnContext, changes: Sequence[SettingChange]) -> None:
    try:
        after = proposals.proposed(turn.state, changes, turn.settings)
    except TuningError as error:
        raise _RefusedError("invalid", str(error)) from error
    if after.strategy is not None:
        problem = registry.problem(after.strategy, turn.settings)
        if problem is not None:
            raise _RefusedError("unknown_strategy", problem)


def proposed_heuristic(
    content: Formed, domain: str, proposal_id: str
) -> HeuristicFormed:
    """Return the heuristic that an applied proposal adds."""
    made = structs.replace(content, domain=domain)
    return HeuristicFormed(**Formed.taken(made), proposal_id=proposal_id)
