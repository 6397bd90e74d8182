"""Consulting the model: which model may be asked at this point, and how.

Without a model there is no consultation, and no strategy is offered its arm.
"""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from datetime import timedelta
from typing import Literal, Protocol

from handlers.mind.context import TurnContext
from handlers.mind.stages import known, prompts, recall, situation, withholding
from handlers.mind.stages.known import Told
from handlers.mind.stages.prompts import Prompt, PromptManner, Situation, request_hash
from handlers.mind.stages.voice import Tone
from handlers.mind.strategies import registry
from handlers.mind.strategies.heuristic_first import Asking, HeuristicFirst, Trusting
from handlers.mind.strategies.plugin import Own
from schemas.messages.asks import ModelAsked
from schemas.packs.compiled import CompiledPack
from schemas.packs.manifest import ExecutiveOfPack
from schemas.packs.model_actions import ModelAction, offered
from schemas.ports.decision_context import DecisionContext, Question, Strategy
from schemas.state.agent import Pending
from schemas.values import ids
from schemas.values.by_identity import by_identity
from schemas.values.executive_settings import ExecutiveSettings
from schemas.values.model_settings import ModelSettings
from schemas.values.settings import MindSettings


@dataclass(frozen=True, slots=True)
class Consultation:
    """A model that may be asked, and everything that shapes how."""

    model: ModelSettings
    system: str
    """The system prompt, the same for every event that the same goals count for."""
    arm: str
    manner: PromptManner
    strategy: Strategy
    """The strategy that asks it."""
    goals: tuple[str, ...] | None = None
    """The goals in it, if they are not those for every event."""
    domain: str | None = None
    """The domain whose pack has a say in how it is asked."""

    def prompt(
        self,
        turn: TurnContext,
        context: DecisionContext,
        question: Question | None = None,
        background: str = "",
        told: Told = known.NOTHING,
        speaker: str | None = None,
        situation: Situation | None = None,
    ) -> Prompt:
        """Return the prompt about an event: Echoic's, or the `question` a strategy
        wrote.

        `background` is what is remembered, `told` what skills tell, and `speaker` whose
        words the event is; Echoic's own prompt alone tells of these, and of actions.
        """
        if question is not None:
            return prompts.in_own_words(question, self.model)
        eligible = [each for each in context.candidates if each.eligible]
        shown = withholding.shown(
            eligible,
            turn.draw,
            most=self.manner.shown,
            rate=self.manner.withhold,
            trusted=threshold_of(self.strategy, turn.settings, context),
        )
        acts = prompts.listed(offered(actions_of(turn.packs), speaker))
        prompt = prompts.build(
            context,
            shown.candidates,
            self.system,
            self.model,
            self.manner,
            withheld=shown.withheld,
            background="\n\n".join(filter(None, (told.text, background, acts))),
            situation=situation,
        )
        return replace(prompt, skills=told.skills, acts=bool(acts))


class _Surroundings(Protocol):
    """What a consultation depends on besides the strategy."""

    @property
    def settings(self) -> MindSettings:
        """The settings in force."""

    @property
    def packs(self) -> Sequence[CompiledPack]:
        """The packs in force."""

    @property
    def goals(self) -> Sequence[str]:
        """The goals for every event."""

    @property
    def possible_goals(self) -> Sequence[str]:
        """Texts that identify which other goals a model may be told."""


