"""What may not be told: values that gates hold back, and those of another personality.

What was said in one voice tells nothing of how it would have gone in another, so no
recording supports a value of it. A live experiment does.
"""

from typing import Any

VOICE = {
    "code": "voice_is_another_arm",
    "detail": "the same answer in another voice is another arm: what came of the one says"
    " nothing of the other, so there are facts and no value; a live experiment tells"
    " (echoic ab start)",
}

_VALUES = ("ips", "snips", "dr", "dm", "se", "ci", "p_value")


def without_values(estimate: dict[str, Any]) -> None:
    """Take out of an estimate whatever its gates hold back; the bounds stay."""
    for part in ("target", "difference"):
        for name in _VALUES:
            if name in estimate[part]:
                estimate[part][name] = None


def silence(estimate: dict[str, Any]) -> None:
    """Take every value out of an estimate, and say that another voice is why."""
    without_values(estimate)
    difference = estimate["difference"]
    if difference["verdict"] != "INVALID":
        difference["verdict"] = "NOT_ENOUGH_OVERLAP"
        difference["reasons"] = [VOICE]
