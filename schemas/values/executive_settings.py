"""The settings of the executive: when to speak, as whom, and through which channel."""

from typing import Annotated

from pydantic import Field

from schemas.values.base import Name, Part, Seconds, Token, Unit
from schemas.values.personality import PersonalityTemplate
from schemas.values.phrases import Phrases
from schemas.values.setting import Setting
from schemas.values.skills import Skill

HOURS = r"^(([01]\d|2[0-3]):[0-5]\d-([01]\d|2[0-3]):[0-5]\d)?$"
"""The form of quiet hours, such as `22:00-07:00`; empty: none."""

PERSON_PREFIX, CONTEXT_PREFIX = "person:", "context:"
"""How people and contexts are written among types of responses."""

# Of a setting's declaration each part has its line, not each argument.
# fmt: off


class ExecutiveSettings(Part):
    """How the executive behaves."""

    timezone: Annotated[Name, Setting("timezone", form="timezone")] = "UTC"
    """The time zone of quiet hours and reminders, for example `Europe/Berlin`."""
    template: Annotated[str, Setting(
        "personality.template", form="template", reach="nothing"
    )] = (
        Field(default="", max_length=200)
    )
    """The personality: `butler`, `coach`, `engineer`, `jester`, or `<pack>/<template>`;
    empty: none. In a file the name is quoted: "personality.template" = "butler"."""
    templates: tuple[PersonalityTemplate, ...] = ()
    """Those that come with the program, as they were when the mind started."""
    mood_half_life_s: Annotated[
        Seconds, Setting("mood.half_life_minutes", scale=60.0)
    ] = 1_800.0
    """How long half of a mood lasts."""
    cooldown_s: Annotated[float, Setting("cooldown_s")] = Field(
        default=4.0, ge=0.0, le=86_400.0
    )
    """How many seconds lie between two responses, at least; what meets it waits for its end.
    Alerts, what is urgent, and answers to a person's own words pass."""
    heuristic_cooldown_s: Annotated[
        float, Setting("heuristic_cooldown_s")
    ] = Field(default=30.0, ge=0.0, le=86_400.0)
    """How many seconds lie between two responses by the same heuristic, at least."""
    rate_per_hour: Annotated[int, Setting("rate_per_hour")] = Field(default=0, ge=0, le=100)
    """How many responses an hour there are at most, alerts, what is urgent, and answers to a
    person's own words aside; 0: any number."""
    urgent_per_hour: Annotated[int, Setting("urgent_per_hour")] = Field(
        default=6, ge=0, le=100
    )
    """How many responses an hour what is urgent of one sensor passes a cooldown and the rate
    with; beyond them, only a heuristic's."""
    queue_ttl_s: Annotated[float, Setting("queue_ttl_s")] = Field(
        default=600.0, ge=1.0, le=86_400.0
    )
    """For how many seconds an answer that waits is worth saying, unless its event or a pack
    says so (`ttl`)."""
    quiet_hours: Annotated[
        str, Setting("quiet_hours", form="quiet_hours")
    ] = Field(default="", pattern=HOURS)
    """At which hours only alerts and answers to a person's own words are said, in the time
    zone of the settings, such as `22:00-07:00`; empty: at none."""
    quiet_cuts: Annotated[bool, Setting("quiet_cuts")] = True
    """Whether "be quiet" ends what is being spoken, alerts aside; "mute" ends these, too."""
    timing: Annotated[bool, Setting("timing")] = True
    """Whether answers that are not urgent wait while the person is busy, and small talk
    for a lull; else all are said at once."""
    typing_s: Annotated[float, Setting("activity.typing_minutes", scale=60.0)] = Field(
        default=1_200.0, ge=0.0, le=86_400.0
    )
    """After how long somebody who was said to type does not any more; 0: never."""
    busy_s: Annotated[float, Setting("activity.busy_minutes", scale=60.0)] = Field(
        default=7_200.0, ge=0.0, le=604_800.0
    )
    """After how long somebody is not busy any more, nor in a menu; 0: never."""
    shares_votes: Annotated[bool, Setting("feedback.shares")] = True
    """Whether a vote on several answers that were said as one counts for each heuristic
    whose words were heard, by its share; else for the lead's alone, in full."""
    relevance: Annotated[bool, Setting("relevance.weighs")] = True
    """Whether goals, what the person is about, novelty and what was said already move how
    much an event matters."""
    weight_goal: Annotated[Unit, Setting("relevance.goal")] = 0.2
    """How much more an event matters that is about a goal."""
    weight_focus: Annotated[Unit, Setting("relevance.focus")] = 0.1
    """How much more one matters that is all about what the person is about."""
    weight_novelty: Annotated[Unit, Setting("relevance.novelty")] = 0.1
    """How much more one matters that is wholly new."""
    weight_said: Annotated[Unit, Setting("relevance.said_already")] = 0.3
    """How much less one matters if a like one was answered within five minutes."""
    again_s: Annotated[float, Setting("relevance.again_minutes", scale=60.0)] = Field(
        default=900.0, ge=0.0, le=86_400.0
    )
    """After how long what still goes on is worth another word, at home or where no pack says
    where it is; elsewhere as much sooner as habituation ends sooner; 0: at once."""
    weight_proactive: Annotated[Unit, Setting("relevance.proactive")] = 0.4
    """By how much the trait `proactive` lowers what an event must matter, from its least to
    its most."""
    weight_helpfulness: Annotated[Unit, Setting("relevance.helpfulness")] = 0.1
    """By how much the trait `helpfulness` does."""
    check_in: Annotated[bool, Setting("proactive.check_in")] = True
    """Whether the companion asks how things are, by itself, when somebody is there and
    nothing was said for a while; never in the first ten minutes of a session."""
    check_in_interval_s: Annotated[
        float, Setting("proactive.interval_minutes", scale=60.0)
    ] = Field(default=300.0, ge=1.0, le=86_400.0)
    """How long nothing was said before a check-in, at least."""
    check_in_probability: Annotated[
        float, Setting("proactive.probability")
    ] = Field(default=0.01, ge=0.0, le=1.0)
    """With which probability it comes at each second after that, for a companion as
    proactive as can be; the trait `proactive` multiplies it. So do other remarks come."""
    unasked_per_hour: Annotated[int, Setting("proactive.per_hour")] = Field(
        default=2, ge=0, le=100
    )
    """How many check-ins, observations and mood comments there are an hour, together and at
    most; 0: any number."""
    unasked_unanswered: Annotated[int, Setting("proactive.unanswered")] = Field(
        default=2, ge=0, le=50
    )
    """After how many of them without a word of anybody there are none until somebody says
    something; 0: they go on."""
    check_in_backoff: Annotated[float, Setting("proactive.backoff")] = Field(
        default=2.0, ge=1.0, le=10.0
    )
    """By which factor a check-in waits longer, and is less likely at each second, for each of
    them since anybody said a word; 1: as often as ever."""
    words_rest_s: Annotated[
        float, Setting("proactive.rest_hours", scale=3_600.0)
    ] = Field(default=86_400.0, ge=0.0, le=2_592_000.0)
    """For how long the same words are not said unasked again; 0: they may be at once."""
    observation: Annotated[bool, Setting("proactive.observation")] = True
    """Whether the companion remarks by itself that a kind of event comes often lately;
    never in the first ten minutes of a session."""
    observation_events: Annotated[int, Setting("proactive.observation_events")] = Field(
        default=5, ge=2, le=1_000
    )
    """How many such events are often, at least, within the minutes below."""
    observation_novelty: Annotated[
        float, Setting("proactive.observation_novelty")
    ] = Field(default=0.6, ge=0.0, le=1.0)
    """How novel it must be that they do: 1 if none came in as many minutes before, 0 if
    as many did."""
    observation_interval_s: Annotated[
        float, Setting("proactive.observation_minutes", scale=60.0)
    ] = Field(default=600.0, ge=1.0, le=86_400.0)
    """Over how many minutes they are counted, and how many lie between two remarks."""
    mood_comment: Annotated[bool, Setting("proactive.mood_comment")] = True
    """Whether it remarks by itself that a person seems to feel bad, by a sentiment below
    -0.3 of the last five minutes; never in the first ten minutes of a session."""
    modulates: Annotated[bool, Setting("salience.modulates")] = True
    """Whether events of a kind that is ignored matter less, and all events for ten minutes
    after a person did not like a response; and whether the context moves the threshold."""
    budget_calls: Annotated[int, Setting("budget.calls_per_minute")] = Field(
        default=0, ge=0, le=600
    )
    """How many models are asked a minute, at most; 0: any number."""
    budget_tokens: Annotated[int, Setting("budget.tokens_per_day")] = Field(
        default=0, ge=0, le=1_000_000_000
    )
    """How many tokens an agent's models read and write a day, at most, in the settings'
    time zone; 0: any number. Where a server counts none, four characters are one."""
    budget_cost: Annotated[float, Setting("budget.cost_per_day")] = Field(
        default=0.0, ge=0.0, le=1_000_000.0
    )
    """How many US dollars an agent's models cost a day, at most; 0: any number."""
    quip_interval_s: Annotated[
        float, Setting("quip_interval_s")
    ] = Field(default=300.0, ge=0.0, le=86_400.0)
    """How many seconds lie between two quips, at least, which are kept from people who are
    busy, too; 0: quips are as all else. Answers to a person's own words pass."""
    speech: bool = False
    """Whether there was a speech channel when the mind started: `speech.command`."""
    as_text: Annotated[tuple[str, ...], Setting("output.text", reach="nothing")] = ()
    """What is written though there is a speech channel: types of responses such as `quip`,
    people as `person:NAME`, contexts as `context:work`."""
    stream: Annotated[bool, Setting("output.stream")] = True
    """Whether the words of a model's answer to a person go out as they come; what is to be
    spoken waits until it is whole."""
    languages: Annotated[tuple[Token, ...], Setting(
        "languages", form="languages"
    )] = ("en",)
    """The languages in which a person can ask for quiet, for other topics and the like:
    `en`, `de`."""
    wake_words: Annotated[tuple[str, ...], Setting("wake_words", reach="nothing")] = ()
    """Names by which a person calls the companion, besides its agent's own: "hey NAME, be
    quiet" is "be quiet"."""
    phrases: tuple[Phrases, ...] = ()
    """What is said in them, as the program had it when the mind started."""
    skills: tuple[Skill, ...] = ()
    """Those that come with the program, likewise."""
    consistent: Annotated[bool, Setting("skills.consistent")] = True
    """Whether all is said in one voice: check-ins, reminders and milestones in character,
    too, and no style makes an answer longer than suits the verbosity."""
    prompt_tokens: Annotated[int, Setting("memory.prompt_tokens")] = Field(
        default=500, ge=0, le=8_000
    )
    """How many tokens of a model's prompt what is remembered may take: profile, facts, the
    conversation so far, like events; 0: none, and no conversation is remembered."""
    recall: Annotated[bool, Setting("memory.recall")] = False
    """Whether a model is told of what happened long ago, too, as far as it is like what is
    at hand: from the read models, in the room that `memory.prompt_tokens` leaves."""
    recent_events: Annotated[bool, Setting("memory.recent_events")] = True
    """Whether a model is told the last ten events of a source, in the same room; at a
    person's words those of all sources."""
    aliases: Annotated[bool, Setting("memory.aliases")] = True
    """Whether a model is told facts about a thing by all its names, as facts with `also
    known as` state them."""
    situated: Annotated[bool, Setting("model.situated")] = True
    """Whether a model is told date and time, where it is, who speaks, what sort of answer is
    wanted and when nobody jokes; and a person's words, with what was said before, as turns of
    a chat. Off, the prompt is shorter, and a person's words are data as a sensor's are."""
    place: Annotated[str, Setting("model.place", reach="nothing")] = Field(
        default="", max_length=200
    )
    """Where a model is told to be, such as `the kitchen of a flat in Berlin`; empty:
    nothing of it."""
    settles: Annotated[bool, Setting("model.controls")] = True
    """Whether a model's answer to a person's own words may change what that person asked
    for: quiet, topics, traits, context, profile, reminders, goals; at most for a day."""
    infers: Annotated[bool, Setting("memory.infers")] = False
    """Whether a model may propose facts and goals of what people say; only what a person
    accepts, with `echoic tune apply`, counts."""

    def specific(self, topic: str) -> tuple[str, ...]:
        """Return the words that tell the events of a topic in a sentence; else none."""
        known = (each.specific(topic) for each in self.phrases)
        return next((each for each in known if each), ())

    def feeling(self, text: str) -> float | None:
        """Return how somebody feels who says this, -1 to 1; None if it does not tell."""
        told = (each.feeling(text) for each in self.phrases)
        return next((each for each in told if each is not None), None)