def consultation(
    turn: _Surroundings,
    strategy: Strategy,
    goals: tuple[str, ...] | None = None,
    domain: str | None = None,
    tone: Tone | None = None,
) -> Consultation | None:
    """Return how this strategy asks the settings' model; None if there is no model.

    `goals` are those that count for the event, and `domain` is the event's. The arm covers
    all goals that may count, never which do, as with candidates (ADR 0009). `tone` is what
    the model is told of its character; the arm covers that, too.
    """
    model = model_of(turn.settings, strategy)
    if model is None:
        return None
    always = tuple(turn.goals)
    usual = _usual(
        model, turn.settings, strategy, always, turn.possible_goals, tone, *turn.packs
    )
    here = wording(turn.settings, turn.packs, strategy, domain)
    # None: the usual prompt serves, and the record needs to name no goals.
    others = None if goals == always else goals
    if others is None and not here.is_packs:
        return usual
    these = always if others is None else others
    form = usual.manner.prediction
    told = _told(here.settings, tone)
    system = prompts.system_prompt(told, turn.packs, these, form)
    by = domain if here.is_packs else None
    return replace(usual, system=system, goals=others, domain=by)


@by_identity(64)
def model_of(settings: MindSettings, strategy: Strategy) -> ModelSettings | None:
    """Return the model that a strategy asks: the settings', or the one link that it names."""
    own = strategy.model if isinstance(strategy, Asking) else None
    if own is None or settings.model is None:
        return settings.model
    return settings.model.model_copy(update={"name": own})


# Kept by what it is made of, which rarely changes: else the prompt's texts were joined and
# hashed at each event, though few events ask a model.
@by_identity(64)
def _usual(
    model: ModelSettings,
    settings: MindSettings,
    strategy: Strategy,
    goals: tuple[str, ...],
    possible_goals: Sequence[str],
    tone: Tone | None,
    *packs: CompiledPack,
) -> Consultation:
    """Return how the strategy asks about any event."""
    manner = manner_of(settings, strategy)
    usual = wording(settings, packs, strategy)
    told = _told(usual.settings, tone)
    system = prompts.system_prompt(told, packs, goals, manner.prediction)
    texts = _possible(packs, strategy)
    # Who writes its prompts itself is known by its code and settings, not by ours.
    words = strategy.words if isinstance(strategy, Own) else None
    if tone is not None and words is None:
        texts = (*texts, f"voice/{tone.digest}")
    arm = prompts.arm(model, words or system, manner, (*possible_goals, *texts))
    return Consultation(model, system, arm, manner, strategy)


def _told(settings: MindSettings, tone: Tone | None) -> MindSettings:
    """Return the settings with a tone added to what the model is told of its character."""
    if tone is None:
        return settings
    personality = f"{settings.personality}\n\n{tone.text}".strip()
    return settings.model_copy(update={"personality": personality})


def strategy_in_force(turn: TurnContext) -> Strategy:
    """Return the strategy of the variant, else the agent's own, else the settings'."""
    own = turn.variant.strategy or turn.state.strategy
    spec = own or turn.settings.strategy
    return registry.in_force(spec, turn.settings)


def strategy_that_asked(turn: TurnContext, pending: Pending | None) -> Strategy:
    """Adopt the variant under which a model was asked; return its strategy."""
    turn.adopt(pending.variant if pending is not None else None)
    return strategy_in_force(turn)


def manner_of(settings: MindSettings, strategy: Strategy) -> PromptManner:
    """Return how a strategy asks: by its own parameters, else by the settings."""
    own = strategy if isinstance(strategy, Asking) else _NO_MANNER
    shown, ceiling = own.max_candidates, own.llm_confidence_ceiling
    return PromptManner(
        max_candidates=settings.max_candidates if shown is None else shown,
        ceiling=settings.confidence_ceiling if ceiling is None else ceiling,
        present=own.present or settings.present,
        prediction=own.prediction or settings.prediction,
        withhold=settings.withhold,
        prediction_template=own.prediction_prompt_template,
        background=_background(settings.executive),
    )


def _background(executive: ExecutiveSettings) -> tuple[str, ...]:
    """Return our own words in what a model is told of memory, and by skills."""
    by_skills = known.TEMPLATES if executive.consistent else ()
    if executive.situated:
        by_skills = (*by_skills, *situation.TEMPLATES, *prompts.SPEECH_TEMPLATES)
    if not executive.prompt_tokens:
        return by_skills
    memory = recall.MEMORY_TEMPLATES if executive.recall else ()
    events = recall.EVENT_TEMPLATES if executive.recent_events else ()
    return (*recall.TEMPLATES, *events, *memory, *by_skills)


