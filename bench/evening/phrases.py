"""What people say to the companion in an evening, in many words.

Of each list the first half is said in every evening, the rest only in unseen ones.
"""

from collections.abc import Mapping, Sequence

PHRASES: Mapping[str, Sequence[str]] = {
    "quiet": (
        "be quiet for {span}",
        "could you be quiet for {span}, please?",
        "please don't disturb me for {span}",
        "Be quiet for {span}. I'm working.",
        "give me {span} of peace",
        "I need some quiet for {span}",
        "hush for {span}",
        "can you keep it down for {span}?",
        "no talking for {span}, please",
        "quiet down for {span}",
        "leave me in peace for {span}",
        "I'd like silence for {span}",
    ),
    "mute": (
        "mute yourself for {span}",
        "could you mute yourself for {span}?",
        "don't say anything for {span}",
        "not a word for {span}",
        "go mute for {span}, please",
        "say nothing at all for {span}",
        "I want you muted for {span}",
    ),
    "mute, open": ("mute", "mute please", "mute yourself", "go mute", "can you mute?"),
    "unmute": (
        "unmute",
        "you can talk again",
        "OK, unmute yourself",
        "you may speak again",
        "you can talk now",
        "talk to me again, please",
    ),
    "suppress": (
        "stop telling me about {topic}",
        "don't tell me about {topic}, please",
        "could you stop mentioning {topic}?",
        "I don't want to hear about {topic} any more",
        "stop talking about {topic}",
        "no more about {topic}",
        "enough about {topic}",
        "spare me {topic} from now on",
    ),
    "watch": (
        "watch for {topic}",
        "tell me when {clause}",
        "let me know if {clause}",
        "keep an eye out for {topic}",
        "watch out for {topic}, please",
        "I want to know when {clause}",
        "say so when {clause}",
        "look out for {topic}",
    ),
    "remind": (
        "remind me to {task} in {n} minutes",
        "can you remind me in {n} minutes to {task}?",
        "please remind me to {task} in {n} minutes",
        "in {n} minutes remind me to {task}",
        "don't let me forget to {task} in {n} minutes",
        "set a reminder in {n} minutes to {task}",
        "I have to {task} in {n} minutes, remind me",
    ),
    "timer": (
        "set a timer for {n} minutes",
        "could you start a timer for {n} minutes?",
        "timer for {n} minutes, please",
        "{n} minute timer",
        "I need a timer for {n} minutes",
    ),
    "change": (
        "talk less",
        "be brief",
        "keep it short, please",
        "be less sarcastic",
        "I'm going to work now",
        "be more formal",
        "could you talk a bit less?",
        "shorter answers, please",
    ),
    "missed": (
        "what did I miss?",
        "did I miss anything?",
        "what's up?",
        "anything new?",
        "what happened while I was busy?",
        "fill me in, please",
    ),
    "question": (
        "what could I cook tonight?",
        "how long does rice take?",
        "are you there?",
        "do you know a good film for tonight?",
        "how are you?",
        "what goes with fennel?",
        "why is the sky red this evening?",
        "is Rome warm in November?",
    ),
    "chat": (
        "the soup was good today",
        "I am rather tired",
        "what a day",
        "I like this song",
        "we should paint the hall",
        "it is so quiet here",
    ),
}

TASKS = ("call Lee", "water the plants", "feed the cat", "turn the bread")


def of(kind: str, *, all_: bool) -> Sequence[str]:
    """Return the phrases of a kind: all of them, or those for tuning."""
    found = PHRASES[kind]
    return found if all_ else found[: (len(found) + 1) // 2]
