"""What one says of a text: without mark-up, emoji, links, tables and stage directions, and
with numbers and units as words where the voice reads none.

For channels that speak, outside the mind: what was decided and recorded stays as written.
What is in doubt is said, for a word too many harms less than one that is missing.
"""

import html
import re
import unicodedata
from collections.abc import Callable
from functools import cache
from typing import NamedTuple

# Between brackets stands no further one, and of an address 2,000 characters are read at most:
# a run of signs that never close would else take the square of its length.
_FENCE = re.compile(r"^[ \t]*(```|~~~).*?^[ \t]*\1[^\n]*$", re.MULTILINE | re.DOTALL)
_FENCE_LEFT = re.compile(r"^[ \t]*(```|~~~)[^\n]*$", re.MULTILINE)
_CODE = re.compile(r"`+([^`\n]+)`+")
_TARGET = r"\((?:[^()\s]|\([^()\s]{0,200}\)){0,2000}(?:\s{1,8}\"[^\"\n]{0,500}\")?\)"
_IMAGE = re.compile(rf"!\[([^\[\]\n]*)\]{_TARGET}")
_LINK = re.compile(rf"\[([^\[\]\n]+)\](?:{_TARGET}|\[[^\[\]\n]*\])")
_FOOTNOTE = re.compile(
    r"\[\^[^\[\]\n]+\]:?|【[^【】\n]{0,80}】|(?<=\S)[ ]?\[\d{1,3}(?:, ?\d{1,3})*\](?!\()"
)
"""Where something was read, which is no word of it."""
_URL = re.compile(
    r"<?\bhttps?://(?:www\.)?([^\s/<>()?#:,]+)[^\s<>()]*?(?=[.,;:!?]*(?:[\s<>()]|$))>?"
)
_MOOD_TAG = re.compile(
    r"<(emotion|mood|tone|action|gesture|expression)>[^<>\n]{0,60}</\1>", re.IGNORECASE
)
_TAG = re.compile(r"</?[a-zA-Z][a-zA-Z0-9]*(?:\s[^<>\n]*)?/?>")
_RULE = re.compile(r"^\s*(?:[-*_=]\s*){3,}$")
_TABLE_RULE = re.compile(r"^\s*\|?\s*:?-{2,}:?\s*(?:\|\s*:?-{2,}:?\s*)*\|?\s*$")
_HEADING = re.compile(r"^\s*#{1,6}\s+(.*?)\s*#*$")
_ITEM = re.compile(
    r"^\s*(?:[-*+\u2022\u2023\u2013]|\d{1,3}[.)])\s+(?:\[[ xX]\]\s+)?(.*)$"
)
_QUOTE = re.compile(r"^\s*(?:>\s?)+")
_STRONG = re.compile(r"(\*\*\*|\*\*|___|__|~~)(?=\S)(.{1,500}?)(?<=\S)\1")
_SINGLE = re.compile(r"(?<![\w*])([*_])(?=[^\s*_])([^*_\n]*?)(?<=[^\s*_])\1(?![\w*])")
_BRACKETED = re.compile(r"[(\[]([^()\[\]\n]{2,60})[)\]]")
_EMOTICON = re.compile(r"(?<!\S)(?:[:;=][-'^]?[()DPpO/|]|<3|[xX]D|\^\^)(?=$|[\s.,!?])")
_SHORTCODE = re.compile(r"(?<!\S):[a-z0-9_+-]{2,40}:(?=$|[\s.,!?])")
_HASHTAG = re.compile(r"(?<![\w&])#(?=[^\W\d])")
_ESCAPED = re.compile(r"\\([\\`*_{}\[\]()#+\-.!|>~])")
_ENDS = tuple('.!?:;,…\u3002\uff01\uff1f\u201d\u201c"')
_BEGUN = re.compile(r"(?:^|[.!?:…\n]['\"”)]?\s*)$")
_KEPT_SIGNS = frozenset("°")
_OUR_MARKS = {0: " ", 1: " "}
"""What stands for code and escapes while a text is read: a text has none of its own."""
_UNSEEN = re.compile("[\u00ad\u200b\u200e\u200f\u202a-\u202e\u2060\u2066-\u2069\ufeff]")
_STRAY = re.compile(r"(?<!\S)(?:\*\*|__)(?=\S)|(?<=\S)(?:\*\*|__)(?!\S)")
"""Half of an emphasis, as of words that were cut off."""
_JOINERS = frozenset("\u200d\u20e3\ufe0e\ufe0f")

