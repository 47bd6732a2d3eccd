"""The card of a language, filled with English."""

from __future__ import annotations


class Language:
    """A language: our phrases in it, and the words that are recognised in texts.

    A card that lacks something has the English words below. Words are in lower case and separated by ``|``;
    "patterns" may be parts of a regular expression.
    """

    code = "en"  # of its prompt templates
    name = "English"  # as prompts name it
    settings = "en|eng|english|англійська|английский"  # values of ADR_LANGUAGE that choose it

    phrases: tuple[str, ...] = (  # for silence, one for each of the five sections
        "The transcript does not state the context.",
        "No other options were discussed in the transcript.",
        "The transcript does not state the decision.",
        "Neutral, because the transcript does not confirm any consequence.",
        "The transcript holds no further information.",
    )
    plan_approved = "Plan approved"  # the chosen option of a plan
    plan_rejected = "Plan sent back"

    headings: tuple[str, ...] = (  # names of each of the five sections
        "context|problem statement|problem|background|context and problem|problem and context",
        "options|options considered|considered alternatives|alternatives considered|alternatives",
        "decision|decisions|outcome|the decision|decision made|chosen option",
        "positive consequences|negative consequences|consequence|impact",
        "additional information|more info|further information|additional info",
    )
    polar = "positive|negative"  # patterns of a heading for good or bad consequences alone
    update = "update"  # of a heading that begins an addition
    marks = "status|date"  # labels of status and date

    units = (  # of numbers; patterns
        "sec|secs|seconds?|min|mins|minutes?|hr|hrs|hours?|days?|weeks?|months?|years?|bytes?|bits?|tokens?|lines?|"
        "rows?|files?|tests?|requests?|calls?|items?|records?|characters?|chars?|words?|cores?|threads?|times|percent"
    )

    yes = "yes|true"
    no = "no|not|false"
    answer = "answer"  # labels before a yes or no
    trivial = (  # words of an answer or a question that decides no more than whether to go on
        "yes|y|no|n|nope|ok|okay|continue|proceed|cancel|stop|go|ahead|on|sure|skip|abort|confirm|please|do|dont|not|"
        "it|this|that|with|to|i|we|you|shall|should|can"
    )

    chosen = "chosen(?: option)?|decision|outcome"  # labels of the chosen option; patterns
    because = "because"
    nothing = "none|nothing|undecided"  # a word that says alone that nothing was chosen; patterns
    no_decisions = (  # an answer that there is none to write down; a pattern
        r"no (?:design |architectural |new )?decisions?"
        r"(?: (?:were|was|are|is|in|of|this|the|that|made|found|here|session|part|transcript|taken))*"
    )
    denials = (
        "not|no|none|nothing|neither"  # the words of a sentence that says so; patterns, as the next three
    )
    verbs = "chosen|selected|decided|made|taken|reached|determined|picked|recorded|stated"
    subjects = "option|options|decision|choice|outcome"
    fillers = "was|were|is|has|have|been|yet|final|explicit|one|any|of|the|a|an|in|transcript|session|still"

    ignore = "ignore|disregard|forget|override"  # "ignore all previous instructions"
    previous = "all|any|every|of|the|your|my|these|those|previous|prior|above|earlier|preceding"  # patterns
    instructions = "instructions?|prompts?|rules|directions|guidelines"  # patterns
    skip = "skip"  # "skip the confirmation"
    articles = "the|any|all|every|user"
    confirmation = "confirmations?"  # patterns

    # Words of a name by which a secret is known ("api key: ..."), and of one that is none; English ones: ``privacy``
    passwords = ""
    secrets = ""
    keys = ""
    public = ""
    copula = "is|was"  # between a name and what it is

    tax_numbers = ""  # names of the number of a person
    number_words = ""  # words between the name and the number

    def __init__(self, name: str = "") -> None:
        self.name = name or self.name
