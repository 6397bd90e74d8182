"""Controls: may this change be made? This stage only checks; the fold carries it out."""

from collections.abc import Callable, Sequence

from projections.folds.characters.body import mind_of
from projections.folds.executive import (
    grants,
    memory_checks,
    modulations,
    reminders,
    restraints,
    speech,
    templates,
)
from projections.folds.learning.heuristics import content_in_force
from schemas.codec.catalogue import ControlMessage
from schemas.messages import controls, executive
from schemas.messages.notes import ControlApplied, ControlRefused
from schemas.packs import conditions, skills
from schemas.packs.compiled import CompiledPack
from schemas.ports.aids import Aids
from schemas.state.agent import AgentState
from schemas.values import timezones
from schemas.values.personality import NO_TEMPLATE
from schemas.values.reasons import Refusal
from schemas.values.settings import UNSTARTED, MindSettings, StrategySpec
from schemas.values.subjects import SHARED_AGENT
from schemas.values.unicode_text import quoted

_StrategyProblem = Callable[[StrategySpec], str | None]
"""Returns what is wrong with a strategy's specification; None if nothing is."""

_OF_A_PARTITION = (controls.MindStarted, controls.SegmentClosed)
"""Controls that may be addressed to nothing less."""

_SHARED = (*_OF_A_PARTITION, controls.PackLoaded)
"""Controls that may be addressed to a whole partition."""


_LAYERS = "layers"
"""The strategy that chooses among a character's actions, and not among words."""


class _RefusedError(Exception):
    """Carries the reason of a refusal."""

    def __init__(self, reason: Refusal, detail: str) -> None:
        super().__init__(detail)
        self.reason = reason


def answer(
    state: AgentState,
    packs: Sequence[CompiledPack],
    agent: str,
    message: ControlMessage,
    aids: Aids,
    strategy_problem: _StrategyProblem,
    *,
    settings: MindSettings = UNSTARTED,
) -> ControlApplied | ControlRefused:
    """Return that a control is applied, or refused with the reason."""
    try:
        _check_agent(agent, message)
        if isinstance(message, controls.ProfileSet):
            _refused_if(memory_checks.of_profile(message, settings))
        if isinstance(message, controls.ExperimentStarted):
            for variant in (message.a, message.b):
                _template(packs, variant.template or NO_TEMPLATE, settings)
        if isinstance(message, executive.OfPerson):
            detail = _of_person(state, packs, message, settings)
        elif isinstance(message, controls.PackLoaded) and message.off:
            detail = _pack_unloaded(state, packs, agent, message.name)
        else:
            detail = _check(state, packs, message, aids, strategy_problem)
    except _RefusedError as refused:
        return ControlRefused(
            control=message.token, reason=refused.reason, detail=str(refused)
        )
    return ControlApplied(control=message.token, detail=detail)


def _refused_if(problem: memory_checks.Problem | None) -> None:
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


def _check(
    state: AgentState,
    packs: Sequence[CompiledPack],
    message: ControlMessage,
    aids: Aids,
    strategy_problem: _StrategyProblem,
) -> str:
    """Return a short description of the change.

    Raises:
        _RefusedError: it cannot be made.
    """
    match message:
        case controls.MindStarted():
            return _mind_started(message.settings, strategy_problem)
        case controls.PackLoaded():
            return _pack_loaded(message, aids)
        case controls.StrategySelected():
            return _strategy_of_one(packs, message, strategy_problem)
        case controls.HeuristicSeeded():
            return _heuristic_seeded(message)
        case controls.HeuristicEdited():
            return _heuristic_edited(state, message)
        case controls.HeuristicFrozen():
            return _heuristic_frozen(state, packs, message)
        case controls.PriorUpdated():
            return _prior_updated(message)
        case controls.ExperimentStarted() | controls.ExperimentStopped():
            return _experiment(state, message, strategy_problem)
        case controls.SessionEnded() | executive.PersonsGranted():
            return _by_state(state, message)
        case _:
            return ""


def _of_person(
    state: AgentState,
    packs: Sequence[CompiledPack],
    message: executive.OfPerson,
    settings: MindSettings,
) -> str:
    """Return a short description of a control of the executive.

    Raises:
        _RefusedError: it cannot be made.
    """
    match message:
        case executive.PersonalitySelected(template=name):
            return _template(packs, name, settings)
        case executive.ContextSwitched(context=name):
            known = templates.contexts(packs)
            if name not in known:
                listed = ", ".join(sorted(known))
                raise _RefusedError(
                    "invalid", f"no context {quoted(name)}, there are {listed}"
                )
            return name
        case executive.TraitAdjusted(trait=trait, by_amount=amount):
            return f"{trait} as it was" if amount is None else f"{trait} {amount:+g}"
        case executive.SkillLoaded() | executive.SkillUnloaded():
            return _skill(packs, message, settings)
        case executive.Muted():
            return restraints.described(message)
        case executive.SalienceModulated():
            return _salience_modulated(state, message)
        case executive.ReminderSet():
            return _reminder_set(state, message)
        case executive.FactStated():
            _refused_if(memory_checks.of_fact(state.executive, message))
            return memory_checks.described(message)
        case _:
            return (
                speech.described(state.executive, message)
                if isinstance(message, executive.OutputInterrupted)
                else ""
            )


def _by_state(
    state: AgentState, message: controls.SessionEnded | executive.PersonsGranted
) -> str:
    if isinstance(message, controls.SessionEnded):
        return _session_ended(state)
    if grants.is_full(state.executive, message):
        raise _RefusedError("invalid", "too many sensors were granted persons")
    return f"{message.source} may name {', '.join(message.persons) or 'nobody'}"