_STAGE_WORDS = """
    blinks blushes bows chuckles clears coughs cries frowns gasps giggles gives glances
    grins groans hugs jumps kneels laughs leans looks mutters nods pats pauses points raises
    rolls scratches shakes shrugs sighs sings sits smiles smirks sniffs sobs stands stares
    stretches takes thinks tilts turns walks waves whispers winks yawns laughing smiling
    sighing waving nodding grinning whispering winking giggling
    atmet flüstert gähnt grinst hustet kichert klatscht lacht lächelt legt nickt runzelt
    räuspert schaut schmunzelt schüttelt seufzt singt sitzt umarmt verbeugt weint winkt zieht
    zuckt zwinkert lachend lächelnd seufzend winkend nickend flüsternd
"""
_STAGE = frozenset(_STAGE_WORDS.split())
"""With what stage directions begin, in English and German."""
_MOOD_WORDS = """
    happy sad angry excited surprised curious inquisitive scared calm neutral playful serious
    amused shy pause silence laughter laugh sigh chuckle gasp cough whisper emotion mood tone
    expression fröhlich traurig wütend überrascht neugierig lachen seufzer
"""
_MOODS = frozenset(_MOOD_WORDS.split())
"""With what a note to a voice begins that stands in brackets: `[happy]`, `[mood: sad]`."""
_WHO = frozenset(("she", "he", "they", "sie", "er"))


def spoken(text: str) -> str:
    """Return what one says of a text; empty if nothing is left to say."""
    bare = _UNSEEN.sub("", text.translate(_OUR_MARKS)).replace("\r\n", "\n")
    whole = _FENCE.sub("\n", html.unescape(bare))
    whole = _FENCE_LEFT.sub("", whole)
    whole = _LINK.sub(r"\1", _IMAGE.sub(r"\1", _FOOTNOTE.sub("", whole)))
    whole = _TAG.sub(" ", _MOOD_TAG.sub(" ", _URL.sub(r"\1", whole)))
    said = _sentences(whole.split("\n"))
    return _tidy(_plain(said))


def _sentences(lines: list[str]) -> str:
    """Return lines as running text: what stands by itself becomes a sentence."""
    said: list[str] = []
    is_open = False
    for line in lines:
        bare = _QUOTE.sub("", line).rstrip()
        if not bare.strip() or _RULE.match(bare) or _TABLE_RULE.match(bare):
            _close(said, is_open=is_open)
            is_open = False
            continue
        alone = _alone(bare)
        if alone is not None:
            _close(said, is_open=is_open)
            said.append(alone)
            _close(said, is_open=True)
            is_open = False
            continue
        said.append(bare.strip())
        is_open = True
    return " ".join(each for each in said if each)


def _alone(line: str) -> str | None:
    """Return what a heading, an item or a row of a table says; None if it is none."""
    heading = _HEADING.match(line)
    if heading is not None:
        return heading[1]
    item = _ITEM.match(line)
    if item is not None:
        return item[1]
    if line.lstrip().startswith("|") or line.count("|") >= 2:
        cells = (each.strip() for each in line.strip().strip("|").split("|"))
        return ", ".join(each for each in cells if each)
    return None


def _close(said: list[str], *, is_open: bool) -> None:
    """End what was said last as a sentence."""
    if is_open and said and said[-1].rstrip("*_~`) ") and not _is_ended(said[-1]):
        said[-1] += "."


def _is_ended(text: str) -> bool:
    return text.rstrip("*_~`) ").endswith(_ENDS)


