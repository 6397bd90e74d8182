"""Which of several names is meant: the very one, else the only one that begins so.

A name that begins another's is never taken for it, whoever asks and for what.
"""

from collections.abc import Iterable

from schemas.values.unicode_text import quoted

_LISTED = 12
"""Names that an error lists at most."""


class NamingError(LookupError):
    """What was named is not there, or may be several."""


class UnknownNameError(NamingError):
    """Nothing is called so, and no name begins so."""


class AmbiguousNameError(NamingError):
    """Several names begin so, and none is it."""


def meant(given: str, known: Iterable[str], kind: str) -> str:
    """Return the name that is meant by `given`, of what people call `kind`.

    Raises:
        UnknownNameError: there is none.
        AmbiguousNameError: several begin so; the message lists them.
    """
    names = list(dict.fromkeys(known))
    if given in names:
        return given
    # Each name begins with nothing, so that nothing means none of them.
    fits = [name for name in names if name.startswith(given)] if given else names
    if len(fits) == 1 and given:
        return fits[0]
    if fits:
        raise AmbiguousNameError(
            f"{len(fits)} {kind}s begin with {quoted(given)}, and none is called so:"
            f" {listed(fits)}"
        )
    raise UnknownNameError(f"there is no {kind} {quoted(given)}{_near(given, names)}")


def listed(names: Iterable[str]) -> str:
    """Return names in one line, the first of many."""
    every = list(names)
    return ", ".join(every[:_LISTED]) + (" …" if len(every) > _LISTED else "")


def _near(given: str, names: Iterable[str]) -> str:
    # Only errors need it, so that other commands start without.
    from difflib import get_close_matches

    close = get_close_matches(given, sorted(names), n=1)
    return f": did you mean {quoted(close[0])}?" if close else ""
