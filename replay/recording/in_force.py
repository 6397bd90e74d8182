"""What is in force for an agent: the part of a strategy's context that controls determine.

A light fold of settings, packs, goals, biases, taught heuristics and the agent's strategy,
without anything learnt from events. It uses the mind's own folds.
"""

from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property, lru_cache
from typing import TYPE_CHECKING

from msgspec import structs

from projections.folds import agent as agent_fold
from projections.folds import experiments, goals_and_biases
from projections.folds.executive import skills, templates
from projections.folds.fold_context import FoldContext
from projections.folds.learning.heuristics import all_heuristics
from projections.folds.partition import shared_after
from replay.recording.decisions import DecisionRecord
from schemas.codec.decode import read_input, read_mark, read_output
from schemas.codec.envelope import Input, Output
from schemas.messages.arms import heuristic_arm, heuristic_of
from schemas.messages.controls import SessionEnded, SessionStarted
from schemas.messages.executive import Muted
from schemas.messages.experiments import Variant, VariantName
from schemas.messages.learning import HeuristicFormed, ProposalMade
from schemas.messages.notes import ControlApplied, ControlInferred
from schemas.packs.compiled import CompiledPack, compile_pack
from schemas.packs.manifest import from_blob
from schemas.ports import aids as aiding
from schemas.ports.aids import Aids
from schemas.ports.decision_context import Strategy
from schemas.state.agent import STRANGER, AgentState, PartitionState, SharedState
from schemas.state.taught import Taught
from schemas.values.lazily import Lazily
from schemas.values.record import Record
from schemas.values.settings import UNSTARTED, MindSettings, StrategySpec
from schemas.values.subjects import SHARED_AGENT, output_subject, partition_of
from streams.log import ReadableLog, scan

if TYPE_CHECKING:
    from handlers.mind.flows import character, consult
    from handlers.mind.stages import personality, voice
    from handlers.mind.stages.voice import Tone
    from handlers.mind.strategies import registry
else:
    # What is in force is looked up by commands that decide nothing.
    character = Lazily("handlers.mind.flows.character")
    consult = Lazily("handlers.mind.flows.consult")
    personality = Lazily("handlers.mind.stages.personality")
    voice = Lazily("handlers.mind.stages.voice")
    registry = Lazily("handlers.mind.strategies.registry")

_CHANGES = (ControlApplied, ControlInferred, ProposalMade, HeuristicFormed)
"""The outputs that change what is in force."""

CHANGE_TOKENS = frozenset(message.token for message in _CHANGES)

_ALONE = (Muted, SessionStarted, SessionEnded)
"""Controls that do the same whatever packs are in force."""

_NO_VARIANT = Variant()


Contender = Variant | StrategySpec | None
"""What is asked: a strategy, or one with a personality; None is the agent's own."""


@dataclass(frozen=True, slots=True)
class Asked:
    """A strategy built for what is in force, with the arm by which it asks the model."""

    strategy: Strategy
    llm_arm: str | None
    template: str | None = None
    """The personality template that it has in place of the recorded one."""


class UnknownTemplateError(ValueError):
    """No personality template has this name there."""


