"""A comparison of personalities: facts only, for another voice is another arm.

What was said in one voice tells nothing of how it would have gone in another, so no
recording supports a value of it. A live experiment does.
"""

from typing import Any

REASON = {
    "code": "voice_is_another_arm",
    "detail": "the same answer in another voice is another arm: what came of the one says"
    " nothing of the other, so there are facts and no value; a live experiment tells"
    " (echoic ab start)",
}

_UNTOLD = ("ips", "snips", "dr", "dm", "se", "ci", "p_value")


def silence(estimate: dict[str, Any]) -> None:
    """Take every value out of an estimate, and say why."""
    for part in ("target", "difference"):
        for name in _UNTOLD:
            if name in estimate[part]:
                estimate[part][name] = None
    difference = estimate["difference"]
    if difference["verdict"] != "INVALID":
        difference["verdict"] = "NOT_ENOUGH_OVERLAP"
        difference["reasons"] = [REASON]
