"""Whether a text is in English, by its letters and by the function words of other languages.

It is silent in doubt: a claim in English must not be taken for another language because of its
names, terms or numbers. General identifiers either do so, or find half of the short sentences
(docs/understand/accuracy.md).
"""

from __future__ import annotations

import re
import unicodedata
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from functools import lru_cache
from typing import NamedTuple

from otel_rt4chart.verify.core.model import Sentence
from otel_rt4chart.verify.language.tokens import STOPWORDS, stem, vocabulary

# The most frequent function words, copulas and number words of languages in Latin letters.
_FUNCTION_WORDS = {
    "German": """der die das den dem des ein eine einen einem einer und oder aber ist sind war
        waren wird werden wurde wurden hat haben nicht kein keine keinen mit von zu zum zur im am
        auf für bei nach aus als auch nur noch sich es er sie wir ihr man wie wenn dass bis über
        unter vor durch ohne gegen innerhalb um sein seine ihre kann können muss müssen darf zwei
        drei vier fünf sechs sieben acht neun zehn jahre tage wiegt kostet beträgt""",
    "French": """a le la les un une des du de et ou mais est sont était ont avec pour par sur dans
        au aux ne pas plus que qui ce cette ces son sa ses leur leurs il elle ils elles nous vous
        se en y être avoir fait peut moins sans sous chez entre après avant jusque deux trois
        quatre cinq six sept huit neuf dix ans jours très aussi tous tout toute pèse coûte""",
    "Spanish": """a el la los las un una unos unas de del y o pero es son era está están fue
        fueron ha han con para por en al no se que su sus lo le les más menos sin sobre entre
        hasta desde como cuando este esta estos estas ser tiene tienen puede pueden dos tres
        cuatro cinco seis siete ocho nueve diez años días también todos pesa cuesta""",
    "Italian": """a i il lo la gli le un uno una di del della dei delle dello e o ma è sono era ha
        hanno con per da dal dalla in nel nella al alla si non che chi su sul sulla tra fra più
        meno senza sotto come anche ogni questo questa essere può possono due tre quattro cinque
        sei sette otto nove dieci anni giorni pesa costa""",
    "Dutch": """de per het een en of maar is zijn was waren wordt worden werd heeft hebben niet
        geen met van voor op aan bij naar uit als ook nog zich hij zij wij ze men wie dat dit deze
        die tot over onder door zonder tegen binnen om te kan kunnen moet mag twee drie vier vijf
        zes zeven acht negen tien jaar dagen weegt kost""",
    "Portuguese": """o a os as um uma de do da dos das e ou mas é são era está estão foi foram tem
        têm com para por em no na nos nas ao à às se que não mais menos sem sob sobre entre até
        desde como quando este esta ser ter pode podem dois duas três quatro cinco seis sete oito
        nove dez anos dias também todos ele ela pesa custa""",
    "Polish": """i w we z ze na do od po za przez dla o u pod nad przy nie się jest są był była
        było były będzie ma mają to ten ta te tego tej który która które jak że lub albo ale tylko
        oraz bez można dwa dwie trzy cztery pięć sześć siedem osiem dziewięć dziesięć lat lata dni
        trwa wynosi""",
    "Turkish": """ve bir bu da de ile için en çok daha az değil değildir var yok olan olarak gibi
        kadar sonra önce ya ise ki mi iki üç dört beş altı yedi sekiz dokuz yıl gün sürer""",
    "Swedish": """och att det som en ett är av för med på till den har inte om var från eller men
        vid kan ska under i två tre fyra fem""",
    "Danish": """og at det som en et er af for med på til den har ikke om var fra eller men ved
        kan skal under i""",
    "Finnish": """ja on ei se että oli ovat mutta kuin tai sekä myös joka ovat""",
    "Indonesian": """yang dan di pada dari untuk dengan ini itu adalah tidak hari akan oleh""",
    "Welsh": """yr ac mae wedi ei fod yn o ar gan eu bod i oedd am ym""",
}  # fmt: skip
# Spelt like English words, so that they say nothing: "was", "in", "man", "plus".
_ALIKE = STOPWORDS | frozenset(
    """man bred war bin under plus pour son fait dies men come or am um kan ten lat i per den des
    al sin chi mi ki var med vid""".split()  # noqa: SIM905
)
_ANY = frozenset().union(*(words.split() for words in _FUNCTION_WORDS.values()))
# Verbs of values count as content too: "Der X200 wiegt 254 Gramm".
_VERBS = frozenset(
    "wiegt kostet pèse coûte pesa costa cuesta weegt kost custa waży".split()  # noqa: SIM905
)
_SPOKEN = {
    word: tuple(name for name, words in _FUNCTION_WORDS.items() if word in words.split())
    for word in _ANY - _ALIKE
}
_SCRIPTS = {
    "CJK": "Chinese or Japanese", "HIRAGANA": "Japanese", "KATAKANA": "Japanese",
    "HANGUL": "Korean", "CYRILLIC": "Cyrillic", "ARABIC": "Arabic", "HEBREW": "Hebrew",
    "GREEK": "Greek", "DEVANAGARI": "Hindi", "THAI": "Thai",
}  # fmt: skip
_WIDE = frozenset({"CJK", "HIRAGANA", "KATAKANA", "HANGUL"})  # a letter is a syllable or a word
_WORD = re.compile(r"[^\W\d_]+(?:'[^\W\d_]+)?")
_ELISION = re.compile(r"^(?:l|d|j|qu|n|s|c|m|t|dell|all|nell|un)'", re.IGNORECASE)
_MIN_WORDS = 3  # names of two words look alike everywhere
SAMPLE = 4_000  # characters that show the language of a text


