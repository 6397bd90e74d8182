"""Controls: may this change be made? This stage only checks; the fold carries it out."""

from collections.abc import Callable, Mapping, Sequence
from typing import Any, NamedTuple, TypeVar

from msgspec import Struct

from projections.folds.characters.body import mind_of
from projections.folds.executive import (
    facts,
    grants,
    modulations,
    reminders,
    restraints,
    speech,
    templates,
)
from projections.folds.learning.heuristics import content_in_force
from schemas.codec.catalogue import ControlMessage
from schemas.messages import characters, controls, executive
from schemas.messages.notes import ControlApplied, ControlRefused
from schemas.packs import conditions, skills
from schemas.packs.compiled import CompiledPack
from schemas.ports.aids import Aids
from schemas.state.agent import AgentState
from schemas.state.executive import Executive
from schemas.values import timezones
from schemas.values.personality import MOST_BIAS, NO_TEMPLATE
from schemas.values.reasons import Refusal
from schemas.values.settings import MindSettings, StrategySpec
from schemas.values.subjects import SHARED_AGENT
from schemas.values.unicode_text import quoted

_OF_A_PARTITION = (controls.MindStarted, controls.SegmentClosed)
"""Controls that may be addressed to nothing less."""

_SHARED = (*_OF_A_PARTITION, controls.PackLoaded)
"""Controls that may be addressed to a whole partition."""


_LAYERS = "layers"
"""The strategy that chooses among a character's actions, and not among words."""


_Problem = tuple[Refusal, str]
"""Why something is refused, with the detail."""


class _RefusedError(Exception):
    """Carries the reason of a refusal."""

    def __init__(self, reason: Refusal, detail: str) -> None:
        super().__init__(detail)
        self.reason = reason


class Case(Struct, frozen=True):
    """What a control is checked against."""

    state: AgentState
    packs: Sequence[CompiledPack]
    agent: str
    aids: Aids
    settings: MindSettings
    strategy_problem: Callable[[StrategySpec], str | None]
    """Returns what is wrong with a strategy's specification; None if nothing is."""


def answer(case: Case, message: ControlMessage) -> ControlApplied | ControlRefused:
    """Return that a control is applied, or refused with the reason."""
    try:
        _check_agent(case.agent, message)
        detail = CHECKS[type(message)].check(case, message)
    except _RefusedError as refused:
        return ControlRefused(
            control=message.token, reason=refused.reason, detail=str(refused)
        )
    return ControlApplied(control=message.token, detail=detail)


def _refused_if(problem: _Problem | None) -> None:
    if problem is not None:
        raise _RefusedError(*problem)


def _check_agent(agent: str, message: ControlMessage) -> None:
    # The shared agent stands for a partition: what is set there holds for all its agents.
    is_shared = agent == SHARED_AGENT
    if is_shared and not isinstance(message, _SHARED):
        raise _RefusedError(
            "invalid", f"{quoted(message.token)} concerns one agent: name it"
        )
    if not is_shared and isinstance(message, _OF_A_PARTITION):
        raise _RefusedError(
            "invalid", f"{quoted(message.token)} concerns a partition, not an agent"
        )


def _of_fact(known: Executive, control: executive.FactStated) -> _Problem | None:
    """Return why a fact cannot be stated or forgotten; None if it can."""
    if not control.forget:
        missing = [
            name for name in ("relation", "object") if not getattr(control, name)
        ]
        return ("invalid", f"a fact has a {missing[0]}") if missing else None
    if any(facts.is_replaced(each, control) for each in known.memory.facts):
        return None
    return "unknown_fact", "there is no such fact"


def _of_profile(control: controls.ProfileSet) -> _Problem | None:
    """Return why a profile cannot be set; None if it can."""
    for name in sorted(control.biases):
        # Not `>`: nan fails every comparison, and must be refused.
        if not abs(control.biases[name]) <= MOST_BIAS:
            detail = (
                f"the bias {quoted(name)} is {control.biases[name]:g}: give -0.1 to 0.1"
            )
            return "invalid", detail
    told = (control.name, control.address, control.language)
    if control.person is None:
        is_told = any(each is not None for each in told)
        return ("invalid", "name the person whose profile it is") if is_told else None
    if control.biases or control.domain is not None:
        return "invalid", "a person's profile has no biases and no domain"
    if all(each is None for each in told) and not control.off:
        return "invalid", "a profile has a name, an address or a language"
    return None


def _profile_set(case: Case, message: controls.ProfileSet) -> str:
    _refused_if(_of_profile(message))
    return ""


def _context_switched(case: Case, message: executive.ContextSwitched) -> str:
    known = templates.contexts(case.packs)
    if message.context not in known:
        listed = ", ".join(sorted(known))
        raise _RefusedError(
            "invalid", f"no context {quoted(message.context)}, there are {listed}"
        )
    return message.context


