"""`echoic schema`: messages and subjects as documents."""

from importlib.metadata import version
from typing import Annotated

import typer

from echoic.cli.options import new_app
from echoic.docs_pages.asyncapi import asyncapi, json_schema
from echoic.docs_pages.events import render
from echoic.doors.engines import messages as engine_messages
from echoic.terminal.output import print_json

app = new_app("schema", "Messages and subjects, for programs.")


@app.command()
def schema(
    subjects: Annotated[bool, typer.Option("--asyncapi")] = False,
    markdown: bool = False,
    engines: bool = False,
) -> None:
    """Print the JSON Schema of every message.

    Examples: `echoic schema > messages.json`, `echoic schema --asyncapi`.

    Args:
        subjects: An AsyncAPI 3 document of the subjects.
        markdown: The page docs/events.md.
        engines: The JSON Schema of what game engines and `echoic bridge` say.
    """
    if markdown:
        print(render(), end="")
    elif engines:
        print_json(engine_messages.schema())
    elif subjects:
        print_json(asyncapi(version("echoic")))
    else:
        print_json(json_schema())
