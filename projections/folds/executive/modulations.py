"""Fold modulations of salience: suppress, heighten, habituate, focus, move the threshold."""

from datetime import datetime, timedelta

from msgspec.structs import replace

from projections.folds.fold_context import Origin
from schemas.messages.executive import SalienceModulated
from schemas.state import limits
from schemas.state.executive import EVERYBODY, Modulation, Peace
from schemas.values.unicode_text import folded

SENTIMENT = "sentiment"
"""Who asks for it, if it follows from how a person felt about a response."""

AMOUNTS = {
    "suppress": 1.0,
    "heighten": 0.3,
    "habituate": 0.5,
    "threshold": 0.3,
    "focus": 0.2,
}
"""How much each moves if nothing is said: for all but `suppress`, which lets nothing pass,
and `habituate`, a share of the event's salience, what the threshold is moved by."""


def modulated(peace: Peace, control: SalienceModulated, origin: Origin) -> Peace:
    """Return what holds the companion back after a modulation begins, or some end."""
    if control.change == "clear":
        return _cleared(peace, control.modulation_id)
    made = _modulation(control, origin)
    kept = tuple(
        each
        for each in peace.modulations
        if _subject(each) != _subject(made) and not _is_over(each, origin.at)
    )
    return replace(peace, modulations=(*kept, made)[-limits.MODULATIONS :])


def _is_over(modulation: Modulation, now: datetime) -> bool:
    """Tell whether a modulation has lapsed."""
    return modulation.until is not None and modulation.until <= now


def is_known(peace: Peace, id_: str) -> bool:
    """Tell whether there is a modulation or a restraint of this id."""
    return any(each.id == id_ for each in peace.modulations) or any(
        each.id == id_ for each in peace.restraints
    )


def described(control: SalienceModulated) -> str:
    """Return in words what a modulation changes, without the topic's own words."""
    if control.change == "clear":
        return "cleared"
    seconds = f" for {control.for_s:g} s" if control.for_s else " until cleared"
    amount = AMOUNTS[control.change] if control.amount is None else control.amount
    how = f" {amount:+g}" if control.change != "suppress" else ""
    once = ", once" if control.once else ""
    return f"{control.change}{how}{seconds}{once}"


def _cleared(peace: Peace, id_: str | None) -> Peace:
    """Return the state without what this id made; with None, without anything of it."""
    return replace(
        peace,
        modulations=tuple(
            each for each in peace.modulations if id_ not in (None, each.id)
        ),
        restraints=tuple(
            each for each in peace.restraints if id_ not in (None, each.id)
        ),
    )


def _subject(modulation: Modulation) -> tuple[str, ...]:
    """Return what a modulation is about: a later one of the same takes its place."""
    kind: str = modulation.change
    if kind in ("suppress", "heighten"):
        kind = "watch"
    return (
        # What a rule makes takes the place of nothing that a person asked for.
        SENTIMENT if modulation.by == SENTIMENT else kind,
        modulation.person,
        folded(modulation.about),
        modulation.source or "",
        modulation.type or "",
    )


def _modulation(control: SalienceModulated, origin: Origin) -> Modulation:
    assert control.change != "clear"
    about = control.about or ""
    until = None
    if control.for_s is not None:
        until = origin.at + timedelta(seconds=control.for_s)
    usual = AMOUNTS[control.change]
    return Modulation(
        id=origin.id,
        change=control.change,
        person=control.person or EVERYBODY,
        by=control.by,
        amount=usual if control.amount is None else control.amount,
        since=origin.at,
        until=until,
        about=about,
        vector=(origin.aids.of(about) or b"") if about else b"",
        source=control.source,
        type=control.type,
        once=control.once,
    )