def _plain(text: str) -> str:
    """Return the text without marks inside of lines."""
    code: list[str] = []

    def kept(found: re.Match[str]) -> str:
        # What stands in code has no mark-up.
        code.append(found[1])
        return f"\x00{len(code) - 1}\x00"

    text = _ESCAPED.sub(
        lambda found: f"\x01{ord(found[1]):x}\x01", _CODE.sub(kept, text)
    )
    for _ in range(3):
        text = _STRONG.sub(r"\2", text)
    text = _STRAY.sub("", _SINGLE.sub(_emphasis, text))
    text = _BRACKETED.sub(_aside, text)
    text = _HASHTAG.sub("", _SHORTCODE.sub("", _EMOTICON.sub("", text)))
    text = "".join(" " if _is_picture(each) else each for each in text)
    text = re.sub("\x01([0-9a-f]+)\x01", lambda found: chr(int(found[1], 16)), text)
    return re.sub("\x00([0-9]+)\x00", lambda found: code[int(found[1])], text)


def _emphasis(found: re.Match[str]) -> str:
    """Return emphasised words; nothing of a stage direction."""
    inner, whole = found[2], found.string
    if _is_stage(inner):
        return " "
    # A sentence begins with a capital: small letters between two are no words of it.
    is_begun = _BEGUN.search(whole[: found.start()]) is not None
    after = whole[found.end() :].lstrip()
    is_alone = not after or after[0].isupper() or after[0] in "*_"
    is_small = inner[:1].islower() and " " not in inner[:1]
    is_told = _is_stage(inner, after=_WHO)
    return " " if is_begun and is_alone and (is_small or is_told) else inner


def _aside(found: re.Match[str]) -> str:
    """Return an aside; nothing of a stage direction, or of a note to the voice."""
    inner, whole = found[1], found.string
    is_mood = re.split(r"\W", inner.lower(), maxsplit=1)[0] in _MOODS
    # "(sad) but true" is said, "(sad) But true." is how.
    is_apart = (
        _BEGUN.search(whole[: found.start()]) and whole[found.end() :][1:2].isupper()
    )
    is_note = is_mood and (found[0].startswith("[") or bool(is_apart))
    return " " if is_note or _is_stage(inner) else found[0]


def _is_stage(inner: str, after: frozenset[str] = frozenset()) -> bool:
    """Tell whether words begin as a stage direction does, after who does it if given."""
    first = re.findall(r"\w+", inner.lower()[:80])
    if after:
        return first[:1] != [] and first[0] in after and _is_stage(" ".join(first[1:]))
    return first[:1] != [] and first[0] in _STAGE


def _is_picture(character: str) -> bool:
    if character in _JOINERS or 0x1F000 <= ord(character) <= 0x1FAFF:
        return True
    if character.isascii() or character in _KEPT_SIGNS:
        return False
    # Symbols, and the tags of flags; signs of currencies and letters are none.
    return (
        unicodedata.category(character) in ("So", "Cn")
        or 0xE0000 <= ord(character) <= 0xE007F
    )


def _tidy(text: str) -> str:
    """Return a text with single blanks, and none before a stop."""
    text = re.sub(r"\s+", " ", text)
    text = re.sub(r" +([.,;:!?…])", r"\1", text)
    text = re.sub(r"([.!?])(?:\s*\.)+(?!\.)", r"\1", text) if ".." not in text else text
    text = re.sub(r"\(\s*\)|\[\s*\]", "", text).strip()
    return text if any(each.isalnum() for each in text) else ""