@dataclass(frozen=True, eq=False)
class InForce:
    """What is in force for one agent; immutable, each change makes a new one."""

    shared: SharedState = field(default_factory=SharedState)
    agent: AgentState = STRANGER
    """The agent's state, of which only what controls change is kept up to date."""
    by_digest: Mapping[str, CompiledPack] = field(default_factory=dict)
    variant: Variant = _NO_VARIANT
    """Of a running experiment."""

    @classmethod
    def of(cls, state: PartitionState, agent: str) -> "InForce":
        """Return what is in force for an agent in a state; packs are loaded by `brought`."""
        return cls(state.shared, state.agents.get(agent, STRANGER))

    @cached_property
    def settings(self) -> MindSettings:
        """The settings in force."""
        return experiments.under(self.shared.settings or UNSTARTED, self.variant)

    @cached_property
    def packs(self) -> tuple[CompiledPack, ...]:
        """The packs in force, by name.

        Raises:
            MissingPackError: one of them was not loaded.
        """
        return aiding.in_force(self.shared, self.agent, Aids(packs=self.by_digest))

    @cached_property
    def goals(self) -> tuple[str, ...]:
        """The goals for every event."""
        return goals_and_biases.own_goals(self.agent, self.settings)

    @property
    def possible_goals(self) -> tuple[str, ...]:
        """What tells which other goals a model may be told."""
        return goals_and_biases.possible_goals(self.agent, self.settings)

    def goals_of(self, domain: str) -> tuple[str, ...]:
        """Return the goals that may count for a domain's events."""
        return goals_and_biases.goals_of_domain(self.agent, self.settings, domain)

    def biases_of(
        self, domain: str | None = None, template: str | None = None
    ) -> dict[str, float]:
        """Return the personality's adjustments for a domain's events, or for any other.

        `template` is a contender's, in place of the one in force.
        """
        return goals_and_biases.biases(
            self.settings,
            self.agent,
            self.packs,
            domain,
            template=template or self.variant.template,
        )

    @property
    def strategy(self) -> StrategySpec:
        """The agent's strategy: the variant's, else its own, else the settings'."""
        own = self.variant.strategy or self.agent.strategy
        return own or self.settings.strategy

    def under(self, name: VariantName | None) -> "InForce":
        """Return what is in force under a variant of the running experiment."""
        if name is None or self.agent.experiment is None:
            return self
        return replace(self, variant=self.agent.experiment.named(name))

    def tone(self, record: DecisionRecord, contender: Contender) -> "Tone | None":
        """Return what a contender would have told a model of its character at a decision."""
        executive, was = self.settings.executive, record.decided.voice
        in_force = skills.in_force(
            self.agent.executive, executive, self.packs, record.decided.domain
        )
        wanted = variant_of(contender).template
        if wanted is not None:
            person = record.event.person if record.event is not None else None
            found = personality.words_under(
                wanted, self.agent, executive, self.packs, was, person, record.at
            )
            return character.tone_of(found, in_force)
        if was is None or was.digest is None:
            return voice.knowing(None, in_force)
        template = templates.named(executive, self.packs, was.template or "")
        valence, rapport = was.valence or 0.0, was.rapport
        tone = voice.tone(
            template, was.traits, valence, 0.5 if rapport is None else rapport
        )
        return voice.knowing(tone, in_force)

    def asked(self, contender: Contender, tone: "Tone | None" = None) -> Asked:
        """Return a contender as it would decide here, with a character told in this tone.

        Raises:
            UnknownStrategyError: there is no such strategy.
            UnknownTemplateError: there is no such personality template.
        """
        wanted, here = variant_of(contender), self
        if wanted.template is not None:
            self._check_template(wanted.template)
        told = {
            name: said
            for name in ("personality", "template")
            if (said := getattr(wanted, name)) is not None
        }
        if told:
            here = replace(self, variant=structs.replace(self.variant, **told))
        spec = wanted.strategy or here.strategy
        strategy = registry.create_decision_strategy(spec, here.settings)
        consulted = consult.consultation(here, strategy, tone=tone)
        arm = consulted.arm if consulted else None
        return Asked(strategy, arm, wanted.template)

    def _check_template(self, name: str) -> None:
        # Before the first start nothing is known, and nothing is decided.
        if self.shared.settings is None:
            return
        problem = templates.problem(self.settings.executive, self.packs, name)
        if problem:
            raise UnknownTemplateError(problem)

    def heuristic(self, arm: str) -> Taught | None:
        """Return the heuristic of an arm, in whatever voice; None if it is not in force."""
        arm = heuristic_arm(*heuristic_of(arm))
        taught = self._taught.get(arm)
        if taught is not None:
            return taught
        return next((pack[arm] for pack in self._by_pack if arm in pack), None)

    def needs_packs(self) -> tuple[str, ...]:
        """Return the digests of packs in force that were not loaded."""
        shelves = (self.shared.packs, self.agent.packs)
        digests = {ref.digest for shelf in shelves for ref in shelf.values()}
        return tuple(sorted(digests - self.by_digest.keys()))

    def after(self, input_: Input, outputs: Sequence[Output]) -> "InForce":
        """Return what is in force after an input and its outputs."""
        # A control that the mind refused has no such output, and changes nothing.
        said = [each for each in outputs if isinstance(each.message, _CHANGES)]
        if not said:
            return self
        if input_.agent == SHARED_AGENT:
            shared = shared_after(self.shared, input_.message, Aids())
            return InForce(shared, self.agent, self.by_digest)
        agent = self.agent
        aids = Aids(packs=self.by_digest)
        context = FoldContext(self.shared, agent, input_, aids, input_.at)
        for output in said:
            agent = agent_fold.said(agent, context, output.id, output.message)
        return InForce(self.shared, agent, self.by_digest)

    @cached_property
    def _taught(self) -> Mapping[str, Taught]:
        return _by_arm(all_heuristics(self.agent, ()))

    @cached_property
    def _by_pack(self) -> tuple[Mapping[str, Taught], ...]:
        return tuple(_of_pack(pack) for pack in self.packs)


