"""What a character's layer changed of its plan or its aims, in words."""

from pydantic import ValidationError

from projections.folds.characters.plans import described
from schemas.messages.characters import AimsSet, PlanSet
from schemas.messages.notes import ControlInferred

_CONTROLS: dict[str, type[AimsSet | PlanSet]] = {
    AimsSet.token: AimsSet,
    PlanSet.token: PlanSet,
}


def changed(inferred: ControlInferred) -> str | None:
    """Return what is planned or aimed at from here; None if it is about neither."""
    known = _CONTROLS.get(inferred.control)
    if known is None:
        return None
    if inferred.after:
        return inferred.after
    try:
        control = known.from_fields(inferred.fields)
    # A newer program's may have more than this one knows.
    except ValidationError:
        return "something else"
    told = _planned(control) if isinstance(control, PlanSet) else _aimed(control)
    return "; ".join(told) or "nothing"


def _planned(control: PlanSet) -> list[str]:
    told = [f"plans {described(each)}" for each in control.tasks or ()]
    return told + [f"means to build {each.building}" for each in control.builds or ()]


def _aimed(control: AimsSet) -> list[str]:
    told = [f"is after {each.text}" for each in control.aims or ()]
    weights = control.priorities or {}
    if weights:
        shown = ", ".join(f"{name} {weights[name]:g}" for name in sorted(weights))
        told.append(f"values {shown}")
    return told
