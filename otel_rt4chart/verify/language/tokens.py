"""The words of a text with their stems and rarity."""

from __future__ import annotations

import json
import math
import re
from bisect import bisect_left
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cache, lru_cache
from importlib.resources import files

_FORMS = """
    win won; leave left; go goes going went gone; buy bought; find found; make made;
    take took taken; give gave given; begin began begun; come came;
    run ran; sell sold; tell told; pay paid;
    hold held; keep kept; lose lost; meet met; lead led; rise rose risen; fall fell fallen;
    grow grew grown; write wrote written; speak spoke spoken; break broke broken; build built;
    send sent; spend spent; feel felt; think thought; bring brought; teach taught; catch caught;
    see saw seen; know knew known; show shown; drive drove driven; fly flew flown;
    choose chose chosen; steal stole stolen; shoot shot; stand stood; understand understood;
    sit sat; eat ate eaten; drink drank; sing sang sung; swim swam; strike struck; fight fought;
    hear heard; seek sought; deal dealt; mean meant; become became; draw drew drawn;
    throw threw thrown; wear wore worn; forget forgot forgotten; hide hid hidden;
    die died dying dead death;
    man men; woman women; child children; person people; foot feet; life lives; wife wives;
    analysis analyses; crisis crises
    """
# Forms of verbs whose base is too short, or ends in a way, that the rules below miss them.
_SHORT_FORMS = """
    use used using; age aged aging ageing; owe owed owing; sue sued suing; tie tied tying;
    lie lied lying; ice iced icing; dye dyed dyeing; eye eyed eyeing; cue cued cueing;
    vie vied vying; free freed; agree agreed; disagree disagreed; guarantee guaranteed;
    decree decreed
    """
_CARDINALS = """
    zero one two three four five six seven eight nine ten eleven twelve thirteen fourteen
        fifteen sixteen seventeen eighteen nineteen twenty"""
_ORDINALS = "first q1; second q2; third q3; fourth q4; fifth; sixth; seventh; eighth; ninth; tenth"
_NUMBERS = {word: str(value) for value, word in enumerate(_CARDINALS.split())} | {
    word: str(value)
    for value, group in enumerate(_ORDINALS.split(";"), start=1)
    for word in group.split()
}
_VOWELS = frozenset("aeiouy")
_SUFFIXES = ("ations", "ation", "ments", "ment", "ness", "ions", "ion", "ally", "ly")


def stem(word: str) -> str:
    """The stem of a lower-case word; a number word becomes digits, a number loses its commas.

    All forms of a verb have one stem: that of its base.
    """
    if word in _IRREGULAR:
        return _IRREGULAR[word]
    if word in _NUMBERS:
        return _NUMBERS[word]
    if not word.isalpha() or not word.isascii() or len(word) <= 3:
        return word.replace(",", "") if word[:1].isdigit() else word
    found = _regular_stem(word)
    return _STEM_OF_BASE.get(found, found)


def _regular_stem(word: str) -> str:
    once = _inflection(_plural(word))
    # Of "exceeded" remains "exceed", which is a base that looks like a form.
    return _ending(_suffix(_inflection(once) if once.endswith(("eed", "bed")) else once))


def _plural(word: str) -> str:
    if word.endswith("ies") and len(word) > 4:
        return word[:-3] + "y"
    if word.endswith(("sses", "xes", "ches", "shes", "zzes")):
        return word[:-2]
    if word.endswith("s") and not word.endswith(("ss", "us", "is")):
        return word[:-1]
    return word


def _inflection(word: str) -> str:
    for suffix in ("ing", "ied", "ed"):
        rest = word[: -len(suffix)]
        if not word.endswith(suffix):
            continue
        if suffix == "ied" and len(rest) >= 2:
            return rest + "y"
        if len(rest) >= 3 and _VOWELS & set(rest):
            # "stopped" has a second p, "added" and "stuffed" have no second d and f.
            is_doubled = rest[-1] == rest[-2] and len(rest) > 3 and rest[-1] not in "flsz"
            return rest[:-1] if is_doubled else rest
    return word


def _suffix(word: str) -> str:
    for suffix in _SUFFIXES:
        rest = word[: -len(suffix)]
        if word.endswith(suffix) and len(rest) >= 4:
            return rest + "at" if suffix.startswith("ation") else rest
    return word


def _ending(word: str) -> str:
    if word.endswith("e") and len(word) > 3:
        word = word[:-1]
    if word.endswith("y") and len(word) > 3:
        word = word[:-1] + "i"
    return word[:-1] if len(word) > 4 and word[-1] == word[-2] == "l" else word


def _groups(forms: str) -> list[list[str]]:
    return [line.split() for line in forms.split(";")]


_IRREGULAR = {form: group[0] for group in _groups(_FORMS) for form in group} | {
    form: _regular_stem(group[0]) for group in _groups(_SHORT_FORMS) for form in group
}
# "takes" and "taking" lose the e of "take", which is its own stem.
_STEM_OF_BASE = {_regular_stem(base): base for base in set(_IRREGULAR.values())}