def _trait_adjusted(_: Case, message: executive.TraitAdjusted) -> str:
    trait, amount = message.trait, message.by_amount
    return f"{trait} as it was" if amount is None else f"{trait} {amount:+g}"


def _fact_stated(case: Case, message: executive.FactStated) -> str:
    _refused_if(_of_fact(case.state.executive, message))
    # Without its words, which are personal.
    return "forgotten" if message.forget else "remembered"


def _persons_granted(case: Case, message: executive.PersonsGranted) -> str:
    if grants.is_full(case.state.executive, message):
        raise _RefusedError("invalid", "too many sensors were granted persons")
    return f"{message.source} may name {', '.join(message.persons) or 'nobody'}"


def _reminder_set(case: Case, message: executive.ReminderSet) -> str:
    _refused_if(reminders.refusal(case.state, message))
    return reminders.described(message)


def _salience_modulated(case: Case, message: executive.SalienceModulated) -> str:
    id_ = message.modulation_id
    if message.change == "clear":
        if id_ is not None and not modulations.is_known(
            case.state.executive.peace, id_
        ):
            raise _RefusedError(
                "unknown_modulation", f"no modulation {quoted(id_)} is in force"
            )
    elif message.change != "threshold" and not (
        message.about or message.source or message.type
    ):
        raise _RefusedError("invalid", "name a topic, a source or a type of event")
    return modulations.described(message)


def _template(case: Case, name: str) -> str:
    problem = templates.problem(case.settings.executive, case.packs, name)
    if problem:
        raise _RefusedError("unknown_template", problem)
    return name


def _skill(case: Case, message: executive.SkillLoaded | executive.SkillUnloaded) -> str:
    known = skills.known(case.settings.executive, case.packs)
    if message.skill not in known:
        listed = ", ".join(known) or "none"
        raise _RefusedError(
            "unknown_skill", f"no skill {quoted(message.skill)}, there are {listed}"
        )
    return f"{message.skill}, {known[message.skill].kind}"


def _mind_started(case: Case, message: controls.MindStarted) -> str:
    settings = message.settings
    exploration, zone = settings.exploration, settings.executive.timezone
    if timezones.zone(zone) is None:
        raise _RefusedError("invalid", f"no time zone {quoted(zone)}")
    # A strategy that cannot be made would fail at each event, so it is tried now.
    for challenger in exploration.challengers if exploration else ():
        _strategy(case, challenger)
    return _strategy(case, settings.strategy)


def _pack_loaded(case: Case, message: controls.PackLoaded) -> str:
    if message.off:
        return _pack_unloaded(case, message.name)
    pack = case.aids.packs.get(message.digest)
    if pack is None:
        raise _RefusedError(
            "unknown_pack",
            f"no pack with sha256 {quoted(message.digest)} is in the store",
        )
    # The digest decides what is loaded; a wrong name would be a mistake of the sender's.
    if pack.pack.name != message.name:
        raise _RefusedError(
            "invalid",
            f"the pack {quoted(message.digest)} is named {quoted(pack.pack.name)}",
        )
    count = len(pack.pack.heuristics)
    return f"{message.name} {message.pack_version}, {count} heuristics"


def _pack_unloaded(case: Case, name: str) -> str:
    is_known = any(each.pack.name == name for each in case.packs)
    # What is in force for all is not in an agent's own state.
    if is_known and (case.agent == SHARED_AGENT or name in case.state.packs):
        return f"{name} is taken out"
    of_all = "is in force for all agents, and is taken out for all"
    what = of_all if is_known else "is not in force"
    raise _RefusedError("invalid", f"the pack {quoted(name)} {what}")


def _strategy_selected(case: Case, message: controls.StrategySelected) -> str:
    if message.strategy == _LAYERS and mind_of(case.packs) is None:
        raise _RefusedError("unfit", "no pack makes this agent a character")
    spec = StrategySpec(name=message.strategy, parameters=message.parameters)
    return _strategy(case, spec)


def _strategy(case: Case, spec: StrategySpec) -> str:
    problem = case.strategy_problem(spec)
    if problem is not None:
        raise _RefusedError("unknown_strategy", problem)
    return spec.name


def _heuristic_seeded(_: Case, message: controls.HeuristicSeeded) -> str:
    _check_when(message.when)
    return message.name


def _heuristic_edited(case: Case, message: controls.HeuristicEdited) -> str:
    held = case.state.taught(message.heuristic_id)
    if held is None:
        raise _RefusedError(
            "unknown_heuristic",
            f"no taught heuristic {quoted(message.heuristic_id)}; a pack's is edited in its"
            " manifest",
        )
    _check_when(message.when)
    return held.name


def _heuristic_frozen(case: Case, message: controls.HeuristicFrozen) -> str:
    if content_in_force(case.state, case.packs, message.heuristic_id) is None:
        raise _RefusedError(
            "unknown_heuristic",
            f"no heuristic {quoted(message.heuristic_id)} is in force",
        )
    return "frozen" if message.frozen else "released"


