"""An autonomous character's parts for programs, under the names of the source design.

What a running character does by itself, each part does here without an instance, by the same
functions: ask a model what to do next, remember episodes, cache routines (the source design's
skills). Stores hold nothing but plain values, which are theirs to read: `memory.known`,
`skills.routines`.
"""

from collections.abc import Callable, Sequence
from datetime import UTC, datetime

from immutables import Map
from msgspec import Struct
from msgspec.structs import replace

from echoic.errors import EchoicError
from handlers.effects.model_chain import ask_models
from handlers.effects.models import LiteLLM, Model
from handlers.mind.characters import replies
from handlers.mind.characters.autonomous import asking, prompt, reflecting, reply
from handlers.mind.characters.autonomous.reply import Choice
from handlers.mind.reply import reading
from handlers.mind.stages.prompts import request_hash
from projections.folds.characters import episodes, retrospects, situations
from projections.folds.characters.situations import Surroundings
from schemas.messages.asks import ModelAsked
from schemas.messages.learning import InsightFormed
from schemas.messages.results import ModelFailed
from schemas.packs.autonomous import Autonomous
from schemas.state.autonomy import UNDECIDED, Act, Autonomy, Routine
from schemas.values.bounded_map import EMPTY
from schemas.values.model_settings import ModelSettings


class NoChoiceError(EchoicError):
    """The model gave no answer, or none that can be read; a character acts by chance then."""


class ActionContext(Struct, frozen=True, kw_only=True):
    """What the character finds itself in: the source design's `DecisionContext`."""

    fsm_state: str
    position: tuple[float, ...] = ()
    """Metres, by axis."""
    nearby_objects: tuple[str | dict[str, str], ...] = ()
    """Names, or `{name, tag}`; the nearest first."""
    recent_actions: tuple[Act, ...] = ()
    """Oldest first; the model is told the last five."""

    @property
    def here(self) -> Surroundings:
        """The surroundings, as a body's report is read."""
        return situations.surroundings_of(
            self.fsm_state, list(self.position), list(self.nearby_objects)
        )

    def situation(self, how: Autonomous) -> str:
        """Return the pattern of the situation, `idle + near_bench + walked_recently`."""
        return situations.fingerprint(how, self.here, self.recent_actions)


class AIDecisionConnector:
    """Asks a model what a character does next."""

    def __init__(
        self,
        how: Autonomous,
        model: ModelSettings,
        *,
        agent: str = "golem",
        endpoint: str | None = None,
        client: Callable[[str | None], Model] = LiteLLM,
    ) -> None:
        """Ask for a character as its pack describes it; `client` reaches an endpoint."""
        self._how, self._model, self._agent = how, model, agent
        self._client = client
        self._port = client(endpoint)

    def set_endpoint(self, url: str | None) -> None:
        """Ask at another address from here, an Ollama's for example; None: the provider's."""
        self._port = self._client(url)

    def set_model(self, name: str) -> None:
        """Ask another model from here, as litellm names it: `ollama/qwen2.5:3b`."""
        self._model = self._model.model_copy(update={"name": name})

    async def close(self) -> None:
        """Close the connections to models; call it before the event loop ends."""
        await self._port.close()

    async def query(
        self, context: ActionContext, memories: Sequence[Act] = ()
    ) -> Choice:
        """Return what the model chose, and why it is of no use if it is not.

        What cannot be read is asked once more with the error.

        Raises:
            NoChoiceError: the model failed, or could not be read twice.
        """
        fault = ""
        for _ in range(2):
            text = await self._ask(context, memories, fault)
            try:
                return reply.read(text, self._how, context.here, context.recent_actions)
            except replies.Unreadable as error:
                fault = str(error)
        raise NoChoiceError(f"the model could not be read twice: {fault}")

    async def _ask(
        self, context: ActionContext, memories: Sequence[Act], fault: str
    ) -> str:
        system = prompt.system(self._agent, self._how)
        words = prompt.prompt(
            self._how,
            context.here,
            context.recent_actions,
            remembered=memories,
            fault=fault,
        )
        within_s = self._model.deadline_s
        asked = ModelAsked(
            purpose="autonomous",
            decision_id="query",
            priority=0.0,
            expires_at=datetime.now(UTC),
            ttl_s=within_s,
            model=self._model.name,
            system=system,
            prompt=words,
            temperature=self._model.temperature,
            max_tokens=self._model.max_tokens,
            deadline_s=within_s,
            channel="act",
            response_type="observation",
            request_hash=request_hash(self._model, system, words),
        )
        received = await ask_models(
            self._port, "query", asked, within_s=within_s, headers={}
        )
        result = reading.understood(received)
        if isinstance(result, ModelFailed):
            raise NoChoiceError(f"the model failed ({result.reason}): {result.detail}")
        return result.text


