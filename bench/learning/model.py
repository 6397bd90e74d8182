"""The scripted model: it gives good advice most of the time.

Every answer is a keyed draw on the decision it is asked for, so that the same game gets
the same answers. It is worse at making rules: some have no test, and some are missing.
"""

from dataclasses import dataclass

import orjson

from bench.learning.truth import WORDINGS, Deed, case_of
from schemas.messages.sensing import Sensed
from schemas.values.ids import draw


@dataclass(frozen=True, slots=True, kw_only=True)
class ScriptedModel:
    """How good a model is; all are probabilities."""

    seed: str = "m"
    """The key of its draws."""
    knows: float = 0.8
    """That its advice is good; else it is good advice of another situation."""
    careless: float = 0.2
    """That a rule of its making has no test of the event's fields."""
    lost: float = 0.1
    """That it sends no rule at all."""

    def answer(self, event: Sensed, decision_id: str) -> str:
        """Return what it says of an event, in the form that the prompt asks for."""
        deed = self._deed(event, decision_id)
        text = "" if deed is None else self._worded(deed, decision_id)
        fields = {
            "response": text,
            "predicted_success": 0.7,
            "prediction_confidence": 0.6,
        }
        return orjson.dumps(fields).decode()

    def rule(self, event: Sensed, said: str, decision_id: str) -> str:
        """Return the rule behind an answer, in the form that the prompt asks for."""
        case = case_of(event)
        if case is None or self._draw(decision_id, "lost") < self.lost:
            return "It depends."
        is_careless = self._draw(decision_id, "careless") < self.careless
        fields = {
            "condition": case.condition,
            "type": "warn" if "damage" in event.type else "suggest",
            "message": said,
            "when": None if is_careless else case.when,
            "time": None,
        }
        return orjson.dumps(fields).decode()

    def _deed(self, event: Sensed, decision_id: str) -> Deed | None:
        case = case_of(event)
        good = case.deed if case else None
        if self._draw(decision_id, "knows") < self.knows:
            return good
        # Advice that is good elsewhere, so that a mistake is worded like any other answer.
        others = [deed for deed in WORDINGS if deed != good]
        return others[int(self._draw(decision_id, "other") * len(others))]

    def _worded(self, deed: Deed, decision_id: str) -> str:
        texts = WORDINGS[deed]
        return texts[int(self._draw(decision_id, "words") * len(texts))]

    def _draw(self, decision_id: str, purpose: str) -> float:
        return draw(self.seed, "model", decision_id, purpose)
