"""The bounds of an agent's state: what is beyond one is forgotten.

Where it says "at least", a `Bounded` map holds that many and at most twice as many; a tuple
holds at most the number itself. The fold applies them, so changing one changes states.
"""

SEEN_EVENTS = 10_000
"""How many event ids of a source are remembered, at least, to recognise repeats."""

DECISIONS = 10_000
"""How many decisions can still be answered by feedback or an outcome, at least."""

SOURCES = 1_000
"""How many sources of an agent are remembered, at least."""

EVENT_SORTS = 2_000
"""How many pairs of source and type habituation remembers, at least."""

PEOPLE = 1_000
"""For how many people rapport and habits of judging are remembered, at least."""

ASKS = 10_000
"""How many asks are remembered, at least, so that the first answer to each wins."""

LESSONS = 500
"""How many models' answers can still become heuristics, at least."""

OCCASIONS = 256
"""For how many decisions the event is kept, at least, so that silence can be learnt."""

RECENT_EVENTS = 10
"""How many latest events of a source novelty compares with."""

VOTES_OF_PERSON = 1_000
"""How many of a person's latest votes can still be changed, at least."""

RECENT_FIRES = 16
"""How many of a heuristic's latest fires are remembered."""

SHOWN_FIRES = 64
"""How many of the latest fires can be taken back."""

OPEN_FIRES = 256
"""How many fires may await an outcome; the oldest is given up first."""

HABITS = 32
"""How many kinds of event of one source and type habituation tells apart."""

DOMAINS_WITH_GOALS = 64
"""For how many domains an agent can have goals; the last by name is dropped first."""

PROPOSALS = 64
"""How many proposals an agent keeps; the oldest that is not in force goes first."""

PENDING_ANSWERS = 64
"""How many decisions of an agent may await the model at once."""

PEOPLE_PRESENT = 32
"""For how many people what they are doing is remembered; the longest unchanged goes first."""

RESTRAINTS = 64
"""How many mutes are in force at once; the one that began first goes first."""

MODULATIONS = 64
"""How many modulations are in force at once; the one that began first goes first."""

SORTS_IGNORED = 200
"""For how many sorts of event it is remembered, at least, that answers were ignored."""

SPEECHES = 32
"""Of how many responses that are to be spoken it is remembered that they are; the oldest
goes first."""

UNSAID = 20
"""How many of the latest that were cut off are remembered."""

SAYINGS = 100
"""How many of the latest responses are remembered, and of how many things that go on it is
that something was said of them."""

UNASKED = 64
"""How many of the latest remarks that nobody asked for."""

REMINDERS = 100
"""How many reminders may be set at once; more are refused."""

ALOUD = 4
"""How many of the latest things said are known again where they are heard."""

ALOUD_TEXT = 600
"""How many characters of each are."""

REMINDED = 8
"""How many of the latest that were said can be snoozed."""

PATTERNS = 1_000
"""Of how many sorts of event it is known how often they came lately, at least."""

COUNTERS = 1_000
"""How many kinds of event are counted for milestones, at least."""

FAILURES = 3
"""How many of the latest failed outcomes are remembered: so many make a struggling person."""
WAITING_ANSWERS = 32
"""How many ready answers may wait for their time; the least urgent is given up first."""

SKILLS = 256
"""For how many skills it is remembered that somebody loaded or unloaded them, at least."""

FACT_BYTES = 32_768
"""How many bytes the facts of an agent have together; the one stated first goes first."""

PROFILES = 500
"""For how many people a profile is remembered, at least."""

TALKERS = 16
"""With how many people a conversation is remembered, at least."""

MISSED = 20
"""Things that ended unsaid, until somebody asks what was missed."""

UTTERANCES = 12
"""How many of the latest things said in a conversation are remembered."""

UTTERANCE = 300
"""How many characters of each are."""

EVENT_SOURCES = 16
"""Of how many sources the texts of their latest events are remembered, at least."""

EVENT_TEXTS = 10
"""How many of each."""

EVENT_TEXT = 120
"""How many characters of each text are."""

SOURCES_GRANTED = 1_000
"""For how many sensors it is known whom they may name; more are refused, as one that was
forgotten would be believed."""

KNOWN_FACTS = 256
"""How many named facts are remembered, at least."""

BODY_FIELDS = 64
"""Fields of a character's body besides its needs."""

BODY_FIELD_BYTES = 4_096
"""Of one of them, as JSON."""

FINISHED = 5
"""Of how many steps of a plan it is remembered that they are over."""

MEMORIES = 20
"""How many of the things that a character meant to keep in mind it does; the oldest go."""

WORDS = 5
"""How many of the latest things that a character said and thought it remembers."""

PRESENT = 256
"""Of how many it is known where they are, at a place."""

CONVERSATIONS = 32
"""How many go on at a place at once; what is said beyond is said to nobody."""

CONVERSATION_MEMBERS = 32
"""How many take part in one."""

HEARERS = 32
"""How many hear one speech, the likeliest to answer first."""

SPEECH = 1_000
"""How many characters of a speech are said."""

EPISODES = 200
"""How many of its latest actions an autonomous character with memory remembers."""

RECENT_ACTS = 10
"""How many one without memory does: a prompt tells five, importance looks at ten."""

INSIGHTS = 50
"""How many of its latest insights."""

INSIGHT = 400
"""How many characters of each."""

LEARNED = 32
"""How many sentences of its world it learns, and unlearns, at most; the oldest goes."""

ROUTINES = 50
"""How many routines it has; the one with the least rate goes."""

FAILING = 32
"""How many behaviours it is remembered of that they failed; the one held back least goes."""

THOUGHT = 200
"""How many characters of a thought, a reason or an error are remembered."""
