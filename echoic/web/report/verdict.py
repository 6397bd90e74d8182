"""The verdict's card and the checks that it rests on: what a reader sees first.

Its rule: whoever reads only this is not misled; it needs no colour and no script.
"""

from itertools import takewhile

from echoic.web.report.figures import Effect, around_zero, effect_bar, zero_axis
from echoic.web.report.format import (
    capitalised,
    counted,
    gate_name,
    gate_sign,
    interval,
    label,
    number,
    percent,
    signed,
    strategy_name,
    verdict_sign,
)
from echoic.web.report.html_builder import (
    NOTHING,
    Content,
    Fields,
    Html,
    el,
    join,
    prose,
    said,
)
from echoic.web.report.marks import light
from evaluation.ope.verdicts import CLAIMS

_SHOWN = 300
"""How many characters of a difference between two outputs are shown on either side."""


def card(document: Fields, comparison: Fields) -> Html:
    """The verdict in words, its number if there is one, and what to do next."""
    sign = verdict_sign(comparison["verdict"])
    short = comparison.get("short_term_only") and comparison["verdict"] in CLAIMS
    return el(
        "section",
        el("p", "Verdict", class_="eyebrow"),
        el(
            "h2",
            el("span", sign.symbol, class_="symbol", aria_hidden="true"),
            sign.words,
            el("span", "short-term only", class_="chip") if short else None,
        ),
        el(
            "div",
            el(
                "div",
                el("p", *_claim(document, comparison), class_="claim"),
                said(comparison.get("estimand") or "", "estimand"),
                _reasons(comparison),
                _next(comparison),
            ),
            _effect(comparison),
            class_="beside",
        ),
        _key_figures(document, comparison),
        class_=f"card verdict {sign.tone}",
        aria_label=f"Verdict: {sign.words}",
    )


def checks(document: Fields, comparison: Fields) -> Html:
    """What was checked before anything was claimed."""
    gates = _difference(comparison).get("gates") or ()
    rows = [_gate_row(gate) for gate in gates]
    if not any(gate["name"] == "self_replay" for gate in gates):
        rows.insert(0, _self_replay_row(document))
    heads = ("", "Check", "Value", "Limit", "What it says")
    return el(
        "section",
        el("h3", "Checks"),
        el(
            "table",
            el("thead", el("tr", *(el("th", head, scope="col") for head in heads))),
            el("tbody", *rows),
            class_="gates stacked",
        ),
        _divergence(document),
        class_="card",
    )


def effect_of(comparison: Fields) -> Effect:
    """The difference that the verdict is about."""
    difference = _difference(comparison)
    return Effect(
        difference.get("dr"),
        difference.get("ci"),
        difference.get("bounds"),
        verdict_sign(comparison["verdict"]).tone,
    )


def _difference(comparison: Fields) -> Fields:
    difference: Fields = (comparison.get("estimate") or {}).get("difference") or {}
    return difference


def _claim(document: Fields, comparison: Fields) -> tuple[Content, ...]:
    """The verdict as a sentence about these two strategies."""
    ours = el("b", strategy_name(comparison["challenger"]), class_="b")
    theirs = el("b", strategy_name(document["baseline"]), class_="a")
    match comparison["verdict"]:
        case "BETTER":
            return ours, " would have done better than ", theirs, "."
        case "WORSE":
            return ours, " would have done worse than ", theirs, "."
        case "EQUIVALENT":
            return ours, " would have done as well as ", theirs, "."
        case "INCONCLUSIVE":
            return "The recording does not tell ", ours, " from ", theirs, "."
        case "NOT_ENOUGH_OVERLAP":
            return (
                "The recording holds too little of what ", ours, " would have done",
                " to compare it with ", theirs, ".",
            )  # fmt: skip
        case "INVALID":
            return (
                "A check failed on which everything else rests. No number below says"
                " anything about ", ours, " or ", theirs, ".",
            )  # fmt: skip
        case other:
            return ours, " beside ", theirs, f": {label(other)}."


def _effect(comparison: Fields) -> Html:
    effect = effect_of(comparison)
    nothing = effect.value is None and effect.bounds is None
    if comparison["verdict"] == "INVALID" or nothing:
        return NOTHING
    scale = around_zero([effect])
    if effect.value is not None:
        size = signed(effect.value, "share")
        told = f"95 % interval {interval(effect.ci, 'share')}" if effect.ci else ""
    else:
        size = interval(effect.bounds, "share")
        told = "bounds; no value can be given"
    return el(
        "figure",
        el("p", "Difference in success", class_="eyebrow"),
        el("p", size, class_="size" if effect.value is not None else "size wide"),
        el("p", told, class_="quiet"),
        zero_axis(scale),
        effect_bar(effect, scale),
        class_="effect",
    )


