"""An answer's sentences into claims by rule: every claim is a slice of the answer."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence

from otel_rt4chart.verify.model import AnswerRange, ClaimKind, DraftClaim, Sentence

# What stands before a claim and says nothing: list markers, agreement, announcements.
LEAD_IN = re.compile(
    r"""(?: \s*(?:[-*+•‣◦·–—>#]+|\(?(?:\d{1,3}|[a-zA-Z])[.)])\s+
      | (?:sure|yes|no|certainly|of\ course|absolutely|okay|ok|great\ question|well|exactly
          |that'?s\ (?:right|correct))(?:\s*[,!.:–—-]+\s+)
      | (?:here\ (?:is|are)|below\ (?:is|are)|this\ is)\b[^.:!?]{0,60}:\s+ )""",
    re.IGNORECASE | re.VERBOSE,
)
# The rest of a sentence that asserts nothing, up to where a clause begins that might.
REST = r"(?:(?!,?\s(?:but|however|although|though|while)\b|;\s).)*"
SORRY = (
    r"(?:(?:i'm|i\ am)\ (?:sorry|afraid)|sorry|unfortunately|however)[,:]?\s+(?:but\s+|that\s+)?"
)
# Each alternative is the whole of a sentence: "No refunds are given" only begins like an agreement.
NOT_A_CLAIM = re.compile(
    rf"""(?:
        (?:sure|yes|no|certainly|of\ course|absolutely|ok(?:ay)?|thanks|thank\ you|hello|hi|sorry
          |welcome|in\ (?:summary|conclusion|short)|to\ summari[sz]e|overall)(?:\ there)?
      | (?:thanks|thank\ you)\ for\ (?:your|the|asking|reaching)\b{REST}
      | dear\ \w+ | hello\ \w+
      | (?:here|below)\ (?:is|are)\ (?:the|a|an|your|my|some)\ (?:[a-z]+\s+)?
          (?:answer|summary|overview|list|response|information|details|breakdown|explanation)s?
          (?:\ (?:to|of|for|about|you)\b[^.:]*)?
      | (?:here|below)\ (?:is|are)\b[^.:]*:
      | (?:i\ )?hope\ (?:this|that|it|these)\ (?:helps?|answers?|clarif\w+|information)\b{REST}
      | (?:please\ )?(?:let\ (?:me|us)\ know|feel\ free\ to|do(?:\ not|n't)\ hesitate\ to)\b{REST}
      | please\ (?:contact|consult|check|refer|see|visit|provide|clarify|ask|try|review)\b{REST}
      | if\ you\ (?:have|need|want|would\ like)\b[^,.]*,\s
          (?:please|feel\ free|let\ (?:me|us)\ know|just\ ask|i\b|i'm\b)\b{REST}
      | (?:{SORRY})*i(?:\ could|\ can|\ do|\ did|\ was|\ am|'m)\ ?(?:not|n't|unable|cannot)\s
          (?:able\ to\ |to\ )?(?:find|answer|know|have|see|determine|tell|locate|provide|confirm
            |say|verify|sure)\b{REST}
      | (?:{SORRY})*i\ (?:couldn't|cannot|can't|don't|didn't|wasn't\ able\ to)\s
          (?:find|answer|know|have|see|determine|tell|locate|provide|confirm|say|verify)\b{REST}
      | (?:{SORRY})*(?:(?:the|these|this|your)\ )?(?:(?:provided|retrieved|given)\ )*
          (?:passages?|documents?|contexts?|sources?|texts?|articles?
            |(?:provided|retrieved|given)\ information)
          (?:\ (?:provided|retrieved|given|above))?\ (?:explicitly\ )?
          (?:do(?:es)?\ not|don't|doesn't|did\ not|cannot|can't)\ (?:\w+ly\ )?
          (?:mention|say|specify|state|contain|provide|include|tell|indicate|discuss|address)
          \b{REST}
      | (?:{SORRY})*there\ (?:is|was)\ no\ (?:mention|information)\b{REST}
          \ in\ (?:the|these|this)\ (?:\w+\ )?(?:passages?|documents?|contexts?|sources?|texts?)
    )[\s.!,:…]*""",
    re.IGNORECASE | re.VERBOSE | re.DOTALL,
)
QUESTION = re.compile(r"[?？؟][\"'”’)\]]*$")
HEADING = re.compile(r"^(?:#{1,6}\s.*|[^.!?]{1,60}:)$")
WORD = re.compile(r"\w")

# A second clause with a subject of its own: a pronoun, or a noun phrase before an auxiliary. Other
# verbs look like plural nouns ("…, and celebrity crushes"), so they do not make a clause.
AUXILIARY = (
    r"(?:is|are|was|were|has|have|had|will|would|can|could|may|might|must|should|does|do|did)\b"
)
CLAUSE = re.compile(
    rf"""(?:;\s+(?:and\s+|but\s+|while\s+|however,?\s+)?|,\s+(?:and|but|while|whereas)\s+)
    (?=(?:it|they|he|she|we)\s+[a-z]
      |(?:(?:this|these|those|there)\s+
        |(?:the|a|an|its|their|his|her|our|your)\s+(?:[\w'-]+\s+){{1,4}}?
        |(?:(?-i:[A-Z])[\w'-]+\s+){{1,3}}?)
       {AUXILIARY})""",
    re.IGNORECASE | re.VERBOSE,
)
FINITE = re.compile(
    r"\b(?:is|are|was|were|has|have|had|will|would|can|could|may|might|must|should|does|do|did"
    r"|[a-z]{3,}(?:ed|es|s))\b"
)
KINDS: tuple[tuple[ClaimKind, re.Pattern[str]], ...] = (
    ("qualifier", re.compile(r"\b(?:only|unless|except|excluding|provided that|as long as|if|until"
                             r"|requires?|required|not covered|eligible)\b", re.IGNORECASE)),
    ("numeric", re.compile(r"\d|\b(?:two|three|four|five|six|seven|eight|nine|ten|eleven|twelve"
                           r"|twenty|thirty|forty|fifty|hundred|thousand|million|billion|half"
                           r"|percent)\b", re.IGNORECASE)),
    ("existence", re.compile(r"^\s*there (?:is|are|was|were)\b|\bexists?\b", re.IGNORECASE)),
    ("attribute", re.compile(r"\b(?:is|are|was|were|has|have|had)\b", re.IGNORECASE)),
)  # fmt: skip


def decompose(sentences: Sequence[Sentence]) -> tuple[DraftClaim, ...]:
    """The claims in the answer's order, never split where the right side would need new words.

    Questions, framing, courtesies and abstentions are drafts with `is_claim` False.
    """
    return tuple(draft for sentence in sentences for draft in _drafts(sentence))


def _drafts(sentence: Sentence) -> Iterator[DraftClaim]:
    text = sentence.text
    if not WORD.search(text) or QUESTION.search(text) or _is_framing(text):
        yield _draft(sentence, 0, len(text), is_claim=False)
        return
    start = 0
    while (lead := LEAD_IN.match(text, start)) and WORD.search(text, lead.end()):
        start = lead.end()
    if start and _is_framing(text[start:]):
        yield _draft(sentence, start, len(text), is_claim=False)
        return
    for left, right in _clauses(text, start):
        yield _draft(sentence, left, right, is_claim=not _is_framing(text[left:right]))


def _is_framing(text: str) -> bool:
    """A lead-in alone; one with a digit in it may carry a fact and is kept."""
    bare = text.strip().replace("’", "'")
    if any(map(str.isdigit, bare)):
        return False
    return NOT_A_CLAIM.fullmatch(bare) is not None or HEADING.match(bare) is not None


def _clauses(text: str, start: int) -> Iterator[tuple[int, int]]:
    """Where the sentence joins two full clauses, both; else the sentence from `start`."""
    for cut in CLAUSE.finditer(text, start):
        if FINITE.search(text, start, cut.start()) and len(text[start : cut.start()].split()) >= 3:
            yield start, cut.start()
            start = cut.end()
    yield start, len(text)


def _draft(sentence: Sentence, left: int, right: int, *, is_claim: bool) -> DraftClaim:
    text = sentence.text[left:right]
    return DraftClaim(
        text=text,
        sentence=sentence.index,
        range=AnswerRange(sentence.start + left, sentence.start + right),
        kind=kind_of(text),
        is_claim=is_claim,
    )


def kind_of(text: str) -> ClaimKind:
    """The claim's type by its most telling word; an action where none is found."""
    return next((kind for kind, pattern in KINDS if pattern.search(text)), "action")
