"""Proposals: may these settings be proposed, put in force, or taken back?

A proposal is checked when it is made and again when it is applied, for its strategy may
be another by then. Only what was applied last can be taken back.
"""

from collections.abc import Sequence

from handlers.mind.context import Group
from handlers.mind.strategies import registry
from projections.folds import proposals, repertoire
from schemas.messages.controls import (
    ProposalApplied,
    ProposalReverted,
    ProposalSubmitted,
)
from schemas.messages.learning import HeuristicFormed, ProposalMade, SettingChange
from schemas.messages.notes import ControlApplied, ControlRefused
from schemas.messages.repertoire import Formed, RepertoireChange
from schemas.state.proposals import Proposal
from schemas.values.reasons import Refusal
from schemas.values.settings_by_name import (
    ANY_PARAMETER,
    LEARNING,
    STRATEGY_PREFIX,
    Scalar,
    TuningError,
    learning_value,
    parameter_in,
    unknown,
)
from schemas.values.subjects import SHARED_AGENT
from schemas.values.unicode_text import quoted

ProposalControl = ProposalSubmitted | ProposalApplied | ProposalReverted


class _RefusedError(Exception):
    """Carries the reason of a refusal."""

    def __init__(self, reason: Refusal, detail: str) -> None:
        super().__init__(detail)
        self.reason = reason


def answer(group: Group, control: ProposalControl) -> None:
    """Make, apply or revert a proposal, or refuse to with the reason."""
    try:
        _check_agent(group, control)
        match control:
            case ProposalSubmitted():
                _submitted(group, control)
            case ProposalApplied():
                _applied(group, control)
            case reverted:
                _reverted(group, reverted)
    except _RefusedError as refused:
        group.say(
            ControlRefused(
                control=control.token, reason=refused.reason, detail=str(refused)
            )
        )


def _check_agent(group: Group, control: ProposalControl) -> None:
    if group.taken.agent == SHARED_AGENT:
        raise _RefusedError(
            "invalid", f"{quoted(control.token)} concerns one agent: name it"
        )


def _submitted(group: Group, control: ProposalSubmitted) -> None:
    if proposals.find(group.state, control.proposal_id) is not None:
        raise _RefusedError(
            "proposal_exists",
            f"there is a proposal {quoted(control.proposal_id)}: give another id",
        )
    changes = _changes(group, control)
    _check_possible(group, changes)
    _apply(group, control, changes)
    group.say(
        ProposalMade(
            proposal_id=control.proposal_id,
            changes=changes,
            evidence=control.evidence,
            figures=control.figures,
            by=control.by,
        )
    )


def _applied(group: Group, control: ProposalApplied) -> None:
    proposal = _known(group, control.proposal_id)
    if proposal.status == "applied":
        raise _RefusedError("already_applied", f"{quoted(proposal.id)} is in force")
    if proposal.repertoire is not None:
        _changed(group, control, proposal.repertoire)
        return
    _check_possible(group, proposal.changes)
    _apply(group, control, proposal.changes)


def _reverted(group: Group, control: ProposalReverted) -> None:
    proposal = _known(group, control.proposal_id)
    if proposal.status != "applied":
        raise _RefusedError("not_applied", f"{quoted(proposal.id)} is not in force")
    if proposal.repertoire is not None:
        _changed_back(group, control, proposal.repertoire)
        return
    newest = proposals.newest_applied(group.state)
    if newest is not None and newest.id != proposal.id:
        raise _RefusedError(
            "newer_applied", f"{quoted(newest.id)} was applied on top: revert it first"
        )
    if proposals.in_force(group.state) != proposal.after:
        raise _RefusedError(
            "newer_applied",
            f"a strategy was selected after {quoted(proposal.id)} was applied",
        )
    _apply(group, control, proposal.changes)


def _changed(group: Group, control: ProposalApplied, change: RepertoireChange) -> None:
    """Let heuristics go or come, if those that it is about are what they were."""
    outdated = repertoire.outdated(group.state, group.packs, change)
    if outdated is not None:
        raise _RefusedError("outdated", outdated)
    _answered(group, control, change)
    if change.formed is not None:
        id_ = control.proposal_id
        group.say(proposed_heuristic(change.formed, change.domain, id_))


def _changed_back(
    group: Group, control: ProposalReverted, change: RepertoireChange
) -> None:
    moved_on = repertoire.moved_on(group.state, group.packs, change)
    if moved_on is not None:
        raise _RefusedError("outdated", moved_on)
    _answered(group, control, change)


def _answered(group: Group, control: ProposalControl, change: RepertoireChange) -> None:
    """Say that it is done, and announce what is frozen or released by it."""
    names = ", ".join(each.name for each in change.after)
    detail = f"{control.proposal_id}: {change.kind} {names}"
    done = ControlApplied(control=control.token, detail=detail)
    if change.going:
        going = change.going[0]
        group.watch(going.heuristic_id, going.content_hash, done)
    else:
        group.say(done)


def _apply(
    group: Group, control: ProposalControl, changes: Sequence[SettingChange]
) -> None:
    names = ", ".join(each.name for each in changes)
    detail = f"{control.proposal_id}: {names}"
    group.say(ControlApplied(control=control.token, detail=detail))


def _known(group: Group, proposal_id: str) -> Proposal:
    proposal = proposals.find(group.state, proposal_id)
    if proposal is None:
        raise _RefusedError(
            "unknown_proposal", f"this agent has no proposal {quoted(proposal_id)}"
        )
    return proposal


def _changes(group: Group, control: ProposalSubmitted) -> tuple[SettingChange, ...]:
    """What would change, from what to what."""
    spec = group.state.strategy or group.settings.strategy
    config = registry.in_force(spec, group.settings).config
    changes = []
    for name in sorted(control.changes):
        before: Scalar | None
        if name in LEARNING:
            before = learning_value(group.learning, name)
        elif name.startswith(STRATEGY_PREFIX):
            before = parameter_in(config, name)
        else:
            raise _RefusedError("invalid", str(unknown(name, ANY_PARAMETER)))
        changes.append(
            SettingChange(name=name, before=before, after=control.changes[name])
        )
    return tuple(changes)


def _check_possible(group: Group, changes: Sequence[SettingChange]) -> None:
    try:
        after = proposals.proposed(group.state, changes, group.settings)
    except TuningError as error:
        raise _RefusedError("invalid", str(error)) from error
    if after.strategy is not None:
        problem = registry.problem(after.strategy, group.settings)
        if problem is not None:
            raise _RefusedError("unknown_strategy", problem)


def proposed_heuristic(
    content: Formed, domain: str, proposal_id: str
) -> HeuristicFormed:
    """The heuristic that an applied proposal brings."""
    return HeuristicFormed(
        **content.model_dump(), domain=domain, proposal_id=proposal_id
    )
