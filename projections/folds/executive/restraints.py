"""Fold mutes: quiet or mute, for everybody or one person, for a time or until taken back.

A quiet that lapsed by itself is kept for ten minutes more, in which an event must matter
more than usual.
"""

from datetime import datetime, timedelta

from msgspec.structs import replace

from projections.folds.fold_context import Origin
from schemas.messages.executive import Muted
from schemas.state import limits
from schemas.state.executive import EVERYBODY, Peace, Restraint

QUIET_S = 600.0
"""For how long quiet lasts if nothing else is said."""
AFTER_QUIET_S = 600.0
"""For how long after a quiet that lapsed an event must matter more than usual."""


def muted(peace: Peace, control: Muted, origin: Origin) -> Peace:
    """Return what holds the companion back after quiet or mute begins or ends."""
    kept = tuple(
        each
        for each in peace.restraints
        if not _is_replaced(each, control) and not _is_over(each, origin.at)
    )
    if not control.off:
        began = _restraint(control, origin)
        kept = (*kept, began)[-limits.RESTRAINTS :]
    return replace(peace, restraints=kept)


def _is_over(restraint: Restraint, now: datetime) -> bool:
    """Tell whether nothing follows from a restraint any more."""
    if restraint.until is None:
        return False
    after_s = AFTER_QUIET_S if restraint.mode == "quiet" else 0.0
    return (now - restraint.until).total_seconds() >= after_s


def lasts_s(control: Muted) -> float | None:
    """Return for how many seconds a mute lasts; None: until it is taken back."""
    return control.for_s or (QUIET_S if control.mode == "quiet" else None)


def described(control: Muted) -> str:
    """Return in words what a mute changes."""
    whom = f" for {control.person}" if control.person else ""
    seconds = lasts_s(control)
    if control.off:
        return f"{control.mode} no longer{whom}"
    if seconds is None:
        return f"{control.mode}{whom} until taken back"
    return f"{control.mode}{whom} for {seconds:g} s"


def _is_replaced(restraint: Restraint, control: Muted) -> bool:
    """Tell whether the control ends a restraint, or says the same anew."""
    is_same = restraint.person == (control.person or EVERYBODY)
    # Taken back for nobody in particular, it is taken back for all.
    is_meant = is_same or (control.off and control.person is None)
    return is_meant and restraint.mode == control.mode


def _restraint(control: Muted, origin: Origin) -> Restraint:
    seconds = lasts_s(control)
    return Restraint(
        id=origin.id,
        person=control.person or EVERYBODY,
        mode=control.mode,
        by=control.by,
        since=origin.at,
        until=None if seconds is None else origin.at + timedelta(seconds=seconds),
    )