def _prior_updated(_: Case, message: controls.PriorUpdated) -> str:
    if message.is_default:
        return f"{message.origin}: as the settings say"
    mean = "what is declared" if message.mean is None else f"{message.mean:g}"
    return f"{message.origin}: from {mean}, weight {message.kappa:g}"


def _experiment_started(case: Case, message: controls.ExperimentStarted) -> str:
    for variant in (message.a, message.b):
        _template(case, variant.template or NO_TEMPLATE)
    running = case.state.experiment
    if running is not None:
        raise _RefusedError(
            "experiment_running",
            f"the experiment {quoted(running.id)} runs: stop it before another begins",
        )
    for variant in (message.a, message.b):
        if variant.strategy is not None:
            _strategy(case, variant.strategy)
    return message.experiment_id


def _experiment_stopped(case: Case, message: controls.ExperimentStopped) -> str:
    running = case.state.experiment
    if running is None:
        raise _RefusedError("no_experiment", "no experiment runs")
    # Naming one guards against stopping another that began meanwhile.
    if message.experiment_id not in (None, running.id):
        raise _RefusedError(
            "no_experiment",
            f"no experiment {quoted(message.experiment_id)} runs,"
            f" but {quoted(running.id)} does",
        )
    return running.id


def _session_ended(case: Case, _: controls.SessionEnded) -> str:
    if case.state.session is None:
        raise _RefusedError("no_session", "no session is open")
    return case.state.session.id


def _check_when(when: str | None) -> None:
    if not when:
        return
    try:
        conditions.parse(when)
    except conditions.ConditionError as error:
        raise _RefusedError("invalid", f"when: {error}") from error


_M = TypeVar("_M", bound=controls.Control)


class _Row(NamedTuple):
    """What is decided of a kind of control, and said of it."""

    check: Callable[[Case, Any], str]
    """Return what is said of one that may be applied; refuse another by raising."""
    told: Callable[[Any], str]
    """Return in words what one changes that was inferred."""
    by_model: bool
    """Whether a model may infer it: never packs, strategies or a mute."""
    by_wish: Callable[[Any], bool]
    """Whether it may of a person's own words, for a while (ADR 0089)."""


def _on(
    kind: type[_M],
    check: Callable[[Case, _M], str] = lambda *_: "",
    *,
    told: Callable[[_M], str] = lambda control: control.token,
    by_model: bool = False,
    by_wish: Callable[[_M], bool] = lambda _: False,
) -> tuple[type, _Row]:
    return kind, _Row(check, told, by_model, by_wish)


CHECKS: Mapping[type, _Row] = dict(
    (
        _on(controls.MindStarted, _mind_started),
        _on(controls.SegmentClosed),
        _on(controls.SessionStarted),
        _on(controls.SessionEnded, _session_ended),
        _on(controls.GoalsSet, by_model=True),
        _on(controls.PackLoaded, _pack_loaded),
        _on(controls.StrategySelected, _strategy_selected),
        _on(controls.HeuristicSeeded, _heuristic_seeded),
        _on(controls.HeuristicEdited, _heuristic_edited),
        _on(controls.HeuristicFrozen, _heuristic_frozen),
        _on(controls.SleepRequested),
        _on(controls.PriorUpdated, _prior_updated),
        _on(controls.ProfileSet, _profile_set, by_wish=lambda _: True),
        _on(controls.ProposalSubmitted, by_model=True),
        _on(controls.ProposalApplied),
        _on(controls.ProposalReverted),
        _on(controls.ExperimentStarted, _experiment_started),
        _on(controls.ExperimentStopped, _experiment_stopped),
        _on(controls.PersonForgotten),
        _on(characters.AimsSet, by_model=True),
        _on(characters.PlanSet, by_model=True),
        _on(characters.ReflectionRequested),
        _on(
            executive.Muted,
            lambda _, message: restraints.described(message),
            told=restraints.described,
            by_wish=lambda message: message.mode == "quiet" and not message.off,
        ),
        _on(
            executive.SalienceModulated,
            _salience_modulated,
            told=modulations.described,
            by_wish=lambda _: True,
        ),
        _on(executive.UserStateChanged),
        _on(executive.BreakSignalled),
        _on(executive.ContextSwitched, _context_switched, by_wish=lambda _: True),
        _on(executive.TraitAdjusted, _trait_adjusted, by_wish=lambda _: True),
        _on(
            executive.PersonalitySelected,
            lambda case, message: _template(case, message.template),
        ),
        _on(executive.SkillLoaded, _skill),
        _on(executive.SkillUnloaded, _skill),
        _on(executive.FactStated, _fact_stated),
        _on(executive.ReminderSet, _reminder_set, by_model=True),
        _on(
            executive.OutputInterrupted,
            lambda case, message: speech.described(case.state.executive, message),
        ),
        _on(executive.PersonsGranted, _persons_granted),
        _on(executive.OutputRequested),
    )
)
"""How each control is checked, what is said of it, and whether a model may infer it."""
