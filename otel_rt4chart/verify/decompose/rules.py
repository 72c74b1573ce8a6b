"""Splits an answer into claims by rule, in the answer's own words; skips code and framing."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence

from otel_rt4chart.verify.core.model import AnswerRange, ClaimKind, DraftClaim, Sentence
from otel_rt4chart.verify.decompose.coordination import (
    Predicate,
    begins_clause,
    predicates,
)
from otel_rt4chart.verify.decompose.phrases import split_each, split_subject
from otel_rt4chart.verify.decompose.tables import table_claims

# The rest of a framing sentence, up to a clause that may assert something.
_REST = r"(?:(?!,?\s(?:but|however|although|though|while)\b|;\s).)*"
_SORRY = (
    r"(?:(?:i'm|i\ am)\ (?:sorry|afraid)|sorry|unfortunately|however)[,:]?\s+(?:but\s+|that\s+)?"
)
# Each alternative matches a whole sentence: "No refunds are given" only begins like an agreement.
_NOT_A_CLAIM = re.compile(
    rf"""(?:
        (?:sure|yes|no|certainly|of\ course|absolutely|ok(?:ay)?|thanks|thank\ you|hello|hi|sorry
          |welcome|in\ (?:summary|conclusion|short)|to\ summari[sz]e|overall)(?:\ there)?
      | (?:thanks|thank\ you)\ for\ (?:your|the|asking|reaching)\b{_REST}
      | dear\ \w+ | hello\ \w+
      | (?:here|below)\ (?:is|are)\ (?:the|a|an|your|my|some)\ (?:[a-z]+\s+)?
          (?:answer|summary|overview|list|response|information|details|breakdown|explanation)s?
          (?:\ (?:to|of|for|about|you)\b[^.:]*)?
      | (?:here|below)\ (?:is|are)\b[^.:]*:
      | (?:i\ )?hope\ (?:this|that|it|these)\ (?:helps?|answers?|clarif\w+|information)\b{_REST}
      | (?:please\ )?(?:let\ (?:me|us)\ know|feel\ free\ to|do(?:\ not|n't)\ hesitate\ to)\b{_REST}
      | please\ (?:contact|consult|check|refer|see|visit|provide|clarify|ask|try|review)\b{_REST}
      | if\ you\ (?:have|need|want|would\ like)\b[^,.]*,\s
          (?:please|feel\ free|let\ (?:me|us)\ know|just\ ask|i\b|i'm\b)\b{_REST}
      | (?:{_SORRY})*i(?:\ could|\ can|\ do|\ did|\ was|\ am|'m)\ ?(?:not|n't|unable|cannot)\s
          (?:able\ to\ |to\ )?(?:find|answer|know|have|see|determine|tell|locate|provide|confirm
            |say|verify|sure)\b{_REST}
      | (?:{_SORRY})*i\ (?:couldn't|cannot|can't|don't|didn't|wasn't\ able\ to)\s
          (?:find|answer|know|have|see|determine|tell|locate|provide|confirm|say|verify)\b{_REST}
      | (?:{_SORRY})*(?:(?:the|these|this|your)\ )?(?:(?:provided|retrieved|given)\ )*
          (?:passages?|documents?|contexts?|sources?|texts?|articles?
            |(?:provided|retrieved|given)\ information)
          (?:\ (?:provided|retrieved|given|above))?\ (?:explicitly\ )?
          (?:do(?:es)?\ not|don't|doesn't|did\ not|cannot|can't)\ (?:\w+ly\ )?
          (?:mention|say|specify|state|contain|provide|include|tell|indicate|discuss|address)
          \b{_REST}
      | (?:{_SORRY})*there\ (?:is|was)\ no\ (?:mention|information)\b{_REST}
          \ in\ (?:the|these|this)\ (?:\w+\ )?(?:passages?|documents?|contexts?|sources?|texts?)
    )[\s.!,:…]*""",
    re.IGNORECASE | re.VERBOSE | re.DOTALL,
)
_HEADING = re.compile(r"^(?:#{1,6}\s.*|[^.!?]{1,60}:)$")

# A clause with a subject of its own: a pronoun, or a noun phrase before an auxiliary. Other
# verbs look like plural nouns ("…, and celebrity crushes"), so they do not make a clause.
AUXILIARY = (
    r"(?:is|are|was|were|has|have|had|will|would|can|could|may|might|must|should|does|do|did)\b"
)
SUBJECT = rf"""(?=(?:it|they|he|she|we)\s+[a-z]
  |(?:(?:this|these|those|there)\s+
    |(?:the|a|an|its|their|his|her|our|your)\s+(?:[\w'-]+\s+){{1,4}}?
    |(?:(?-i:[A-Z])[\w'-]+\s+){{1,3}}?)
   {AUXILIARY})"""

# Where a framing sentence continues with a clause that may assert: "…, which ships tomorrow".
_JOINT = re.compile(
    rf"""(?P<free> ,\s(?:which|who|whom|whose|where)\s
      | ,\s(?:because|given\ that|so)\s(?!of\b|that\b|you\b)
      | ,\s(?:since|as)\s(?!(?:soon|long|well|far|much|many|to|of|per|an?|usual|always|such|follows
          |mentioned|noted|requested|described|stated|above|below|then|now)\b)
      | (?:,\sand\s|:\s|\s?[–—]\s?|\s-\s){SUBJECT} )
    | \s(?:because|given\ that)\s(?!of\b)
    | (?<!soon)(?<!long)(?<!well)(?<!far)(?<!much)(?<!many)(?<!such)\s(?:since|as)\s
        (?!(?:soon|long|well|far|much|many|to|of)\b)
        (?=(?:it|they|he|she|we|you)\s[a-z]
          |(?:(?!(?:and|but|to)\b)[\w'-]+\s){{1,5}}?{AUXILIARY})""",
    re.IGNORECASE | re.VERBOSE,
)
# "Do not say whether it closed because it rained": the reason is part of what is not said.
# "As big as you think" is a comparison.
_UNSAID = re.compile(
    r"""\b(?:know|say|see|tell|sure|find|determine|confirm|verify|mention|specify|state|indicate
      |discuss|address)\s(?:that|whether|if|how|why|what|when|where|who|which)\b
    | \bas\s[\w'-]+\s(?:an?\s[\w'-]+\s)?as\b""",
    re.IGNORECASE | re.VERBOSE,
)
_SOURCE = r"""(?:(?:provided|retrieved|given|available|supplied)\ )*
    (?:passages?|documents?|contexts?|sources?|texts?|articles?|excerpts?|(?:search\ )?results?
      |information)(?:\ (?:provided|retrieved|given|above|available))?"""
# Clauses about the sources, the speaker or the reader; they assert nothing either.
_ABSTAINS = re.compile(
    rf"""(?:i|i'm|i've|my|please|just|feel\ free|let\ (?:me|us)|we(?:'ll|\ will|\ would))\b
    | (?:there\ (?:is|was|are|were)\ )?(?:no|not\ any|not\ enough)\ (?:[\w'-]+\ ){{0,2}}?
        (?:information|mention|details?|data|answer|evidence|reference)\b
    | (?:(?:the|these|this|those|your|none\ of\ the|no|any)\ )*{_SOURCE}\ (?:explicitly\ |simply\ )?
        (?:(?:do|does|did|can|could|is|are|was|were|has|have)(?:\ not|n't)|cannot|only|lacks?
          |(?:is|are)\ about|focus(?:es)?|discuss(?:es)?|mentions?|contains?|covers?|describes?
          |says?|refers?|concerns?|deals?)\b
    | (?:[\w'-]+\ ){{1,6}}?(?:(?:is|are|was|were|has|have)\ not|isn't|aren't|wasn't|weren't)\s
        (?:been\ )?(?:\w+ly\ )?(?:mentioned|specified|stated|discussed|addressed|indicated
          |described|detailed|outlined|disclosed|provided|clear)\b
    | (?:it|this|that|which)\ (?:is|falls|goes|lies)\ (?:outside|beyond|unrelated|irrelevant)\b
    | [^,;]{{0,80}}?(?:\b(?:not|no|cannot|nothing|none)|n't)\b[^,;]{{0,80}}?
        \ (?:in|by|within|from)\ (?:the|these|this|any|your)\ {_SOURCE}\b""",
    re.IGNORECASE | re.VERBOSE,
)


def is_framing(text: str) -> bool:
    """True for a text that only frames; one with a digit may state a fact, so it never does."""
    bare = text.strip().replace("’", "'")
    if any(map(str.isdigit, bare)):
        return False
    if _HEADING.match(bare):
        return True
    return _NOT_A_CLAIM.fullmatch(bare) is not None and not _asserts_more(bare)


def _asserts_more(text: str) -> bool:
    """True where a clause after the framing asserts something, such as a reason."""
    unstated = _UNSAID.search(text)
    inside = unstated.start() if unstated else len(text)
    return any(
        not _ABSTAINS.match(text, joint.end())
        for joint in _JOINT.finditer(text)
        if joint["free"] or joint.end() <= inside
    )


_FENCE = re.compile(r"(?P<fence>`{3,}|~{3,})\s*(?P<info>[^`\s]*)[^`]*")
# Fences with these info strings hold prose.
_PROSE = {"text", "txt", "plain", "plaintext", "markdown", "md", "quote"}
# An assignment of a call or a literal, a call that is no word with a plural or a unit in brackets
# ("refund(s)"), an import, a definition, brackets alone.
_CODE_LINE = re.compile(
    r"""(?:(?:const|let|var)\s+)?[\w.\[\]'"]++\s*=\s*(?:(?:await|new)\s+)?
        (?:[A-Za-z_][\w.]*\(.*|["'\[{(].*)
    | (?:(?:await|return)\s+)?(?=[A-Za-z_]\w*[._]\w)[\w.]++\(.*\)\s*;?
    | [A-Za-z_]\w*+\((?:|[^"'=\n]*+["'=].*)\)\s*;?
    | from\s[\w.]+\simport\s.+ | import\s[a-z_][\w.]*(?:\sas\s\w+)?
    | (?:async\s+)?(?:def|class|function|func|fn)\s\w+\s*[(:{].*[:{]
    | [\[\]{}();,]+""",
    re.VERBOSE,
)


def are_code(sentences: Sequence[Sentence]) -> Iterator[bool]:
    """For each sentence of an answer, in order, whether it is code or a fence around code.

    A fence that is never closed reaches to the end of the answer.
    """
    fence, is_prose = "", False
    for sentence in sentences:
        mark = _FENCE.fullmatch(sentence.text)
        if mark and not fence:
            fence, is_prose = mark["fence"], mark["info"].lower() in _PROSE
            yield True
        elif mark and not mark["info"] and mark["fence"].startswith(fence):
            fence = ""
            yield True
        else:
            yield bool(fence and not is_prose) or _is_code(sentence.text)


def _is_code(text: str) -> bool:
    """True where every line is a line of code."""
    lines = [line.strip() for line in text.splitlines() if line.strip()]
    return bool(lines) and all(_CODE_LINE.fullmatch(line) for line in lines)


# List markers, agreement and announcements before a claim.
LEAD_IN = re.compile(
    r"""(?: \s*(?:[-*+•‣◦·–—>#]+|\(?(?:\d{1,3}|[a-zA-Z])[.)])\s+
      | (?:sure|yes|no|certainly|of\ course|absolutely|okay|ok|great\ question|well|exactly
          |that'?s\ (?:right|correct))(?:\s*[,!.:–—-]+\s+)
      | (?:here\ (?:is|are)|below\ (?:is|are)|this\ is)\b[^.:!?]{0,60}:\s+ )""",
    re.IGNORECASE | re.VERBOSE,
)
QUESTION = re.compile(r"[?？؟][\"'”’)\]]*$")
WORD = re.compile(r"\w")
# HTML around the words of an answer, which claims nothing itself.
_TAG = re.compile(
    r"""</?(?:p|br|hr|div|span|b|i|u|em|strong|small|sub|sup|mark|ul|ol|li|dl|dt|dd|h[1-6]|table
      |thead|tbody|tfoot|tr|td|th|caption|a|img|code|pre|blockquote|section|article|details|summary
      |html|head|body|!--)(?:\s[^<>]{0,300})?/?>|<!--[^>]{0,300}-->""",
    re.IGNORECASE | re.VERBOSE,
)

CLAUSE = re.compile(
    rf"""(?:;\s+(?:and\s+|but\s+|while\s+|however,?\s+)?|,\s+(?:and|but|while|whereas)\s+)
      (?P<subject>{SUBJECT})?""",
    re.IGNORECASE | re.VERBOSE,
)
RELATIVE = re.compile(r",\s(?:who|whom|whose|which|where)\b[^,]*$", re.IGNORECASE)
FINITE = re.compile(
    r"\b(?:is|are|was|were|has|have|had|will|would|can|could|may|might|must|should|does|do|did"
    r"|[a-z]{3,}(?:ed|es|s))\b"
)
# Verbs after which what follows is someone's word, whatever clause it stands in.
REPORTING = re.compile(
    r"""\b(?i:according\ to|allegedly|reportedly|supposedly|purportedly)\b
    | (?<!\bnot\ )(?<!n't\ )(?<!n’t\ )\b(?:say|claim|report|believe|argue|suggest|allege|think
      |announce|explain|estimate|insist|assert|warn|predict|conclude|indicate|reveal|admit|deny
      |contend)\b
    | \b(?:says|said|tells|told|thinks|thought|den(?:ies|ied)|admits|admitted|adds|added|notes|noted
      |hopes|hoped|writes|wrote|feels|felt|finds|found|fears|feared|knows|knew|means|meant|shows
      |showed|rules|ruled|state[sd]|acknowledge[sd]|(?:discover|learn)(?:s|ed)
      |(?:claim|report|suggest|announc|explain|insist|assert|warn|predict|contend|reveal)(?:e?s|ed)
      |(?:believ|argu|alleg|estimat|conclud|indicat|confirm|recommend|propos|determin|decid
        |ensur|realiz)(?:e?s|ed)|expect(?:s|ed)(?!\ to\b))\b""",
    re.VERBOSE,
)
CONDITION = re.compile(
    r"""\b(?:if|unless|when|whenever|whether|once|provided|providing|assuming
    |(?:as|so)\ long\ as|in\ case|in\ the\ event|on\ condition|subject\ to|depending)\b""",
    re.IGNORECASE | re.VERBOSE,
)
# In a sentence with one of these, the coordinated parts may not say what the whole says.
ENTANGLED = re.compile(
    r"""\b(?:while|because|although|though|whereas|wherever|either|neither|nor|not\ only|rather
    |otherwise|respectively|instead)\b | [:;\n…]|\s[–—-]\s|—""",
    re.IGNORECASE | re.VERBOSE,
)
# "after you verify", "until the parcel arrives"; not "after the war and won".
TIME_CLAUSE = re.compile(
    rf"""\b(?:after|before|until|till|since|as)\s(?:(?!(?:and|but)\b)[\w'’-]+\s){{0,4}}?
      (?:(?:you|it|they|he|she|we|i|this)\b|{AUXILIARY})
    | \b(?:after|before|until|till)\s(?:the|an?|your|their|its|his|her)\s
      (?:(?!(?:and|but)\b)[\w'’-]+\s){{1,3}}[\w'’-]+(?:s|ed)\b""",
    re.IGNORECASE | re.VERBOSE,
)
FIRST_WORDS = re.compile(r"\S+\s+\S+")
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
    """The claims in the order of the answer; no split adds words or loses a condition or speaker.

    A claim's text is the answer's text at its range; a predicate without a subject of its own gets
    the sentence's subject before it, joined by a space, and a cell of a table its row and header.
    HTML tags are left out. Questions, framing, courtesies, abstentions
    and code are drafts with `is_claim` False.
    """
    # The context is not a parameter: claims written with the passages in view would drift towards
    # what the passages say.
    coded = list(zip(sentences, are_code(sentences), strict=True))
    tables = table_claims([sentence for sentence, is_code in coded if not is_code])
    return tuple(
        draft
        for sentence, is_code in coded
        for draft in tables.get(sentence.index) or _drafts(sentence, is_code=is_code)
    )


def _drafts(sentence: Sentence, *, is_code: bool) -> Iterator[DraftClaim]:
    text = sentence.text
    if is_code or not WORD.search(_TAG.sub("", text)) or QUESTION.search(text) or is_framing(text):
        yield _draft(sentence, Predicate(0, len(text)), is_claim=False)
        return
    start = 0
    while (lead := LEAD_IN.match(text, start) or _TAG.match(text, start)) and WORD.search(
        text, lead.end()
    ):
        start = lead.end()
    if start and is_framing(text[start:]):
        yield _draft(sentence, Predicate(start, len(text)), is_claim=False)
        return
    for clause in _clauses(text, start):
        is_claim = not is_framing(text[slice(*clause)])
        for part in _predicates(text, *clause) if is_claim else (Predicate(*clause),):
            yield _draft(sentence, part, is_claim=is_claim and not is_framing(part.read(text)))


def _clauses(text: str, start: int) -> Iterator[tuple[int, int]]:
    """The full clauses that the sentence joins; else the whole sentence from `start` on."""
    for cut in CLAUSE.finditer(text, start):
        if cut["subject"] is None and not begins_clause(text, cut.end(), len(text)):
            continue
        if any(guard.search(text, start, cut.start()) for guard in (REPORTING, CONDITION)):
            break
        # "Ann, who is a champion, and her team won" has no verb of its own before the comma.
        before = RELATIVE.sub("", text[start : cut.start()])
        if FINITE.search(before) and len(before.split()) >= 3:
            yield start, cut.start()
            start = cut.end()
    yield start, len(text)


def _predicates(text: str, start: int, end: int) -> tuple[Predicate, ...]:
    """The clause's predicates; the clause itself where an attribution or condition covers several.

    The last predicate may have a verb of reporting of its own, for nothing comes after it.
    """
    whole = (Predicate(start, end),)
    if any(guard.search(text, start, end) for guard in (CONDITION, ENTANGLED, TIME_CLAUSE)):
        return whole
    *inner, main = split_subject(text, start, end)
    parts = (*inner, *predicates(text, main))
    last = parts[-1].start
    own = FIRST_WORDS.match(text, last, end)
    sides = ((start, last), (own.end() if own else end, end))
    is_reported = any(REPORTING.search(text, *side) for side in sides)
    is_torn = not all(_is_balanced(text[part.start : part.end]) for part in parts)
    return whole if is_reported or is_torn else split_each(text, parts)


def _is_balanced(part: str) -> bool:
    pairs = (("(", ")"), ("“", "”"))
    return part.count('"') % 2 == 0 and all(part.count(a) == part.count(b) for a, b in pairs)


def _draft(sentence: Sentence, part: Predicate, *, is_claim: bool) -> DraftClaim:
    text = part.read(sentence.text)
    text = _TAG.sub("", text) if "<" in text and is_claim else text
    return DraftClaim(
        text=text,
        sentence=sentence.index,
        range=AnswerRange(sentence.start + part.start, sentence.start + part.end),
        kind=kind_of(text),
        is_claim=is_claim,
    )


def kind_of(text: str) -> ClaimKind:
    """The kind of a claim by its most specific pattern; an action where none matches."""
    return next((kind for kind, pattern in KINDS if pattern.search(text)), "action")
