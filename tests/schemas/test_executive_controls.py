"""Controls of the executive, as programs write them."""

import pytest
from msgspec import structs
from pydantic import ValidationError

from schemas.messages import executive
from schemas.messages.executive import OfPerson

NUMBERS: list[tuple[type[OfPerson], str, dict[str, object]]] = [
    (executive.Muted, "for_s", {}),
    (executive.ContextSwitched, "for_s", {"context": "work"}),
    (executive.SalienceModulated, "for_s", {"change": "threshold"}),
    (executive.SalienceModulated, "amount", {"change": "threshold"}),
    (executive.UserStateChanged, "sentiment", {}),
    (executive.TraitAdjusted, "by_amount", {"trait": "humor"}),
    (executive.TraitAdjusted, "for_s", {"trait": "humor"}),
    (executive.ReminderSet, "in_s", {"text": "tea"}),
    (executive.OutputRequested, "ttl_s", {"text": "Tea is ready."}),
]


@pytest.mark.parametrize(("control", "field", "others"), NUMBERS)
@pytest.mark.parametrize("value", [True, False])
def test_true_is_no_number(
    control: type[OfPerson], field: str, others: dict[str, object], value: bool
) -> None:
    """To Python it is 1, and a quiet of one second is what nobody asked for."""
    assert getattr(control.from_fields({**others, field: 1}), field) == 1.0
    with pytest.raises(ValidationError, match="a number is wanted"):
        control.from_fields({**others, field: value})


def test_every_number_is_tried() -> None:
    """One that is added is added here."""
    tried = {(control, field) for control, field, _ in NUMBERS}
    declared = {
        (control, field.name)
        for control in OfPerson.__subclasses__()
        for field in structs.fields(control)
        if "float" in str(field.type)
    }
    assert tried == declared