class _Evidence(NamedTuple):
    """What the words of a text say for English and against it."""

    words: int
    english: int
    known: int
    strange: int
    accented: int
    language: str
    function_words: int


def foreign_language(text: str) -> str:
    """The language of a text that is surely not English, or its script; "" for any other text."""
    return _foreign_language(text[:SAMPLE].replace("’", "'"))


class PassageLanguages(NamedTuple):
    """The passages that are not in English, with their language; whether that is all of them."""

    foreign: Mapping[str, str]
    is_all: bool


@lru_cache(maxsize=16)  # contexts: linking and the judge ask about the same one
def passage_languages(sentences: tuple[Sentence, ...]) -> PassageLanguages:
    """The language of each passage by its first sentences."""
    texts: dict[str, str] = {}
    for one in sentences:
        text = texts.setdefault(one.passage_id, "")
        if len(text) < SAMPLE:
            texts[one.passage_id] = f"{text} {one.text}"
    languages = {name: foreign_language(text) for name, text in texts.items()}
    foreign = {name: language for name, language in languages.items() if language}
    return PassageLanguages(foreign, len(foreign) == len(texts) > 0)


@lru_cache(maxsize=4_096)
def _foreign_language(text: str) -> str:
    if not text.isascii() and (script := _foreign_script(text)):
        return script
    found = _evidence(_WORD.findall(text))
    return found.language or "another language" if _is_foreign(found) else ""


def _foreign_script(text: str) -> str:
    """The script that most letters are of, where it is not Latin."""
    counts = Counter(_script(letter) for letter in text if letter.isalpha())
    weights = {name: count * (3 if name in _WIDE else 1) for name, count in counts.items()}
    others = {name: weight for name, weight in weights.items() if name in _SCRIPTS}
    total = sum(others.values())
    english = sum(word.lower() in STOPWORDS for word in _WORD.findall(text))
    if total < _MIN_WORDS or total <= weights.get("LATIN", 0) or english > 1:
        return ""  # an English sentence may have a long name in another script
    if not others.keys().isdisjoint(("HIRAGANA", "KATAKANA")):
        return "Japanese"
    return _SCRIPTS[max(others, key=lambda name: others[name])]


def _script(letter: str) -> str:
    return "LATIN" if letter.isascii() else unicodedata.name(letter, "").partition(" ")[0]


def _evidence(words: Sequence[str]) -> _Evidence:
    """Capitalised words count for nothing but as function words: they may be names."""
    parts = [part for word in words for part in _parts(word)]
    lower = [part.lower() for part in parts]
    plain = [
        part
        for part in parts
        if part.islower() and (part not in _ANY or part in _VERBS) and len(part) > 2
    ]
    known = sum(_is_english(part) for part in plain)
    language, count = _best_language(lower)
    own = _FUNCTION_WORDS[language].split() if language else ()
    return _Evidence(
        words=len(parts),
        english=sum(part in STOPWORDS and part not in own for part in lower),
        known=known,
        strange=len(plain) - known,
        accented=sum(part.islower() and len(part) > 2 and not part.isascii() for part in parts),
        language=language,
        function_words=count,
    )


def _parts(word: str) -> Iterable[str]:
    """A word, with an elided article as a word of its own: "L'assurance"."""
    elided = _ELISION.match(word)
    return (elided.group()[:-1], word[elided.end() :]) if elided else (word,)


def _is_english(word: str) -> bool:
    return word in STOPWORDS or vocabulary().is_common(stem(word))


def _best_language(words: Sequence[str]) -> tuple[str, int]:
    """The language with the most function words in the text, and their number."""
    counts = Counter(name for word in words for name in _SPOKEN.get(word, ()))
    return counts.most_common(1)[0] if counts else ("", 0)


def _is_foreign(found: _Evidence) -> bool:
    """True for words of another language with hardly a word of English."""
    if found.words < _MIN_WORDS or found.known > found.strange / 2:
        return False
    if found.english:
        is_accented = found.accented >= max(3, found.words / 2)
        return is_accented or found.function_words >= max(3, 3 * found.english + 1)
    if found.strange == 0:
        return found.function_words >= _MIN_WORDS
    enough = 2 if found.known or not found.function_words else 1
    evidence = found.function_words + found.accented
    is_strange = found.accented > 0 and found.known == 0 and found.strange > 1
    return evidence >= enough or is_strange
