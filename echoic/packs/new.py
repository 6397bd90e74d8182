"""A new pack: a manifest that works, with one heuristic and a test of it."""

from pathlib import Path

from echoic.errors import EchoicError
from echoic.packs.load import MANIFEST

_MANIFEST = """\
# What this companion knows of NAME: docs/packs.md explains each key.
# Checked by `echoic pack validate FOLDER`, tested by `echoic pack test FOLDER`.
schema: 1
name: NAME
version: 0.1.0
setting: other

executive:
  domain_context: |
    Say here, for a model, where it is and what counts.

events:
  - {type: door_opened, source: door, salience: {actionability: 0.8}}

heuristics:
  - name: door-open
    condition: The door stands open
    when: type = "door_opened" and minutes >= 5
    action: {type: suggestion, text: The door is still open.}
    confidence: 0.8

skills:
  - name: details
    kind: domain
    lines:
      - {when: type = "door_opened", texts: ["{text} It has been {minutes} minutes."]}
"""

_TESTS = """\
# Events in, expected decisions out: `echoic pack test FOLDER`.
- name: a door that stays open is spoken of
  event:
    {text: The door stands open, source: door, type: door_opened, fields: {minutes: 7}}
  expect:
    heuristic: door-open
    text: The door is still open. It has been 7 minutes.
    skills: [NAME/details@1]

- name: a door that was just opened is nobody's business
  event:
    {text: The door stands open, source: door, type: door_opened, fields: {minutes: 1}}
  expect: {silence: true}
"""


def write(folder: Path, name: str) -> tuple[Path, ...]:
    """Write a new pack of that name to a folder that must not exist; return its files.

    Raises:
        EchoicError: there is something already.
    """
    if folder.exists():
        raise EchoicError(
            f"{folder} is there already", next_step=f"echoic pack validate {folder}"
        )
    written = {folder / MANIFEST: _MANIFEST, folder / "tests" / "first.yaml": _TESTS}
    for file, text in written.items():
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_text(text.replace("NAME", name))
    return tuple(written)
