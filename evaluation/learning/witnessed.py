"""What the log itself shows of decisions, answers and fires: all that an audit knows.

None of the mind's folds is called. What is older than the recording comes from the
checkpoint it starts with.
"""

from dataclasses import dataclass

from replay.recording.recorded_groups import RecordedGroup
from replay.recording.source import Recording
from schemas.codec.catalogue import OutputMessage
from schemas.codec.envelope import Output
from schemas.messages.arms import HEURISTIC, heuristic_arm, heuristic_of
from schemas.messages.decisions import Completed, Decided, HeuristicFired
from schemas.messages.feedback import FeedbackGiven
from schemas.messages.sensing import Sensed
from schemas.state.agent import STRANGER

_MODELS = ("llm:", "race:")


@dataclass(frozen=True, slots=True)
class _WitnessedFire:
    """A fire whose action the person saw."""

    decision_id: str
    heuristic_id: str
    content_hash: str


@dataclass(frozen=True, slots=True)
class Deed:
    """A decision, as far as credit depends on it."""

    event_id: str
    source: str
    entities: frozenset[str]


class Witnessed:
    """The decisions, answers and fires read so far."""

    def __init__(self, recording: Recording) -> None:
        """Start with nothing read but the recording's checkpoint."""
        self.fires: dict[str, _WitnessedFire] = {}
        self.deeds: dict[str, Deed] = {}
        self.ended: set[str] = set()
        """The fires whose outcome was observed."""
        self.ignored: set[str] = set()
        """The fires that were counted as ignored."""
        self.liked: set[str] = set()
        """The decisions that somebody liked, or may have before the recording."""
        self._arms: dict[str, str] = {}
        """The arm that answered each decision, by its id."""
        self._suggested: set[tuple[str, str]] = set()
        """By decision and heuristic."""
        self._start = recording.start.agents.get(recording.agent, STRANGER)

    def answered(self, decision_id: str, heuristic_id: str, content_hash: str) -> bool:
        """Tell whether this content of a heuristic answered the decision."""
        arm = self._arms.get(decision_id, "")
        # In whatever voice: other words of the same answer are its own.
        is_of_one = arm.startswith(HEURISTIC)
        return is_of_one and heuristic_of(arm) == (heuristic_id, content_hash)

    def is_models(self, decision_id: str) -> bool:
        """Tell whether a model answered."""
        return self._arms.get(decision_id, "").startswith(_MODELS)

    def was_suggested(self, decision_id: str, heuristic_id: str) -> bool:
        """Tell whether a model was shown the heuristic when it answered."""
        return (decision_id, heuristic_id) in self._suggested

    def recall_of(self, message: OutputMessage) -> None:
        """Restore the decisions that a message is about, if the checkpoint has them."""
        self.recall(str(getattr(message, "decision_id", "")))
        # A vote on answers said as one names the lead alone.
        lead = self._start.decisions.get(getattr(message, "through", None) or "")
        for each in lead.batch.members if lead is not None and lead.batch else ():
            self.recall(each)

    def recall(self, id_: str) -> None:
        """Restore a decision from before the recording, if the checkpoint remembers it."""
        known = None if id_ in self.deeds else self._start.decisions.get(id_)
        if known is None:
            return
        self.deeds[id_] = Deed(known.event_id, known.source, frozenset())
        # The checkpoint does not say whether it was liked; in doubt there is no fault.
        self.liked.add(id_)
        # A checkpoint keeps the path and not the whole arm; the prefix
        # is all that `is_models` reads.
        self._arms[id_] = f"{known.path}:"
        if known.fire_id is not None:
            self._show(
                known.fire_id, id_, known.heuristic_id or "", known.content_hash or ""
            )
            if known.outcome in ("success", "fail"):
                self.ended.add(known.fire_id)
            if known.is_ignored:
                self.ignored.add(known.fire_id)

    def trust(self, given: FeedbackGiven) -> None:
        """Adopt what a vote carries about a decision that the agent has forgotten."""
        about, id_ = given.about, given.decision_id or ""
        if about is not None and about.fire_id is not None and id_ not in self.deeds:
            names = about.heuristic_id or "", about.content_hash or ""
            self._show(about.fire_id, id_, *names)

    def note(self, group: RecordedGroup, output: Output) -> None:
        """Record what one output shows."""
        match output.message:
            case Decided() as decided:
                self._decided(group, output.id, decided)
            # A race is one arm until its end, and only then is it
            # known whose words were said.
            case Completed(winner=str(winner)) as completed:
                self._arms[completed.decision_id] = winner
            case HeuristicFired(mode="shown") as fired:
                self.fires[output.id] = _WitnessedFire(
                    fired.decision_id, fired.heuristic_id, fired.content_hash
                )
            case HeuristicFired(mode="kept") as fired:
                self._show(
                    output.id, fired.decision_id, fired.heuristic_id, fired.content_hash
                )
            case HeuristicFired() as fired:
                self._suggested.add((fired.decision_id, fired.heuristic_id))
            case _:
                return

    def _decided(self, group: RecordedGroup, id_: str, decided: Decided) -> None:
        event = group.input.message
        entities = event.entities if isinstance(event, Sensed) else ()
        self.deeds[id_] = Deed(decided.event_id, decided.source, frozenset(entities))
        self._arms[id_] = decided.arm
        # False: a draw let it into the prompt. None says nothing of it; then the
        # suggestion is a fire of its own.
        self._suggested |= {
            (id_, heuristic_of(each.arm)[0])
            for each in decided.candidates
            if each.withheld is False
        }

    def _show(
        self, fire_id: str, decision_id: str, heuristic_id: str, content_hash: str
    ) -> None:
        self.fires[fire_id] = _WitnessedFire(decision_id, heuristic_id, content_hash)
        self._arms[decision_id] = heuristic_arm(heuristic_id, content_hash)