def threshold_of(
    strategy: Strategy, settings: MindSettings, context: DecisionContext
) -> float:
    """Return the confidence from which a heuristic answers by itself."""
    if isinstance(strategy, Trusting):
        return strategy.threshold(context)
    return HeuristicFirst(confidence_threshold=settings.threshold).threshold(context)


_NO_MANNER = Asking()


_UNSAID = ExecutiveOfPack()


@dataclass(frozen=True, slots=True)
class Wording:
    """The texts of the prompts for one event."""

    settings: MindSettings
    """The settings, with the base prompt in force."""
    prediction: str | None
    """The template that asks for a separate prediction; None for the built-in one."""
    is_packs: bool
    """Whether a pack's texts are among them."""


def wording(
    settings: MindSettings,
    packs: Sequence[CompiledPack],
    strategy: Strategy,
    domain: str | None = None,
) -> Wording:
    """Return the texts for a domain's events; without a domain, those of no pack."""
    own_base, own_prediction = _own(strategy)
    of_pack = next((each.pack for each in packs if each.pack.name == domain), None)
    said = of_pack.executive if of_pack else _UNSAID
    base = own_base or said.system_prompt
    # The strategy's text goes before the pack's, and that before the settings'.
    if base:
        settings = settings.model_copy(update={"base_prompt": base})
    by_pack = (said.system_prompt and not own_base) or (
        said.prediction_prompt and not own_prediction
    )
    return Wording(
        settings, own_prediction or said.prediction_prompt or None, bool(by_pack)
    )


def _possible(packs: Sequence[CompiledPack], strategy: Strategy) -> tuple[str, ...]:
    """Return the packs' texts that may be used for some domain's events, for the arm."""
    own_base, own_prediction = _own(strategy)
    told = []
    if acts := prompts.listed(actions_of(packs)):
        told.append(f"actions/{acts}")
    for each in packs:
        said = each.pack.executive
        if said.system_prompt and not own_base:
            told.append(f"{each.pack.name}/system/{said.system_prompt}")
        if said.prediction_prompt and not own_prediction:
            told.append(f"{each.pack.name}/prediction/{said.prediction_prompt}")
    return tuple(told)


def actions_of(packs: Sequence[CompiledPack]) -> tuple[ModelAction, ...]:
    """Return what packs let a model do; of one name the first pack's."""
    found: dict[str, ModelAction] = {}
    for each in packs:
        found |= {act.type: found.get(act.type, act) for act in each.pack.actions}
    return tuple(found.values())


def _own(strategy: Strategy) -> tuple[str | None, str | None]:
    if not isinstance(strategy, Asking):
        return None, None
    return strategy.system_prompt, strategy.prediction_prompt_template


_AFTER_ALL = -1.0
"""The priority of what nobody waits for: salience is 0 or more, so this comes last."""


def afterthought_asked(
    turn: TurnContext,
    model: ModelSettings,
    purpose: Literal["formation", "reflection", "review"],
    decision_id: str,
    question: tuple[str, str],
    patience: timedelta,
) -> ModelAsked:
    """Return an ask to the model that no decision waits for; answers are served before it.

    `question` is the system prompt and the prompt.
    """
    system, prompt = question
    return ModelAsked(
        purpose=purpose,
        decision_id=decision_id,
        priority=_AFTER_ALL,
        expires_at=turn.now + patience,
        ttl_s=patience.total_seconds(),
        model=model.name,
        system=system,
        prompt=prompt,
        temperature=model.temperature,
        max_tokens=model.max_tokens,
        deadline_s=model.deadline_s,
        channel=turn.settings.channel,
        response_type="suggestion",
        request_hash=request_hash(model, system, prompt),
        template_digest=ids.digest(system.encode()),
    )
