"""The options of `echoic replay compare`, one by one."""

from pathlib import Path
from typing import Annotated

import typer

Sessions = Annotated[
    list[str] | None,
    typer.Argument(metavar="[SESSION|FILE]...", help="Sessions, or their files."),
]

Challengers = Annotated[
    list[str] | None,
    typer.Option(
        "--strategy",
        "-s",
        metavar="STRATEGY",
        help="A challenger: name, name:key=value, module:function or a YAML file.",
    ),
]

Baseline = Annotated[
    str | None,
    typer.Option(metavar="STRATEGY", help="Else the recorded one."),
]

Personality = Annotated[
    str | None,
    typer.Option(metavar="TEXT", help="Who the challengers are, for the model."),
]

Model = Annotated[
    str,
    typer.Option(
        help="Where a model's words come from: strict, cassette, requery or stub."
    ),
]

Asked = Annotated[
    Path | None,
    typer.Option(metavar="FILE.jsonl", help="Keeps what requery was answered."),
]

Calls = Annotated[int, typer.Option(min=0, help="How often requery may ask at most.")]

Usd = Annotated[
    float | None, typer.Option(min=0.0, help="What requery may cost at most.")
]

Since = Annotated[
    int | None,
    typer.Option("--from", metavar="SEQ", help="Before it all stays as recorded."),
]

Prefer = Annotated[str, typer.Option(help="What counts first: outcome or feedback.")]

Window = Annotated[
    float | None,
    typer.Option(metavar="SECONDS", help="How long an outcome may be waited for."),
]

Silence = Annotated[float, typer.Option(help="The value of silence, from 0 to 1.")]

Rope = Annotated[
    float | None,
    typer.Option(
        help="A difference within ± this much makes none; by default 0.02, or a tenth of"
        " the baseline's successes or failures where these are rare."
    ),
]

Report = Annotated[
    Path | None,
    typer.Option(metavar="OUT.html", help="Also write a page that stands alone."),
]

FailOn = Annotated[
    str | None,
    typer.Option(metavar="CONDITIONS", help="Exit with 1 if one holds."),
]

Jobs = Annotated[
    int | None,
    typer.Option(min=1, help="How many processes; else one a processor."),
]
