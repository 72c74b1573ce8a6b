"""The data of every recorded application: four support texts, one question, one answer."""

from __future__ import annotations

import re
from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Text:
    """One support text of a fictitious lamp shop."""

    id: str
    text: str


TEXTS = (
    Text(
        "returns.md#0",
        "Unused lamps may be returned within 30 days of delivery. Keep the receipt.",
    ),
    Text(
        "returns.md#1",
        "Lamps bought in the winter sale may be returned within 14 days.",
    ),
    Text("shipping.md#0", "Orders above 80 euros are shipped free of charge."),
    Text("visit.md#0", "The shop in Tarnholm opens at nine. Dogs are welcome."),
)
QUESTION = "Until when may I return lamps from the winter sale?"
# The endpoint answers this question with an empty message.
UNANSWERED = "Which lamps of the winter sale may not be returned at all?"
ANSWER = "Lamps from the winter sale may be returned within 30 days."
# The endpoint answers this request about a text with the summary of the text.
SUMMARISE = "Summarise this text of the shop:"
SUMMARIES = {
    "returns.md#0": "A lamp that was not used goes back within 30 days if the receipt is there.",
    "returns.md#1": "For lamps of the winter sale the time to give them back is two weeks.",
}
INSTRUCTIONS = "Answer from the context alone."
ROUTE = "support/returns"


def words(text: str) -> list[str]:
    """Crude stems of the words of a text, without short words."""
    found = re.findall(r"[a-z]+|\d+", text.lower())
    stems = [re.sub(r"(ed|s)$", "", word) for word in found]
    return [stem for stem in stems if len(stem) > 3]


def search(question: str, k: int = 2) -> list[tuple[Text, float]]:
    """The k texts with the largest share of the question's words, with that share."""
    wanted = set(words(question))
    scored = [(text, len(wanted & set(words(text.text))) / len(wanted)) for text in TEXTS]
    return sorted(scored, key=lambda pair: -pair[1])[:k]


def prompt(question: str, context: str) -> list[dict[str, str]]:
    """The messages that an application without a framework sends."""
    return [
        {"role": "system", "content": f"{INSTRUCTIONS}\n\n{context}"},
        {"role": "user", "content": question},
    ]
