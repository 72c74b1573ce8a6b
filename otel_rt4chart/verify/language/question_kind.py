"""The kind of a question: how it is asked, its language, and whether it is long.

Kinds are asked in a mix that differs from day to day, and some are harder to answer than others, so
they explain a part of a route's rate without the judge. A kind depends on the question alone. What
the application makes of it, such as the number of passages or the length of the answer, does not
count: a retriever that breaks would explain its own damage.
"""

from __future__ import annotations

import re

from otel_rt4chart.verify.language.identify import SAMPLE, foreign_language

LONG_CHARACTERS = 200
NO_FORM = "other"
_WORD = re.compile(r"[^\W\d_]+(?:['’][^\W\d_]+)?")
_SENTENCE_END = re.compile(r"(?<=[.!?])\s+|\n+")
# By the first word of a sentence, in order: the first form that a question has is its form.
_FORMS = {
    "why": "why",
    "how": "how",
    "who, when or where": "who whom whose when where",
    "what": "what which what's whats",
    "yes or no": """is are was were am do does did can could will would shall should has have had
        may might must isn't aren't don't doesn't didn't can't couldn't won't wouldn't""",
    "task": """summarize summarise list write explain describe give show tell compare translate find
        create make help provide name define outline draft rewrite extract calculate generate""",
}
_FORM_OF = {word: form for form, words in _FORMS.items() for word in words.split()}
_QUANTITIES = frozenset("many much long often far old big large high fast soon".split())  # noqa: SIM905
# Words before the question itself.
_OPENINGS = frozenset(
    "please hi hello hey so and but or also ok okay then well now thanks thank you".split()  # noqa: SIM905
)


def question_kind(question: str) -> str:
    """The kind, such as "how", "yes or no, long" or "German"; "" without a question.

    There are some sixty kinds; forms are told apart in English only.
    """
    text = question.strip()
    if not text:
        return ""
    kind = foreign_language(text) or form_of(text[:SAMPLE])
    return f"{kind}, long" if len(text) > LONG_CHARACTERS else kind


def form_of(text: str) -> str:
    """The form of the last sentence that has one, else `NO_FORM`; English only.

    The last, because context comes before the question.
    """
    for sentence in reversed(_SENTENCE_END.split(text)):
        words = [word.lower().replace("’", "'") for word in _WORD.findall(sentence)]
        while words and words[0] in _OPENINGS:
            words.pop(0)
        if words[:1] == ["how"] and words[1:2] and words[1] in _QUANTITIES:
            return "how many"
        if words and (form := _FORM_OF.get(words[0])):
            return form
    return NO_FORM