def _key_figures(document: Fields, comparison: Fields) -> Html:
    sessions = document.get("sessions") or ()
    decisions = sum(session["decisions"] for session in sessions)
    asked = sum(session["asked"] for session in sessions)
    flips = comparison.get("flips_total") or 0
    outcome = document.get("outcome") or {}
    known, unknown = outcome.get("known") or 0, outcome.get("unknown") or 0
    replay = document.get("self_replay") or {}
    holm = comparison.get("holm")
    figures = [
        ("Sessions", number(len(sessions)), None),
        ("Decisions", number(decisions), None),
        ("They differ", number(flips), f"of {asked:,} asked"),
        ("Outcomes known", number(known),
         percent(known / (known + unknown)) if known + unknown else None),
        ("Self-replay", f"{replay.get('identical', 0):,} of {replay.get('total', 0):,}",
         "identical"),
    ]  # fmt: skip
    if holm:
        figures.append(
            ("p, adjusted", number(holm["adjusted"]), f"raw {number(holm['p'])}")
        )
    return el(
        "dl",
        *(
            el(
                "div",
                el("dt", name),
                el("dd", value, el("small", note) if note else None),
            )
            for name, value, note in figures
        ),
        class_="figures",
    )


def _reasons(comparison: Fields) -> Content:
    reasons = comparison.get("reasons") or ()
    if not reasons:
        return None
    return join([
        el("h3", "Why"),
        el("ul", *(_reason(reason) for reason in reasons), class_="reasons"),
    ])  # fmt: skip


def _reason(reason: Fields) -> Html:
    detail = prose(capitalised(reason.get("detail") or ""))
    return el("li", detail, " ", el("code", reason["code"], class_="machine"))


def _next(comparison: Fields) -> Content:
    steps = comparison.get("next") or ()
    if not steps:
        return None
    return join([
        el("h3", "What to do next"),
        el("ul", *(el("li", prose(capitalised(step))) for step in steps), class_="next"),
    ])  # fmt: skip


def _gate_row(gate: Fields) -> Html:
    return _row(
        gate["status"],
        gate_name(gate["name"]),
        number(gate.get("value")),
        number(gate.get("limit")),
        prose(gate.get("detail") or ""),
    )


def _self_replay_row(document: Fields) -> Html:
    replay = document.get("self_replay") or {}
    status = "ok" if replay.get("is_identical") else "invalid"
    total = replay.get("total", 0)
    said_of = "The recorded strategy, asked again, gives what was recorded."
    if status != "ok":
        said_of = "The recorded strategy, asked again, gives something else."
    differ = replay.get("odds_differ") or 0
    if differ:
        said_of += f" Its logged odds differ in {counted(differ, 'decision')}."
    value = f"{replay.get('identical', 0):,}"
    return _row(status, "Self-replay", value, f"{total:,}", said_of)


def _row(status: str, name: str, value: str, limit: str, detail: Content) -> Html:
    sign = gate_sign(status)
    return el(
        "tr",
        el("td", light(sign)),
        el("th", name, scope="row"),
        el("td", value, class_="number", data_label="Value"),
        el("td", limit, class_="number", data_label="Limit"),
        el("td", detail, class_="quiet"),
        class_=sign.tone,
    )


def _divergence(document: Fields) -> Content:
    """The first place where the recording did not reproduce itself, side by side."""
    found = (document.get("self_replay") or {}).get("divergence")
    if not found:
        return None
    recorded, replayed = (str(found.get(side) or "nothing") for side in
                          ("recorded", "replayed"))  # fmt: skip
    shared = _shared_length(recorded, replayed)
    place = f"session {found['session']}, input {found['sequence']}"
    if found.get("index") is not None:
        place += f", output {found['index']}"
    if found.get("path"):
        place += f", field {found['path']}"
    return el(
        "div",
        el("h4", f"First difference: {label(found['what']).lower()} of {place}"),
        *(
            el(
                "figure",
                el("figcaption", name, class_="eyebrow"),
                el("pre", _around(text, shared)),
            )
            for name, text in (("recorded", recorded), ("replayed", replayed))
        ),
        class_="divergence",
    )


def _shared_length(one: str, other: str) -> int:
    """How many characters both begin with."""
    return sum(1 for _ in takewhile(lambda both: both[0] == both[1],
                                    zip(one, other, strict=False)))  # fmt: skip


def _around(text: str, shared: int) -> Html:
    """Text about the place from which it differs, which is marked."""
    start = max(shared - _SHOWN, 0)
    end = shared + _SHOWN
    return join([
        "… " if start else "",
        said(text[start:shared]),
        el("mark", said(text[shared:end])) if shared < len(text) else None,
        " …" if end < len(text) else "",
    ])  # fmt: skip