def variant_of(contender: Contender) -> Variant:
    """Return a contender as a variant; what it leaves open stays the agent's own."""
    if isinstance(contender, Variant):
        return contender
    return Variant(strategy=contender)


async def with_packs(in_force: InForce, log: ReadableLog) -> InForce:
    """Return what is in force with its packs loaded, as far as the log's store has them."""
    missing = in_force.needs_packs()
    if not missing:
        return in_force
    packs = dict(in_force.by_digest)
    for digest in missing:
        # One that is missing raises when the packs are used, not here.
        blob = await log.blob(digest)
        if blob is not None:
            packs[digest] = _without_vectors(blob)
    return InForce(in_force.shared, in_force.agent, packs)


async def in_force_before(
    log: ReadableLog, agent: str, sequence: int | None = None, *, is_bare: bool = False
) -> InForce:
    """Return what is in force for an agent before the input at a sequence, packs and all.

    None is the end of the log. What is bare has its packs by name and version alone.
    """
    # By the sequence of their input, which is the order in which the mind applied them.
    causes: dict[int, list[Record]] = defaultdict(list)
    for owner in (SHARED_AGENT, agent):
        for message in _CHANGES:
            subject = output_subject(
                partition_of(agent), owner, message.kind, message.token
            )
            async for record in scan(log, subject):
                causes[read_mark(record).cause_sequence].append(record)
    in_force = InForce()
    for cause in sorted(causes):
        if sequence is not None and cause >= sequence:
            break
        input_ = await log.record(cause)
        if input_ is not None:
            outputs = [read_output(record) for record in causes[cause]]
            made = read_input(input_)
            # What some controls do depends on the packs in force, so these are loaded first.
            if made.agent != SHARED_AGENT and not isinstance(made.message, _ALONE):
                in_force = await with_packs(in_force, log)
            in_force = in_force.after(made, outputs)
    return in_force if is_bare else await with_packs(in_force, log)


def _without_vectors(blob: bytes) -> CompiledPack:
    """Return a pack without its vectors, as nothing is matched with it."""
    pack = from_blob(blob)
    return compile_pack(pack, [b""] * len(pack.heuristics))


# Cached, since each change of what is in force asks for the same packs again.
@lru_cache(maxsize=64)
def _of_pack(pack: CompiledPack) -> Mapping[str, Taught]:
    return _by_arm(pack.heuristics)


def _by_arm(known: Iterable[Taught]) -> Mapping[str, Taught]:
    return {heuristic_arm(each.heuristic_id, each.content_hash): each for each in known}
