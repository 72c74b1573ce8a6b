"""A light English stemmer: enough for words of one answer and its passages to meet."""

from __future__ import annotations

_FORMS = """
    win won; leave left; go went gone; buy bought; find found; make made; take took taken;
    give gave given; begin began begun; come came; run ran; sell sold; tell told; pay paid;
    hold held; keep kept; lose lost; meet met; lead led; rise rose risen; fall fell fallen;
    grow grew grown; write wrote written; speak spoke spoken; break broke broken; build built;
    send sent; spend spent; feel felt; think thought; bring brought; teach taught; catch caught;
    see saw seen; know knew known; show shown; drive drove driven; fly flew flown;
    choose chose chosen; steal stole stolen; shoot shot; stand stood; understand understood;
    sit sat; eat ate eaten; drink drank; sing sang sung; swim swam; strike struck; fight fought;
    hear heard; seek sought; deal dealt; mean meant; become became; draw drew drawn;
    throw threw thrown; wear wore worn; forget forgot forgotten; hide hid hidden; die dead death;
    man men; woman women; child children; person people; foot feet; life lives; wife wives;
    analysis analyses; crisis crises
    """
_IRREGULAR = {form: line.split()[0] for line in _FORMS.split(";") for form in line.split()}
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
    """The stem of a lower-case word; a number word becomes its digits, a number loses commas."""
    if word in _IRREGULAR:
        return _IRREGULAR[word]
    if word in _NUMBERS:
        return _NUMBERS[word]
    if not word.isalpha() or not word.isascii() or len(word) <= 3:
        return word.replace(",", "") if word[:1].isdigit() else word
    return _ending(_suffix(_inflection(_plural(word))))


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
        if word.endswith(suffix) and len(rest) >= 3 and _VOWELS & set(rest):
            if suffix == "ied":
                return rest + "y"
            if rest[-1] == rest[-2] and rest[-1] not in "lsz":
                return rest[:-1]
            return rest
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
