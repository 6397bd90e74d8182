"""What may not be told of another personality.

What was said in one voice tells nothing of how it would have gone in another, so no
recording supports a value of it. A live experiment does.
"""

from typing import Any

from evaluation.ope.results import VALUES

VOICE = {
    "code": "voice_is_another_arm",
    "detail": "the same answer in another voice is another arm: what came of the one says"
    " nothing of the other, so there are facts and no value; a live experiment tells"
    " (echoic ab start)",
}


def silence(estimate: dict[str, Any]) -> None:
    """Take every value out of an estimate, and say that another voice is why."""
    for part in ("target", "difference"):
        estimate[part] |= {name: None for name in VALUES if name in estimate[part]}
        estimate[part]["withheld"] = True
    difference = estimate["difference"]
    if difference["verdict"] != "INVALID":
        difference["verdict"] = "NOT_ENOUGH_OVERLAP"
        difference["reasons"] = [VOICE]
