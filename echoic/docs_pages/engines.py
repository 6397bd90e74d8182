"""The JSON Schema of what game engines and the bridge say, as a file for programs."""

import json

from echoic.doors.engines import messages


def render() -> str:
    """Return the file."""
    return json.dumps(messages.schema(), indent=1, ensure_ascii=False) + "\n"