class MemoryStore:
    """Episodes of a character: the latest 200, and the insights that it drew from them."""

    def __init__(self, how: Autonomous, known: Autonomy = UNDECIDED) -> None:
        """Go on from what is known."""
        self._how = how
        self.known = known

    def add_episode(self, entry: Act) -> None:
        """Remember an action that ended; its importance is found by what came before it."""
        known = episodes.remembered(self.known, self._how, replace(entry, outcome=None))
        if entry.outcome is not None:
            known = episodes.ended(known, entry.outcome, entry.error)
        self.known = known

    def retrieve_top_k(
        self, context: ActionContext, k: int = asking.TOP, now: datetime | None = None
    ) -> tuple[Act, ...]:
        """Return the episodes worth most by age, importance and likeness; best first."""
        all_ = (*self.known.insights, *self.known.acts)
        at = now or datetime.now(UTC)
        return asking.recalled(all_, context.situation(self._how), at, k)

    def trigger_reflection(
        self, context: ActionContext, now: datetime | None = None
    ) -> str:
        """Look back by rules now, and remember what that finds; return it.

        A running character looks back with its model: `echoic reflect`. Empty if nothing
        was done since the last time.
        """
        since = retrospects.unreflected(self.known)
        if not since:
            return ""
        message = InsightFormed(
            of="reflection",
            cause="asked",
            by="rules",
            until=since[-1].decision_id,
            actions=len(since),
            text=reflecting.by_rules(since),
        )
        at = now or datetime.now(UTC)
        self.known = retrospects.found(self.known, self._how, context.here, message, at)
        return message.text


class SkillLibrary:
    """Routines of a character by situation: what worked there, and how often."""

    def __init__(self, how: Autonomous, routines: Map[str, Routine] = EMPTY) -> None:
        """Go on from known routines."""
        self._how = how
        self.routines = routines

    def match(self, context: ActionContext) -> Routine | None:
        """Return the routine that is done here without a model; None if none is trusted.

        Trusted is what was done three times, with success in over .7 of them.
        """
        routine = self.routines.get(context.situation(self._how))
        is_trusted = routine is not None and episodes.is_trusted(
            routine, self._how.routines
        )
        return routine if is_trusted else None

    def store(self, situation: str, action: str, target: str | None = None) -> None:
        """Keep what worked in a situation, as done once; of fifty the worst makes room."""
        self.routines = episodes.stored(self.routines, situation, action, target)

    def update_success_rate(self, situation: str, *, succeeded: bool) -> None:
        """Count one more use of the routine there; if there is none nothing is counted."""
        routine = self.routines.get(situation)
        if routine is not None:
            counted = episodes.counted(routine, succeeded=succeeded)
            self.routines = self.routines.set(situation, counted)

    def prune_failed_skills(self) -> tuple[str, ...]:
        """Remove what succeeded in under .3 of five uses or more; return where."""
        gone = tuple(
            each
            for each in sorted(self.routines)
            if episodes.has_failed(self.routines[each], self._how.routines)
        )
        for each in gone:
            self.routines = self.routines.delete(each)
        return gone
