"""Every setting as data: its name, what it may be, its default, and what it is for."""

from echoic.config.option import (
    Option,
    agent,
    biases,
    folder,
    number,
    one_of,
    optional_text,
    origin_factors,
    positive,
    processes,
    text,
    texts,
    token,
    url,
    whole,
)

OPTIONS: tuple[Option, ...] = (
    Option("data", folder, None, "The folder of the instance: log, database, traces."),
    Option("agent", agent, "companion", "Which companion commands are about."),
    Option(
        "nats.url", url("nats", "tls"), None,
        "A broker of yours; without it `up` starts one in the data folder.",
        also=("NATS_URL",), secret=True,
    ),
    Option(
        "database.url", url("postgresql", "postgres"), None,
        "A PostgreSQL of yours; without it `up` starts one in the data folder.",
        also=("DATABASE_URL",), secret=True,
    ),
    Option(
        "trace.endpoint", url("http", "https"), None,
        "Where traces go over OTLP/HTTP; without it, if nothing listens on 4318,"
        " into a file.",
        also=("OTEL_EXPORTER_OTLP_ENDPOINT",), secret=True,
    ),
    Option(
        "strategy", text, "heuristic_first",
        "How the mind chooses among its answers: name:key=value,…, module:function or a"
        " YAML file; `echoic strategy list` shows what there is.",
        also=("EXECUTIVE_DECISION_STRATEGY",),
    ),
    Option(
        "strategies.modules", texts, (),
        "Modules of yours that strategies may be of, as module:function; no other is"
        " ever imported, whoever names it.",
    ),
    Option(
        "exploration.scheme", one_of("auto", "none", "uniform", "challenger"), "auto",
        "Whether other answers than the strategy's are tried: any, a challenger's, or"
        " none; auto: a challenger's if there is one.",
    ),
    Option(
        "exploration.rate", number(0, 1), 0.1,
        "The probability that is given to them.",
    ),
    Option(
        "exploration.challenger", texts, (),
        "The strategies to be compared with the one in force.",
    ),
    Option(
        "threshold", number(0, 1), 0.7,
        "The confidence from which a heuristic answers by itself.",
        also=("EXECUTIVE_HEURISTIC_THRESHOLD",),
    ),
    Option(
        "relevance", number(0, 1), 0.5,
        "The effective salience from which an event is worth an answer.",
    ),
    Option(
        "salience.novelty_half_life", number(0, 1_000_000), 20.0,
        "In which time a likeness to earlier events halves, in units of the domain's tau"
        " (game 60 s, work 180, home 300, else 120); 0: never.",
    ),
    Option(
        "goals", texts, (), "What the companion is to help with.",
        also=("EXECUTIVE_GOALS",),
    ),
    Option(
        "goals.choose", whole(0, 32), 0,
        "How many of them count for an event, those that it is most about; 0: all. In"
        ' a file the name is quoted: "goals.choose" = 2.',
    ),
    Option("seed", text, "echoic", "The key of every draw."),
    Option(
        "model.name", optional_text, None,
        "The language model as litellm names it, such as ollama/llama3.2; without it"
        " only heuristics answer.",
    ),
    Option(
        "model.api_base", url("http", "https"), None,
        "Where it is reached, if not at its provider's own address.", secret=True,
    ),
    Option(
        "model.api_key", optional_text, None,
        "The key it asks for; without it litellm takes the provider's own variable.",
        secret=True,
    ),
    Option("model.temperature", number(0, 2), 0.7, "Its sampling temperature."),
    Option("model.max_tokens", whole(1, 8_000), 300, "The longest answer."),
    Option("model.deadline_s", positive, 30.0, "How long its answer is waited for."),
    Option(
        "model.ceiling", number(0, 1), 0.8, "Its own confidence counts up to here."
    ),
    Option(
        "model.candidates", whole(0, 5), 3, "How many known answers it is shown."
    ),
    Option(
        "candidates.present", one_of("neutral", "hint", "none"), "neutral",
        "How a model is shown what was learnt: `neutral`, as what was said before,"
        " without scores; `hint`, as one suggestion with its confidence; or not at all.",
    ),
    Option(
        "candidates.withhold", number(0, 1), 0.5,
        "With which probability an answer that is known, and not trusted yet, is kept"
        " from a model: only what it then says by itself speaks for that answer.",
    ),
    Option(
        "learning.formation", one_of("on", "off"), "on",
        "Whether a model's answer that you like is made a heuristic.",
    ),
    Option(
        "learning.silence", one_of("on", "off"), "on",
        "Whether that nothing should have been said, as you say it, teaches when to keep"
        " silent (`echoic feedback last down --aspect condition`).",
    ),
    Option(
        "learning.silence_asks", number(0.05, 1), 0.1,
        "With which probability a model is asked all the same where silence is trusted,"
        " so that it can still be found wrong.",
    ),
    Option(
        "learning.endorsement", one_of("on", "off"), "on",
        "Whether a model speaks for the heuristics that say what it said by itself.",
    ),
    Option(
        "learning.endorsement_cap", number(0, 1), 0.65,
        "How far models alone can lift a confidence.",
    ),
    Option(
        "prediction", one_of("same", "separate", "off"), "same",
        "How a model tells what will come of its answer: in the `same` call, in a"
        " `separate` one, or not at all.",
    ),
    Option("base_prompt", optional_text, None, "How it is told what it is."),
    Option("personality", text, "", "How it is told what character it has."),
    Option("biases", biases, {}, "Personality as adjustments of thresholds."),
    Option("ttl_s", positive, 30.0, "After so many seconds an answer is stale."),
    Option("channel", token, "say", "Where answers go: out.<agent>.<channel>."),
    Option("embedder", text, "wordllama", "What makes vectors of texts."),
    Option(
        "learning.calibrate_raters", one_of("on", "off"), "off",
        "Whether what somebody says of everything counts for less than what they say"
        " rarely.",
    ),
    Option(
        "learning.undo_s", number(0, 3_600), 30.0,
        "So long after advice, an event that takes it back counts as its failure; 0:"
        " none does.",
    ),
    Option(
        "learning.ignored_after", whole(0, 100), 0,
        "So many fires of a heuristic in a row of which nothing came, and which nobody"
        " judged, count as one weak failure; 0: silence never does.",
    ),
    Option(
        "learning.preset", one_of("default", "seed"), "default",
        "`seed`: the first signal on a fire counts as one whole observation, and is final.",
    ),
    Option(
        "learning.kappa", positive, 2.0,
        "The weight of a declared confidence, in observations.",
    ),
    Option(
        "learning.kappa_by_origin", origin_factors,
        {"skill_pack": 4.0, "seeded": 2.0, "learned": 1.0},
        "How many times that it weighs by who declared it: a pack's author, a person who"
        " teaches, a model whose answer was liked. In the seed's preset all weigh the"
        " same.",
    ),
    Option(
        "learning.gamma", number(0.001, 1), 1.0,
        "What forgetting leaves each time; 1: all."
    ),
    Option(
        "learning.floor", number(0, 1), 0.0,
        "No confidence falls under this; 0: none is bounded. A pack's own constraints go"
        " before it.",
    ),
    Option(
        "learning.ceiling", number(0, 1), 1.0,
        "No confidence rises over this; 1: none is bounded. A pack's own constraints go"
        " before it.",
    ),
    Option(
        "learning.feedback_weight", number(0.25, 2), 1.0,
        "What multiplies the weight of people's votes. A pack's own constraints go"
        " before it.",
    ),
    Option(
        "feedback.half_life", number(0, 1e9), 0.0,
        "After so many seconds a vote on a decision counts for half as much; 0: off.",
    ),
    Option(
        "feedback.weight.path.heuristic", number(0, 10), 1.0,
        "What multiplies the weight of votes on what a heuristic said.",
    ),
    Option(
        "feedback.weight.path.llm", number(0, 10), 1.0,
        "What multiplies that of votes on a model's words which a heuristic says, too.",
    ),
    Option(
        "learning.repeat_decay", number(0, 100), 0.0,
        "k: after n approvals of a heuristic the next weighs 1/(1+k·n); 0: as much.",
    ),
    Option(
        "learning.stale_days", number(0, 36_500), 30.0,
        "A heuristic that did not fire for so many days is flagged as stale; 0: none is.",
    ),
    Option(
        "learning.drift_fires", whole(0, 128), 20,
        "So many of a heuristic's latest fires are held against all before them, and an"
        " alarm is raised if they went otherwise; 0: none are.",
    ),
    Option(
        "learning.drift_level", number(0.5, 0.999999), 0.999,
        "How probable it is that sound fires stay within the interval that they must leave"
        " for that.",
    ),
    Option(
        "sleep.events", whole(0, 256), 64,
        "How many of the latest decisions a sleep may make again; 0: none.",
    ),
    Option("sleep.limit", whole(0, 64), 16, "How many of them one sleep makes again."),
    Option(
        "sleep.apply", one_of("by_hand", "safe"), "by_hand",
        "Which of its proposals are put in force at once: none, or those by which"
        " nothing goes that answers by itself today.",
    ),
    Option(
        "sleep.auto", one_of("on", "off"), "off",
        "Whether an agent sleeps by itself when nothing happens.",
    ),
    Option("sleep.idle_minutes", positive, 30.0, "After so many minutes without any."),
    Option(
        "intake.rate", number(0, 1_000_000), 200.0,
        "How many messages a second each source of an agent may send in the long run;"
        " the excess is put into quarantine unread; 0: any number. Raise it to play"
        " recordings or to measure.",
    ),
    Option(
        "intake.burst", whole(1, 1_000_000), 2_000,
        "How many of them may come at once.",
    ),
    Option(
        "worker.processes", processes, "1",
        "In how many processes the mind runs, 1 to 16, each with its part of the agents;"
        " auto: one for each processor. Each takes its own memory.",
    ),
    Option("packs", texts, (), "Folders of packs that `up` loads."),
    Option(
        "pack_folder", text, "packs",
        "Where `up` looks for packs if none is named: each subfolder with a manifest.",
    ),
)  # fmt: skip
"""Every setting there is, in the order in which it is shown."""