_UNITS = """
°C: degree/s Celsius = Grad Celsius; °F: degree/s Fahrenheit = Grad Fahrenheit
°: degree/s = Grad; %: percent = Prozent; km/h: kilometre/s per hour = Kilometer pro Stunde
m/s: metre/s per second = Meter pro Sekunde; mph: mile/s per hour = Meile/n pro Stunde
km: kilometre/s = Kilometer; cm: centimetre/s = Zentimeter; mm: millimetre/s = Millimeter
m²: square metre/s = Quadratmeter; m³: cubic metre/s = Kubikmeter; m: metre/s = Meter
kg: kilogram/s = Kilogramm; g: gram/s = Gramm; ml: millilitre/s = Milliliter
l: litre/s = Liter; h: hour/s = Stunde/n; min: minute/s = Minute/n; s: second/s = Sekunde/n
ms: millisecond/s = Millisekunde/n; kWh: kilowatt hour/s = Kilowattstunde/n
kW: kilowatt/s = Kilowatt; W: watt/s = Watt; V: volt/s = Volt; lx: lux = Lux
hPa: hectopascal/s = Hektopascal; dB: decibel/s = Dezibel; MB: megabyte/s = Megabyte
GB: gigabyte/s = Gigabyte; €: euro/s = Euro; $: dollar/s = Dollar; £: pound/s = Pfund
Uhr: = Uhr
"""
_NAMES = {
    each[1]: {"en": each[2], "de": each[3]}
    for each in re.finditer(r"([^\s:]+): ?([^=;\n]*?) ?= ([^;\n]+)", _UNITS)
}
"""What units are called: behind `/` stands what more than one has besides."""
_SUFFIX = "|".join(
    # A letter alone needs a blank: "the 30s", "5G".
    (" " if each.isalpha() and len(each) == 1 else " ?") + re.escape(each)
    for each in sorted(_NAMES, key=len, reverse=True)
)
_MONTHS = (
    "January|February|March|April|May|June|July|August|September|October|November|December"
    "|Januar|Februar|März|Mai|Juni|Juli|Oktober|Dezember"
)
_NUMBER = re.compile(
    r"(?<![\w#@/\\+\u2013\u2212-])(?<!\w[.,:])"
    r"(?:(?P<call>(?!\d\d[/-]\d\d[/-]\d{4})(?:\+\d|0)\d{1,5}(?:[ /-]\d{2,12}){1,6})"
    r"|(?P<money>[€$£]?)(?P<sign>[+\u2212-]?)(?P<digits>\d(?:[\d.,:\u2013-]{0,30}\d)?)"
    rf"(?P<unit>(?:st|nd|rd|th)(?!\w)|(?:{_SUFFIX})(?![\w²³/])"
    rf"|\.(?= (?:{_MONTHS}|Stock|Etage|Platz|Tag|Advent|Klasse)\b))?)"
    r"(?![\w@/\\]|[.,:]\w|[\u2013-]\d)"
)
_ADDRESS = re.compile(r"(?:\d{1,3}\.){3}\d{1,3}")
_TIME = re.compile(r"([01]?\d|2[0-4])[:.]([0-5]\d)")
_NAMED = re.compile(
    "code|id|pin|nummer|number|no|nr|order|phone|port|telefon", re.IGNORECASE
)
"""Behind these a number names something: it is read digit by digit."""
_DATED = re.compile(
    rf"in|since|until|by|before|after|from|of|year|jahre?s?|seit|bis|vor|nach|von|{_MONTHS}",
    re.IGNORECASE,
)
"""Behind these four digits are a year."""
_BENT = re.compile("am|vom|zum|zur|im|beim|den|dem|des|bis|ab|seit", re.IGNORECASE)
"""Behind these a German ordinal ends in -n."""
_LONGEST_PLAIN = 6
"""Of how many digits without a separator a number at most is one, and no name."""


@cache
def _numbers(language: str) -> Callable[..., str] | None:
    """Return what says whole numbers; None where the package for it is not installed."""
    try:
        from num2words import num2words
    except ImportError:
        return None
    return lambda digits, to="cardinal": num2words(
        int(digits), lang=language, to=to
    ).replace(",", "")


def with_numbers(text: str, language: str) -> str:
    """Return a text with its numbers and units as words, in English (en) or German (de).

    As they are written stay versions, addresses, dates of digits and what has letters; digit
    by digit are said telephone numbers, codes, and seven digits or more without a separator.
    In other languages, and without the package `num2words`, nothing changes.
    """
    say = _numbers(language) if language in ("en", "de") else None
    return text if say is None else _NUMBER.sub(_Reader(language, say).said, text)


