"""The words that limit, deny or weaken a statement: every list that verification and grouping use.

Lists are alternatives of a regular expression, without groups of their own names. `COMMON_*` is
what several users share; each user adds words of its own, because they answer different questions:

- JUDGE_*: features of the fitted judges. Their weights were fitted on exactly these words
  (weights.json, head.json): a changed word needs a new fit.
- FINGERPRINT_*: operations of issue fingerprints. A changed word moves new failures to other
  issues: raise FINGERPRINT_VERSION.
- RESTRICTION_*: findings on what an answer leaves out. They are made to stay quiet, so guards
  keep out what only sounds like a restriction.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Literal

# Quantifiers
COMMON_UNIVERSAL = (
    r"all|every|everyone|everybody|everything|always|any(?:one|body)?|each|never|entire(?:ly)?"
    r"|completely"
)
COMMON_PARTIAL = (
    r"some|several|many|most|few|often|usually|sometimes|partly|partially|mainly|mostly"
    r"|generally|typically|up\s+to|at\s+least|limited|part\s+of|half\s+of"
)
# Hedges: words that leave open whether the next word holds.
DOUBTS = (
    "may", "might", "could", "possibly", "perhaps", "probably", "likely", "potentially",
    "allegedly", "reportedly",
)  # fmt: skip
COMMON_HEDGE = "|".join(DOUBTS)
# Conditions and exclusions
COMMON_CONDITION = r"if|unless|provided\s+that|subject\s+to|as\s+long\s+as|until"
COMMON_EXCLUSION = r"other\s+than|apart\s+from"

ScopeKind = Literal[
    "universal", "restriction", "partial", "superlative", "hedge", "condition", "cause"
]
JUDGE_WORDS: Mapping[ScopeKind, str] = {
    "universal": rf"{COMMON_UNIVERSAL}|whole|both|complete|guarantee[sd]?|must",
    "restriction": r"only|solely|exclusively|just\s+for|limited\s+to|restricted\s+to|except",
    "partial": (
        rf"{COMMON_PARTIAL}|occasionally|one\s+of"
        r"|a\s+(?:number|majority|minority|portion|handful)\s+of"
    ),
    "superlative": (
        r"(?!(?:interest|invest|request|suggest|protest|contest|digest|forest|honest|arrest"
        r"|modest|harvest|manifest|guest|west|test|rest|nest|quest|best-known)\b)[a-z]{3,}est"
        r"|best|worst|most\s+[a-z]+|least\s+[a-z]+|ever|first|unique|unprecedented"
    ),
    "hedge": (
        rf"{COMMON_HEDGE}|can|possible|maybe|probable|potential|alleged|reported"
        r"|propos(?:e[sd]?|als?)|plan(?:s|ned|ning)?|expect(?:s|ed)?|intend(?:s|ed)?"
        r"|hop(?:e[sd]?|ing)|consider(?:s|ed|ing)?|suggest(?:s|ed)?|appear(?:s|ed)?"
        r"|seem(?:s|ed)?|believe[sd]?|claim(?:s|ed)?|aim(?:s|ed)?|would|should|try|tr(?:ies|ied)"
        r"|tend(?:s|ed)?|estimate[sd]?|think(?:s)?|thought|want(?:s|ed)?|going\s+to|will"
    ),
    "condition": (
        rf"{COMMON_CONDITION}|{COMMON_EXCLUSION}|excluding|depending|with\s+prior|eligible"
        r"|in\s+case|otherwise"
    ),
    "cause": (
        r"because|due\s+to|led\s+to|leads\s+to|caus(?:e|es|ed|ing)|result(?:s|ed|ing)\s+in"
        r"|as\s+a\s+result|owing\s+to|thanks\s+to|therefore|so\s+that|in\s+order\s+to|after"
    ),
}

# Negations
NEGATIONS = frozenset((
    "no", "not", "never", "none", "nobody", "nothing", "neither", "nor", "without", "cannot",
    "hardly", "barely", "scarcely", "rarely", "seldom",
))  # fmt: skip
LACKS = frozenset(("fail", "failed", "fails", "lack", "lacks", "lacked", "lacking", "unable"))
JUDGE_NEGATIONS = NEGATIONS | {"n't", "nowhere"}
# Verbs and adjectives that deny what follows them.
JUDGE_DENIALS = LACKS | frozenset((
    "deny", "denied", "denies", "denying", "unlikely", "refuse", "refused", "refuses", "reject",
    "rejected", "rejects", "absence", "absent", "exclude", "excludes", "excluded", "excluding",
))  # fmt: skip
# After `not` or `no`, these words leave the statement standing: `not only`, `no doubt`.
JUDGE_UNDENIED = frozenset(("only", "just", "merely", "simply", "necessarily", "doubt"))
# Where a negation ends.
JUDGE_CONTRASTS = frozenset(("but", "because", "although", "while"))
# Stems of permissions, and the words that say the same before a verb.
PERMITS = frozenset(("allow", "permit"))
CAN = frozenset(("can", "may", "could"))
# What takes something out of the rest of a statement, and that.
TAKES_OUT = (
    r"(?:\bexcept(?:\s+for)?|\bbut\s+not|,\s*(?:and\s+)?not|\bunless|\bother\s+than"
    r"|\bapart\s+from|\bexcluding|\bnot\s+including)\s+([^,;:.!?()]+)"
)
# Negations that may repeat one of the same sentence: "and neither are books".
ECHOES = frozenset(("neither", "nor"))
# Stems of verbs that say little beside their noun: one of them for another changes nothing.
LIGHT_VERBS = frozenset(("make", "run", "do", "don", "take", "perform", "execut"))
# Stems of words that say little beside the rest of a statement: general verbs, words that point to
# something said, words for the source. A passage without them may well say the same.
SAY_LITTLE = LIGHT_VERBS | frozenset((
    "work", "last", "get", "give", "go", "come", "happen", "occur", "stai", "remain", "leave",
    "hold", "bring", "put", "let", "find", "say", "nam", "soon", "again", "alreadi", "simp", "actu",
    "current", "tru", "own", "twic", "yourself", "themselv", "itself", "himself", "herself",
    "passag", "docu", "sourc", "text", "polici",
))  # fmt: skip
FINGERPRINT_NEGATIONS = NEGATIONS | LACKS

# Fingerprints
CueKind = Literal["exclusion", "condition", "hedge", "partial", "universal"]
_OBTAINED = "obtained|approved|authori[sz]ed|met|required|eligible|verified|completed|confirmed"
_COVER = "cover(?:ed)?|includ(?:e|ed)|appl(?:y|ies|icable)|eligible|available|permitted|allowed"
FINGERPRINT_CUES: Mapping[CueKind, str] = {
    "exclusion": (
        rf"{COMMON_EXCLUSION}|except(?:ing|\s+for)?|exclud(?:es|ed|ing|e)|exclusions?|excepted"
        r"|but\s+not|not\s+including|with\s+the\s+exception\s+of"
        rf"|(?:is|are|was|were|does|do|did)(?:\s+not|n['’]t)\s+(?:{_COVER})|not\s+(?:{_COVER})"
    ),
    "condition": (
        rf"{COMMON_CONDITION}|only\s+(?:if|when|for|after|with)|on\s+condition\s+that"
        r"|(?:with|after)(?=\s+prior\b)|in\s+case\s+of|depending\s+on"
        rf"|when(?=[^.;]{{0,60}}\b(?:{_OBTAINED})\b)|requires?(?=\s+prior\b)"
    ),
    "hedge": (
        rf"{COMMON_HEDGE}|expects?|expected|plans?\s+to|planned\s+to|proposed|appears?|seems?"
        r"|estimated"
    ),
    "partial": rf"{COMMON_PARTIAL}|certain",
    "universal": rf"{COMMON_UNIVERSAL}|unlimited|without\s+exception|in\s+all\s+cases",
}
# Words that say in which order things happen or what follows from what.
FINGERPRINT_ORDER = frozenset((
    "before", "after", "because", "since", "until", "following", "prior", "earlier", "later",
    "subsequently", "previously", "first", "then", "therefore", "due", "during", "while",
))  # fmt: skip
# Words about a text and what it does, not about its subject: "the article discusses".
FINGERPRINT_META = frozenset((
    "article", "articles", "author", "authors", "passage", "passages", "text", "texts", "document",
    "documents", "report", "reports", "summary", "summaries", "paper", "story", "transcript",
    "conversation", "dialogue", "episode", "podcast", "speaker", "speakers", "answer", "context",
    "source", "sources", "says", "said", "asks", "asked", "suggests", "suggest", "suggested",
    "states", "stated", "mentions", "mentioned", "discusses", "discussed", "describes",
    "described", "explains", "explained", "tells", "told", "notes", "noted", "reported",
))  # fmt: skip
# Words that rise, fall or compare: their opposites reverse a direction.
DIRECTIONS = frozenset((
    "increase", "decrease", "rise", "fall", "grow", "shrink", "gain", "loss", "up", "down",
    "higher", "lower", "high", "low", "more", "less", "greater", "fewer", "above", "below", "over",
    "under", "raise", "cut", "drop", "decline", "climb", "surge", "plunge", "slump", "improve",
    "worsen", "exceed", "expand", "reduce", "boost", "strengthen", "weaken", "better", "worse",
    "big", "small", "outperform", "underperform", "advance", "retreat", "accelerate", "slow",
    "double", "halve",
))  # fmt: skip

# What denies, excludes or limits without "not".
EXCLUDES = (
    r"\b(?:except\w*|exclu\w+|unless|only|apart\s+from|other\s+than|fail\w*|lack\w*|free\s+of"
    r"|forbid\w*|prohibit\w*|banned|barred|refus\w+)\b"
)
# "No more than" is a bound: it denies nothing.
BOUND_DENIED = r"\bnot?\s+(?:more|less|fewer|later|earlier)\s+than\b"

# Findings: what a passage restricts, in VERBOSE form, each beginning with the word that limits.
RestrictionKind = Literal[
    "exclusion", "condition", "eligibility", "time_limit", "bound", "quantifier",
    "population", "place", "hedge", "source",
]  # fmt: skip
_PARTICIPLE = r"\w+(?:ed|en|wn|id|de|nt|ne)"
# "when" opens a condition only for something done: "when approval has been obtained".
_DONE = (
    rf"(?:[\w'’-]+\s+){{0,5}}(?:(?:has|have)\s+been|is|are)\s+(?:not\s+)?{_PARTICIPLE}\b"
    rf"|{_PARTICIPLE}\b"
)
_IDLE = r"(?:needed|required|wanted|asked|used|done|finished|mentioned)\b"
_FORMALITY = (
    r"(?:prior|advance|written|request|approval|authori[sz]ation|receipt|payment|proof|notice"
    r"|confirmation|verification|registration|presentation|completion)\b"
)
_MONTH = r"jan|feb|mar|apr|may|jun|jul|aug|sep|oct|nov|dec"
RESTRICTION_WORDS: Mapping[RestrictionKind, str] = {
    "exclusion": rf"""
        \b(?: except(?:\s+(?:for|when|where|if|in))? | excluding | exclud(?:es?|ed)
            | {COMMON_EXCLUSION} | with\s+the\s+exception\s+of
            | (?:is|are)\s+not\s+(?:covered|eligible|included|available)
            | do(?:es)?\s+not\s+(?:apply|cover|include)
        )\b
    """,
    "condition": rf"""
        (?: (?<!\bas\s)(?<!\beven\s)(?<!\bwhat\s)(?<!\bsee\s)(?<!\bask\s)(?<!\bknow\s)(?<!\basked\s)
            \bif(?!\s+(?: so|not|only|any|ever|possible|you['’]ve
                        | (?:you|we|they|i)\s+(?: want|wish|like|look|think|include|would
                                               | have\s+(?:ever|any|questions)
                                               | need\s+(?:any|more|help|further) )
                       )\b)
          | \bunless | \bprovided\s+(?:that|you|the) | \bon\s+condition
          | \bas\s+long\s+as(?!\s+\w+\s+(?:year|month|week|day))
          | \bsubject\s+to | \bcontingent\s+on
          | \bonly\s+(?:when|where|once|after|upon|if|with)
          | \bwith\s+(?=(?:\w+\s+)?{_FORMALITY})
          | \b(?:upon|after)\s+(?=(?:\w+\s+){{0,2}}{_FORMALITY})
          | \b(?:when|once|where|after)\s+(?!{_IDLE})(?={_DONE})
          | \brequires? | \b(?:is|are)\s+required | \bmust(?!\s+have\b)
        )\b
    """,
    "eligibility": r"""
        \b(?: (?:(?<=\bis\s)|(?<=\bare\s))eligible | eligibility | aged\s+\d+
            | \d+\s+(?:years\s+)?(?:and|or)\s+(?:above|over|older|under|younger)
            | only\s+(?: for(?!\s+\d) | to | available\s+(?:to|for) )
            | (?:new|existing|verified|registered)\s+\w+\s+only
        )\b
    """,
    "time_limit": rf"""
        \b(?: within\s+(?=\d|one|two|three|the\s+first) | only\s+available\s+within
            | no\s+later\s+than | expires? | valid\s+(?:for|until)
            | until(?=\s+(?:the\s+end|\d|{_MONTH}))
            | for\s+the\s+first\s+(?=\w)
        )\b
    """,
    "bound": r"""
        \b(?: up\s+to | at\s+most | limited\s+to | (?:a\s+)?maximum\s+of | no\s+more\s+than )
        \s+(?=\W?\d|one\b|two\b|three\b|a\b)
    """,
    "quantifier": r"""
        (?: (?<!\bnot\s)(?<!\bthe\s)(?<!\bhis\s)(?<!\bher\s)(?<!\btheir\s)
            \bonly(?=\s+(?!\d|a\b|one\b|two\b|three\b|for\b|just\b))
          | \ball\s+but
          | \b(?:some|most)(?=\s+\w+s\b)
        )
        (?:\s+[\w'’-]+){1,3}
    """,
}
# What is not required, or not excluded, restricts nothing.
RESTRICTION_DENIED = (
    r"(?:not|n['’]t)\s+(?:exclud|requir|subject|contingent|limited)\w*"
    r"|\bno(?:\s+[\w-]+){1,3}\s+(?:is|are)\s+required"
)
# A claim with one of these says a restriction of that kind itself.
PARTIAL_SAID = (
    r"there\s+(?:is|are)|some|most|many|several|certain|few|selected|not\s+all|all\s+but|partly"
    r"|partially"
)
SOLE_SAID = r"only|solely|exclusively|just|limited|restricted"
BOUND_SAID = (
    r"up\s+to|at\s+(?:most|the\s+latest)|limit(?:ed)?|max(?:imum)?|no\s+more|not\s+more|within|until"
    r"|till|less\s+than|under|below|as\s+\w+\s+as"
)

# Findings: what stands before or after a clause and modifies it. These words open a phrase; what
# the phrase says is not listed.
CONDITION_OPENS = (
    r"if|unless|when|where|once|provided|providing|assuming|given|pending|subject\s+to|as\s+long\s+as"
    r"|on\s+condition|without|barring|except|save|minus|but\s+not|excluding|only"
)
MODIFIER_OPENS = (
    r"up\s+to|in|for|among|by|during|under|with|within|until|till|from|since|inside|outside|before"
    r"|after|at|to\s+a|throughout|between|over|beyond|on"
)
# Statements that hold in general: what is covered, allowed or free, who may do what. Only these say
# more without a phrase of time, place or population; an event may be told without its date.
_ROLES = (
    r"(?:member|customer|employee|user|guest|resident|subscriber|visitor|passenger|tenant|student"
    r"|policyholder|cardholder|client|contractor|applicant|participant|buyer|shopper|travell?er"
    r"|owner|driver|volunteer)s?|staff"
)
_ALLOWED = (
    r"return|cancel|claim|exchange|use|bring|park|withdraw|apply|transfer|book|change|upgrade|enter"
    r"|visit|work|stay|smoke|renew|redeem|extend|borrow|deduct|vote|register|drive|travel|join"
)
_ALLOWED_PAST = (
    r"returned|cancell?ed|claimed|exchanged|brought|withdrawn|transferred|booked|changed"
    r"|upgraded|renewed|redeemed|extended|borrowed|deducted|refunded|reimbursed|combined"
)
_RULES_OF = (
    r"(?:polic(?:y|ies)|plans?|insurance|insurers?|warrant(?:y|ies)|guarantees?|cover(?:age)?|schemes?"
    r"|cards?|medicare|medicaid|discounts?|offers?|rules?|fees?|prices?|limits?|exemptions?|we)"
)
COVERING_SAID = (
    rf"{_RULES_OF}\s+(?:also\s+|only\s+)?(?:covers?|reimburses?|insures?|refunds?|waives?"
    r"|pays?\s+for|appl(?:y|ies))"
)
LASTING_SAID = (
    r"(?:is|are)\s+(?:(?:not|also|always|still|now|\w+ly)\s+){0,2}(?:covered|insured|reimbursed"
    r"|reimbursable|refunded|refundable|compensated|free(?!\s+(?:of(?!\s+charge)|from|to)\b)|allowed"
    r"|permitted|accepted|entitled|eligible|exempt|waived|deductible|valid|payable|paid|prohibited"
    r"|included|granted"
    r"|forbidden|open|closed|safe|effective|legal|illegal|taxable|unlimited)"
    rf"|{COVERING_SAID}|\d+\s?(?:%|percent)\s+(?:discount|refund|reduction)"
    rf"|(?:{_ROLES}|you|adults|children|people|patients)\s+(?:can|may|cannot)\s+(?:{_ALLOWED})"
    rf"|(?:can|may|cannot)\s+be\s+(?:{_ALLOWED_PAST})"
)
RULE_SAID = (
    rf"{LASTING_SAID}|(?:{_ROLES}|you)\s+(?:must|have\s+to|need\s+to|gets?|receives?|earns?|pays?)"
)
# What may hold in one place and not in another; "is open in Leeds" only says where.
LOCAL_SAID = (
    r"covered|insured|reimbursed|free|allowed|permitted|prohibited|forbidden|accepted|valid|legal"
    r"|illegal|exempt|taxable"
)
# Claims that something happens at times, which a condition does not limit.
AT_TIMES = r"could|might|sometimes|often|occasionally|usually|generally|typically|tends?\s+to"
# "Employees may work from home" allows it; it is no doubt.
PERMISSION = rf"(?:{_ROLES}|you|they|we)\s+(?:also\s+)?may"
# Something that a person must have or show.
PAPERS = (
    r"referral|prescription|receipt|ticket|voucher|permit|pass|card|membership|coupon|code|licen[cs]e"
    r"|invitation|reservation|booking|deposit|surcharge|appointment|subscription|account|id"
)
# Times that come again, and limits of time; others are dates.
RECURRING_SAID = (
    r"\w+days|weekday|weekend|summer|winter|spring|autumn|season\w*|until|till|within|during|between"
    r"|nights?|first|before|after|from"
)
# Who has an interest in what they say.
INTERESTED = (
    r"(?:the|its|their|his|her|some|many)\s+(?:\w+\s+)?(?:manufacturers?|makers?|compan(?:y|ies)"
    r"|vendors?|sellers?|producers?|suppliers?|providers?|critics|supporters|opponents|advocates|promoters)"
)
# Words that make a phrase wider, not narrower.
WIDENING = (
    r"too|also|even|as\s+well|including|further\s+notice|or\s+not|regardless|anywhere|elsewhere|abroad"
    r"|day\s+one|whether|(?:start|beginning|outset)|or\s+(?:after|before|outside|without)"
)
# Phrases that only name the rules that a statement is from, or leave nothing out.
FRAME = (
    r"(?:in|under|by|with|within|of|for|on|at|from)\s+(?:the|this|our|your|its|their|these|such)\s+"
    r"(?:\w+\s+)?(?:polic(?:y|ies)|plans?|contracts?|agreements?|terms|laws?|act|sections?|rules?"
    r"|program(?:me)?s?|schemes?|prices?|rates?|fees?|costs?|public|company|bank|firm|store|shop)"
    r"|(?:in|by|under)\s+law|in\s+(?:full|part|principle|practice|advance|person|writing|most|many"
    r"|some|several|line|accordance)|at\s+(?:no|the\s+point)|of\s+(?:staff|charge)"
    r"|(?:in|over|for|during)\s+(?:recent|many|(?:the\s+)?(?:past|last|coming))"
    r"|\w+\s+(?:no|any|all|every|each|both|the\s+whole|the\s+entire)"
)
# Verbs that begin a result of what was said, which describes and limits nothing.
RESULT_OPENS = (
    r"(?:(?:and|thus|thereby|so|also)\s+)*(?:making|rendering|turning)"
    r"|(?:which|that)\s+(?:\w+ly\s+|also\s+)?(?:makes?|made|renders?|turns?)"
)
TIME_SAID = (
    r"days?|weeks?|months?|years?|hours?|minutes?|(?:first|second|third|last)\s+quarter"
    r"|seasons?|summer|winter|spring|autumn"
    r"|weekends?|weekdays?|holidays?|mondays?|tuesdays?|wednesdays?|thursdays?|fridays?|saturdays?"
    r"|sundays?|january|february|march|april|june|july|august|september|october|november|december"
    r"|(?:19|20)\d\d|until|night|morning|evening|noon|midnight|\d\s?[ap]\.?m|\d:\d\d"
)
# Phrases that join sentences and limit nothing.
DISCOURSE = (
    r"in\s+(?:addition|fact|general|particular|short|summary|conclusion|contrast|other|turn|total"
    r"|all|the\s+(?:meantime|end)|order|response|this|that|these|it|which)|for\s+(?:example|instance"
    r"|this|that|more|your)|at\s+(?:least|the\s+same|first|this|that)|on\s+(?:the\s+other|average|top"
    r"|this|that)|with\s+(?:this|that|these|those|it)|over\s+time|after\s+(?:all|that|this)|from\s+there"
    r"|under\s+(?:this|that|these)|when\s+it\s+comes|given\s+(?:this|that|these)|since\s+then|if\s+so"
    r"|before\s+(?:that|this)|if\s+you\s+(?:want|wish|like|travel|have|need|are|would)"
)
# Ways to say that something is not sure.
HEDGED = (
    COMMON_HEDGE + r"|(?:is|are|was|were)\s+(?:expected|likely|believed|thought|rumou?red|estimated"
    r"|projected|predicted|supposed|set)\s+to|(?:appears?|seems?)\s+to|(?:signs?|indications?|hints?"
    r"|suspicions?)\s+that"
)
# Ways to say that somebody else holds it true.
ALLEGED = (
    r"alleg(?:e|es|ed)\s+that|claim(?:s|ed)?\s+that|believes?\s+that|suspect(?:s|ed)?\s+that"
    r"|argue[sd]?\s+that|contends?\s+that|accuse[sd]?|speculate[sd]?\s+that|insist(?:s|ed)?\s+that"
)
# Parts of a whole, said of a plural noun.
PARTITIVE = (
    r"(?:a|the)\s+(?:\w+\s+)?(?:majority|minority|half|third|quarter|fraction|handful|number|portion"
    r"|share|few)\s+of|half\s+of|\d+\s*(?:%|percent|per\s+cent)\s+of|(?:one|two|three|four|nine)"
    r"\s+(?:in|out\s+of|of)\s+\w+|some\s+of|most\s+of|many\s+of|(?<!a\s)few|certain|selected|most|some"
)
# An answer with one of these says that something is not sure, or that it is a part.
DOUBT_SAID = (
    r"expects?|expected|believe[sd]?|think[s]?|thought|signs?|indications?|suggests?|suggested|can"
    r"|appears?|seems?|plans?|planned|aims?|hopes?|should|would|if|estimate[sd]?|possible|potential"
    r"|allowed|permitted"
)
PART_SAID = r"half|majority|minority|third|quarter|percent|portion|number|share"
PAST = r"was|were|had|did|said|told|went|came|took|became|began"
PRESENT = (
    r"is|are|be|been|am|do|does|has|have|can|cannot|may|must|shall|will|should|requires?"
    r"|appl(?:y|ies)|covers?|offers?|gets?|receives?|lasts?|includes?|expires?|extends?"
)
SPOKEN = r"I|I['’]\w+|my|he|she"