# A number, an abbreviation with dots, one ideograph or kana, or a word with inner apostrophes.
_LONGEST = 64  # characters; a longer "word" is not analysed and is its own stem
_IDEOGRAPH = r"\u3040-\u30ff\u3400-\u9fff\uf900-\ufaff"
_LETTER = rf"(?![{_IDEOGRAPH}])[^\W_]"
_TOKEN = re.compile(
    rf"\d+(?:[.,]\d+)*|(?:[^\W\d_]\.){{2,}}|[{_IDEOGRAPH}]|(?:{_LETTER})+(?:['’](?:{_LETTER})+)*"
)
_BREAK = re.compile(r"[,;:.!?()\[\]—–\n\"“”]")
_FUNCTION_WORDS = """
    a an the this that these those there here it its itself he him his himself she her hers
    herself they them their theirs themselves we us our ours ourselves you your yours i me my mine
    who whom whose which what when where while why how and or but nor so if then than as of at by
    for with about against between into through during before after above below to from up down in
    out on off over under again further once is am are was were be been being have has had having
    do does did doing done will would shall should can could may might must ought not no nor too
    very just also only own same such both each any all some more most other s t don now et al
    upon within without toward towards across along among around per via one ones ever yet still
    even though although because since until unless whether however therefore thus hence besides
    well much many few less least several every either neither never always often sometimes get
    gets got getting said say says according include includes including another let us
    'm 're 've 'll 'd isn't aren't wasn't weren't don't doesn't didn't won't wouldn't can't cannot
    couldn't shouldn't haven't hasn't hadn't n't ain't it's that's there's he's she's they're
    we're you're i'm i've we've they've you've i'd i'll we'll they'll you'll he'd she'd what's
    who's let's here's rd th nd st furthermore moreover additionally nevertheless nonetheless"""
STOPWORDS = frozenset(_FUNCTION_WORDS.split())
_COUNTRIES = {"u.s": "usa", "u.s.a": "usa", "us": "usa", "u.k": "uk", "e.u": "eu", "u.n": "un"}


@dataclass(frozen=True, slots=True)
class Token:
    """One word, `text[start:end]`; `rarity` is in [0, 1], and 0 for function words."""

    text: str
    norm: str
    stem: str
    start: int
    end: int
    rarity: float
    is_capital: bool
    starts_clause: bool

    @property
    def is_content(self) -> bool:
        """True for words that are not function words."""
        return self.rarity > 0.0


@dataclass(frozen=True, slots=True)
class Vocabulary:
    """The rarity of stems, in (0, 1], and the stems that are mostly written as names."""

    rarities: dict[str, float]
    names: frozenset[str]

    def rarity(self, word_stem: str) -> float:
        """The rarity of a stem; 1.0 for one that the counted texts hardly use."""
        return self.rarities.get(word_stem, 1.0)

    def is_common(self, word_stem: str) -> bool:
        """True for a stem that is an ordinary word, not a name."""
        return word_stem in self.rarities and word_stem not in self.names


@cache
def vocabulary() -> Vocabulary:
    """The counts that the package ships, read once."""
    counted = json.loads(files(__package__).joinpath("vocabulary.json").read_text("utf-8"))
    documents = int(counted["documents"])
    top = math.log(documents)
    rarities = {
        word: max(0.05, math.log(documents / int(count)) / top)
        for word, count in counted["counts"].items()
    }
    return Vocabulary(rarities, frozenset(counted["names"]))


@lru_cache(maxsize=65536)
def _shape(word: str) -> tuple[str, str, float]:
    norm = word.lower().replace("’", "'")
    if norm.endswith("'s"):
        norm = norm[:-2]
    norm = norm.rstrip(".")
    if word.isupper() and norm in _COUNTRIES:
        norm = _COUNTRIES[norm]
    if norm in STOPWORDS or (len(norm) == 1 and norm.isascii() and norm.isalpha()):
        return norm, norm, 0.0
    word_stem = stem(norm)
    return norm, word_stem, vocabulary().rarity(word_stem)


def content(text: str) -> dict[str, float]:
    """The stems of a text's content words, with their rarity."""
    found: dict[str, float] = {}
    for word in _TOKEN.findall(text):
        _, word_stem, rarity = _shape(word) if len(word) <= _LONGEST else (word, word, 1.0)
        if rarity > 0.0:
            found[word_stem] = rarity
    return found


def tokenize(text: str) -> tuple[Token, ...]:
    """The words of a text in order; `starts_clause` marks those after punctuation."""
    tokens: list[Token] = []
    previous_end = 0
    for match in _TOKEN.finditer(text):
        word = match.group()
        norm, word_stem, rarity = _shape(word) if len(word) <= _LONGEST else (word, word, 1.0)
        starts = not tokens or _BREAK.search(text, previous_end, match.start()) is not None
        tokens.append(
            Token(
                word,
                norm,
                word_stem,
                match.start(),
                match.end(),
                rarity,
                word[0].isupper(),
                starts,
            )
        )
        previous_end = match.end()
    return tuple(tokens)


def token_range(tokens: Sequence[Token], start: int, end: int) -> range:
    """The indices of the words that begin in `text[start:end]`."""
    first = bisect_left(tokens, start, key=_start)
    return range(first, bisect_left(tokens, end, lo=first, key=_start))


def _start(token: Token) -> int:
    return token.start