class _Reader(NamedTuple):
    """How the numbers of a text are read; what gives None stays as it is written."""

    language: str
    say: Callable[..., str]

    def said(self, found: re.Match[str]) -> str:
        """Return a number in words, or as it is written."""
        whole, begin, end = found.string, found.start(), found.end()
        if found["call"]:
            return self._spelt(found["call"])
        before = re.search(r"(\w+)\W{0,2}$", whole[max(0, begin - 24) : begin])
        prior, after = before[1] if before else "", whole[end : end + 24]
        unit = (found["unit"] or "").strip() or found["money"]
        said = self._in_words(found["digits"], unit, prior, after)
        is_odd = (found["unit"] and found["money"]) or prior.lower() == "version"
        sign = {"": "", "+": "plus "}.get(found["sign"], "minus ")
        return found[0] if said is None or is_odd else sign + said

    def _in_words(self, digits: str, unit: str, prior: str, after: str) -> str | None:
        time = _TIME.fullmatch(digits)
        if time and (unit == "Uhr" or (":" in digits and not unit)):
            return self._time(int(time[1]), int(time[2]), after)
        first, span, last = re.split("([\u2013-]|$)", digits, maxsplit=1)
        if span and (unit or span == "\u2013"):
            least, most = self._number(first, ""), self._number(last, unit)
            to = "to" if self.language == "en" else "bis"
            return f"{least} {to} {most}" if least and most else None
        if unit in _NAMES or not digits.isdigit():
            return self._number(digits, unit)
        if unit or len(digits) <= 2:
            ordinal = self._ordinal(digits, unit, prior, after)
            if ordinal is not None or unit:
                return ordinal
        if _NAMED.fullmatch(prior) or (digits[0] == "0" and len(digits) > 1):
            return self._spelt(digits)
        if _DATED.fullmatch(prior) and len(digits) == 4 and "1100" <= digits < "2100":
            return self.say(digits, "year")
        # The gender of a German noun is not known: "1 Nachricht".
        is_open = self.language == "de" and re.match(" [A-ZÄÖÜ]", after)
        return None if digits == "1" and is_open else self._number(digits, "")

    def _number(self, digits: str, unit: str) -> str | None:
        """Return a number with its unit."""
        mark = "," if self.language == "en" else r"\."
        plain = re.fullmatch(
            rf"(\d{{1,3}}(?:{mark}\d{{3}})+|\d+)(?:[.,](\d+))?", digits
        )
        name = _NAMES.get(unit, {}).get(self.language, "")
        if not plain or _ADDRESS.fullmatch(digits) or (unit and not name):
            return None
        whole, decimals, is_one = plain[1], plain[2], digits == "1"
        if whole.isdigit() and len(whole) > _LONGEST_PLAIN:
            return None if unit or decimals else self._spelt(whole)
        said = self.say(re.sub(r"\D", "", whole))
        if is_one and unit and self.language == "de":
            said = "eine" if "/n" in name else "ein"
        name = re.sub(r"/(\w)", "" if is_one else r"\1", name)
        if decimals and len(decimals) == 2 and unit in ("€", "$", "£"):
            return f"{said} {name} {self.say(decimals)}"
        if decimals:
            point = "point" if self.language == "en" else "Komma"
            said = f"{said} {point} {self._spelt(decimals)}"
        return f"{said} {name}".strip()

    def _time(self, hour: int, minute: int, after: str) -> str:
        said = self.say(hour)
        if self.language == "de":
            said = f"{'ein' if hour == 1 else said} Uhr"
            return f"{said} {self.say(minute)}" if minute else said
        if minute:
            return f"{said} {'oh ' if minute < 10 else ''}{self.say(minute)}"
        if re.match(r" ?[ap]\.?m\b", after):
            return said
        return f"{said} o'clock" if 0 < hour <= 12 else f"{said} hundred"

    def _ordinal(self, digits: str, unit: str, prior: str, after: str) -> str | None:
        if self.language == "de" and unit == ".":
            end = "n" if _BENT.fullmatch(prior) else ""
            end = end or ("" if prior.lower() in ("der", "die", "das") else "r")
            return self.say(digits, "ordinal") + end
        if self.language == "de" or unit == ".":
            return None
        is_day = re.match(rf" (?:{_MONTHS})\b", after) is not None
        if unit or is_day or re.fullmatch(_MONTHS, prior):
            said = self.say(digits, "ordinal")
            return f"{'' if prior == 'the' else 'the '}{said} of" if is_day else said
        return None

    def _spelt(self, digits: str) -> str:
        """Return digits one by one, in groups as they are written."""
        said = re.sub(r"\d", lambda each: f"{self.say(each[0])} ", digits)
        return re.sub(r" [ /-]+", ", ", said).replace("+", "plus ").strip()
