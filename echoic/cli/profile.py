"""`echoic profile`: how people want to be addressed."""

from echoic.cli.connected import known_at, on_instance, send
from echoic.cli.options import Call, new_app
from echoic.client.connection import Connection
from echoic.errors import EchoicError
from schemas.messages.controls import ProfileSet

app = new_app("profile", "How people want to be addressed: show, set.")

_EXAMPLE = 'echoic profile set ada --name "Ada Byron"'


@app.command()
def show(call: Call) -> None:
    """Show what each person is called, and in which language.

    Example: `echoic profile show`.
    """

    async def run(connection: Connection) -> list[dict[str, str]]:
        known = (await known_at(connection)).agent.executive.memory.profiles
        return [
            {
                "person": person,
                "name": known[person].name,
                "address": known[person].address,
                "language": known[person].language,
            }
            for person in known.sorted_keys()
        ]

    rows = on_instance(call, run)
    header = ("person", "name", "addressed as", "language")
    call.show_rows(rows, header, map(dict.values, rows), f"no profiles yet: {_EXAMPLE}")


@app.command(name="set")
def set_(
    call: Call,
    person: str,
    name: str | None = None,
    address: str | None = None,
    language: str | None = None,
) -> None:
    """Say how a person wants to be addressed; what is not named stays as it was.

    A model is told so when it answers that person.

    Examples: `echoic profile set ada --name "Ada Byron" --address Countess`, `echoic
    profile set ada --language de`.

    Args:
        person: Whose profile it is.
        name: The person's name; "" for none.
        address: How the person is to be addressed; "" for none.
        language: As a language tag, such as en or de.
    """
    control = ProfileSet(
        person=person, name=name, address=address, language=language
    ).checked()
    told = control.as_fields()
    del told["person"], told["biases"]
    if not told:
        raise EchoicError("nothing is said of the person", next_step=_EXAMPLE)
    send(call, control)
    words = ", ".join(f"{field} {value}" for field, value in told.items())
    call.show({"person": person, **told}, [f"{person}: {words}"])
