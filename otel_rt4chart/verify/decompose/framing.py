"""Recognises framing, text that asserts nothing: courtesies, announcements, abstentions."""

from __future__ import annotations

import re

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
    unsaid = _UNSAID.search(text)
    inside = unsaid.start() if unsaid else len(text)
    return any(
        not _ABSTAINS.match(text, joint.end())
        for joint in _JOINT.finditer(text)
        if joint["free"] or joint.end() <= inside
    )
