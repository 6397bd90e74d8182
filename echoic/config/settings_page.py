"""The generated page of all settings, made from the options themselves."""

from echoic.config.option import Option
from echoic.config.options import OPTIONS

_INTRODUCTION = """\
# Settings

A setting comes from the first of these that names it: a flag, an environment variable,
`./echoic.toml`, `$XDG_CONFIG_HOME/echoic/config.toml`, the default. In a file a dot stands
for a table: `threshold` is a key at the top, `model.name` is `name` under `[model]`.
`echoic config show --origin` prints what is in force and where it came from.
What shapes the mind is recorded in the log when an instance starts; a replay reads it
from there. `ECHOIC_DEBUG=1` lets tracebacks through, `NO_COLOR` switches colours off.
What may hold a password can also come by a file: `NATS_URL_FILE=/run/secrets/nats_url`, and
so for each variable below that is marked with †.

What is marked ‡ runs a program, loads files, sends data or keys, or opens a port. From
`./echoic.toml` it counts only in a folder that you trust: `echoic config trust` says so of the
current one, until the file changes. Else a notice names what does not count.

This page is generated: `make docs` writes it, `make check` compares it.

| setting | variables | default | meaning |
|---|---|---|---|
"""


def render() -> str:
    """Return the whole page."""
    return _INTRODUCTION + "".join(row(option) for option in OPTIONS)


def row(option: Option) -> str:
    """Return the line of one setting."""
    mark = " †" if option.secret else ""
    variables = "<br>".join(f"`{name}`{mark}" for name in option.variables)
    name = f"`{option.name}`" + (" ‡" if option.needs_trust else "")
    return f"| {name} | {variables} | {_default(option)} | {option.told()} |\n"


def _default(option: Option) -> str:
    # The option's default is None, as the real one depends on the environment.
    if option.name == "data":
        return "`~/.local/share/echoic/default`"
    empty = option.default is None or option.default in ("", (), {})
    return "" if empty else f"`{option.default}`"