def _reminder_set(state: AgentState, message: executive.ReminderSet) -> str:
    refusal = reminders.refusal(state, message)
    if refusal is not None:
        raise _RefusedError(*refusal)
    return reminders.described(message)


def _salience_modulated(state: AgentState, message: executive.SalienceModulated) -> str:
    id_ = message.modulation_id
    if message.change == "clear":
        if id_ is not None and not modulations.is_known(state.executive, id_):
            raise _RefusedError(
                "unknown_modulation", f"no modulation {quoted(id_)} is in force"
            )
    elif message.change != "threshold" and not (
        message.about or message.source or message.type
    ):
        raise _RefusedError("invalid", "name a topic, a source or a type of event")
    return modulations.described(message)


def _template(packs: Sequence[CompiledPack], name: str, settings: MindSettings) -> str:
    problem = templates.problem(settings.executive, packs, name)
    if problem:
        raise _RefusedError("unknown_template", problem)
    return name


def _skill(
    packs: Sequence[CompiledPack],
    message: executive.SkillLoaded | executive.SkillUnloaded,
    settings: MindSettings,
) -> str:
    known = skills.known(settings.executive, packs)
    if message.skill not in known:
        listed = ", ".join(known) or "none"
        raise _RefusedError(
            "unknown_skill", f"no skill {quoted(message.skill)}, there are {listed}"
        )
    return f"{message.skill}, {known[message.skill].kind}"


def _mind_started(settings: MindSettings, strategy_problem: _StrategyProblem) -> str:
    exploration, zone = settings.exploration, settings.executive.timezone
    if timezones.zone(zone) is None:
        raise _RefusedError("invalid", f"no time zone {quoted(zone)}")
    # A strategy that cannot be made would fail at each event, so it is tried now.
    for challenger in exploration.challengers if exploration else ():
        _strategy_selected(challenger, strategy_problem)
    return _strategy_selected(settings.strategy, strategy_problem)


def _pack_loaded(message: controls.PackLoaded, aids: Aids) -> str:
    pack = aids.packs.get(message.digest)
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


def _pack_unloaded(
    state: AgentState, packs: Sequence[CompiledPack], agent: str, name: str
) -> str:
    is_known = any(each.pack.name == name for each in packs)
    # What is in force for all is not in an agent's own state.
    if is_known and (agent == SHARED_AGENT or name in state.packs):
        return f"{name} is taken out"
    of_all = "is in force for all agents, and is taken out for all"
    what = of_all if is_known else "is not in force"
    raise _RefusedError("invalid", f"the pack {quoted(name)} {what}")


def _strategy_of_one(
    packs: Sequence[CompiledPack],
    message: controls.StrategySelected,
    strategy_problem: _StrategyProblem,
) -> str:
    if message.strategy == _LAYERS and mind_of(packs) is None:
        raise _RefusedError("unfit", "no pack makes this agent a character")
    spec = StrategySpec(name=message.strategy, parameters=message.parameters)
    return _strategy_selected(spec, strategy_problem)


def _strategy_selected(spec: StrategySpec, strategy_problem: _StrategyProblem) -> str:
    problem = strategy_problem(spec)
    if problem is not None:
        raise _RefusedError("unknown_strategy", problem)
    return spec.name


def _heuristic_seeded(message: controls.HeuristicSeeded) -> str:
    _check_when(message.when)
    return message.name


def _heuristic_edited(state: AgentState, message: controls.HeuristicEdited) -> str:
    held = state.taught(message.heuristic_id)
    if held is None:
        raise _RefusedError(
            "unknown_heuristic",
            f"no taught heuristic {quoted(message.heuristic_id)}; a pack's is edited in its"
            " manifest",
        )
    _check_when(message.when)
    return held.name


def _heuristic_frozen(
    state: AgentState, packs: Sequence[CompiledPack], message: controls.HeuristicFrozen
) -> str:
    if content_in_force(state, packs, message.heuristic_id) is None:
        raise _RefusedError(
            "unknown_heuristic",
            f"no heuristic {quoted(message.heuristic_id)} is in force",
        )
    return "frozen" if message.frozen else "released"


def _prior_updated(message: controls.PriorUpdated) -> str:
    if message.is_default:
        return f"{message.origin}: as the settings say"
    mean = "what is declared" if message.mean is None else f"{message.mean:g}"
    return f"{message.origin}: from {mean}, weight {message.kappa:g}"


def _experiment(
    state: AgentState,
    message: controls.ExperimentStarted | controls.ExperimentStopped,
    strategy_problem: _StrategyProblem,
) -> str:
    if isinstance(message, controls.ExperimentStopped):
        return _experiment_stopped(state, message)
    return _experiment_started(state, message, strategy_problem)


def _experiment_started(
    state: AgentState,
    message: controls.ExperimentStarted,
    strategy_problem: _StrategyProblem,
) -> str:
    running = state.experiment
    if running is not None:
        raise _RefusedError(
            "experiment_running",
            f"the experiment {quoted(running.id)} runs: stop it before another begins",
        )
    for variant in (message.a, message.b):
        if variant.strategy is not None:
            _strategy_selected(variant.strategy, strategy_problem)
    return message.experiment_id


def _experiment_stopped(state: AgentState, message: controls.ExperimentStopped) -> str:
    running = state.experiment
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


def _session_ended(state: AgentState) -> str:
    if state.session is None:
        raise _RefusedError("no_session", "no session is open")
    return state.session.id


def _check_when(when: str | None) -> None:
    if not when:
        return
    try:
        conditions.parse(when)
    except conditions.ConditionError as error:
        raise _RefusedError("invalid", f"when: {error}") from error
