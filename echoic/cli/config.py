"""`echoic config`: the settings in force, and where each came from."""

from echoic.cli.options import Call, new_app
from echoic.config.load import shown
from echoic.config.options import OPTIONS

app = new_app("config", "The settings and where they come from.")


@app.callback()
def _group() -> None:
    """The settings and where they come from."""


@app.command()
def show(call: Call, origin: bool = False) -> None:
    """Show every setting.

    Examples: `echoic config show --origin`, `ECHOIC_THRESHOLD=0.6 echoic config show`.

    Args:
        origin: Say where each value came from.
    """
    settings = call.settings
    values = {option.name: shown(settings, option) for option in OPTIONS}
    rows = [(name, _text(values[name]), settings.origins[name]) for name in values]
    fields = {"settings": values, "origins": dict(settings.origins)}
    header = ("setting", "value", "from") if origin else ("setting", "value")
    if call.as_json:
        call.show(fields, ())
    else:
        cells = [row[: len(header)] for row in rows]
        call.show_rows(rows, header, cells)


def _text(value: object) -> str:
    # Zero and False are values; only what is empty is shown as none.
    if value is None or value in ("", (), {}):
        return "-"
    if isinstance(value, tuple):
        return "; ".join(value)
    if isinstance(value, dict):
        return "; ".join(f"{name}={number:g}" for name, number in value.items())
    return str(value)
