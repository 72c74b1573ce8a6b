"""Synonyms, opposites and siblings of a word, by stem: small tables, and those of WordNet."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from functools import cache, lru_cache
from importlib.resources import files

from otel_rt4chart.verify.language.tokens import stem


@dataclass(frozen=True, slots=True)
class WordRelations:
    """Symmetric relations between stems; `words` are all stems of the table."""

    synonyms: Mapping[str, frozenset[str]]
    opposites: Mapping[str, frozenset[str]]
    siblings: Mapping[str, frozenset[str]]
    words: frozenset[str]


@cache
def relations() -> WordRelations:
    """WordNet's relations of frequent words, as the package ships them, read once."""
    return read_relations(files(__package__).joinpath("relations.txt").read_text("utf-8"))


def read_relations(text: str) -> WordRelations:
    """Parse a table; a line is a stem with `=` synonyms, `!` opposites and `~` siblings."""
    tables: dict[str, dict[str, set[str]]] = {"=": {}, "!": {}, "~": {}}
    for line in text.splitlines():
        if line.startswith("#"):
            continue
        left, *others = line.split()
        for other in others:
            table, right = tables[other[0]], other[1:]
            table.setdefault(left, set()).add(right)
            table.setdefault(right, set()).add(left)
    same, opposite, sibling = (
        {stem: frozenset(found) for stem, found in tables[sign].items()} for sign in "=!~"
    )
    words = frozenset().union(same, opposite, sibling)
    return WordRelations(same, opposite, sibling, words)


def siblings(word_stem: str) -> frozenset[str]:
    """The stems for other kinds of the same thing: `guitar` and `piano`."""
    return relations().siblings.get(word_stem, frozenset())


_SYNONYMS = """
begin start commence launch
end finish conclude complete
buy purchase acquire
company firm business corporation organisation organization
job work role position
big large huge major significant substantial considerable
small little minor
help assist aid support
show demonstrate reveal indicate
say state mention note explain tell report
talk speak discuss discussion conversation chat
ask request inquire enquire question
answer reply respond response
use utilise utilize employ usage
get obtain receive gain
give provide offer supply deliver
make create produce build develop construct
increase rise grow growth raise climb
decrease decline fall drop reduce reduction lower cut
improve improvement enhance boost
kill die murder fatal
injure hurt wound
child kid
car vehicle
doctor physician
film movie
police officer policeman
buyer customer client consumer
staff employee worker personnel
boss manager leader head chief
important key crucial vital essential significant
require need necessary requirement
allow let permit enable
stop halt prevent cease
choose select pick opt
want wish desire
think believe feel opinion
plan intend intention aim
agree accept
refuse reject decline deny
price cost fee expense
pay payment spend
money fund cash finance
sell sale
quick fast rapid swift
fix repair resolve solve
problem issue difficulty challenge trouble
result outcome consequence
cause lead result
method approach technique
study research investigation analysis
test trial examine
idea concept
goal aim objective target purpose
area region zone
country nation
house home residence
city town
road street
school college university
student pupil
teacher instructor
game match
win victory triumph beat defeat
team side squad
join enter
leave depart quit exit
meet meeting gather
new recent latest
old former previous
also additionally
many numerous multiple various several
show display
keep maintain retain remain
change alter modify adjust
happen occur
try attempt
arrest detain custody
court judge tribunal
crime offence offense
accuse charge allege
man male guy
woman female lady
great excellent
happy glad pleased
sad unhappy upset
angry furious
near close nearby
picture photo image photograph
film video footage
phone telephone call
email mail
children kids
apartment flat
insurance coverage cover
recommend suggest advise propose
confirm verify
announce declare reveal
author writer
expert specialist
fire blaze
crash collision accident
rescue save
search seek look hunt
discover find
total overall
approximately about roughly
revenue sale turnover
profit earnings
quarter quarterly
year annual annually yearly
month monthly
uk britain british
usa america american
eu europe european
invasion assault incursion attack
week weekly
day daily
""".strip()


@cache
def _synonym_table() -> dict[str, frozenset[str]]:
    table: dict[str, set[str]] = {}
    for line in _SYNONYMS.splitlines():
        group = {stem(word) for word in line.split()}
        for word in group:
            table.setdefault(word, set()).update(group - {word})
    return {word: frozenset(others) for word, others in table.items()}


def synonyms(word_stem: str) -> frozenset[str]:
    """The synonyms that may match a claim's word with a word of the context.

    They exclude WordNet's, which in a long context match too many words that mean something else.
    """
    return _synonym_table().get(word_stem, frozenset()) | _able(word_stem)


_ABLE, _SHORTEST_VERB = "abl", 4
# These say something else than their verb or noun.
_NOT_ABLE = frozenset(map(stem, ("considerable", "reasonable", "valuable", "fashionable")))


def _able(word_stem: str) -> frozenset[str]:
    """`refund` for `refundable`, which says that one can refund it, and the reverse."""
    is_able = word_stem.endswith(_ABLE)
    other = word_stem.removesuffix(_ABLE) if is_able else word_stem + _ABLE
    is_short = min(len(word_stem), len(other)) < _SHORTEST_VERB
    return (
        frozenset()
        if is_short or not _NOT_ABLE.isdisjoint((word_stem, other))
        else frozenset((other,))
    )


def all_synonyms(word_stem: str) -> frozenset[str]:
    """All synonyms, WordNet's included: two such words never conflict."""
    return synonyms(word_stem) | relations().synonyms.get(word_stem, frozenset())


# Each line has the words of one side, a bar, and the words of the other.
_OPPOSITES = """
increase rise grow gain climb up jump surge soar raise expand growth | decrease fall drop decline
 shrink down reduce cut lower plunge slump loss
high higher highest large larger big bigger | low lower lowest small smaller little
more | less fewer
most many | few
above over exceed | below under
before earlier prior previously | after later subsequently
first | last
early | late
win victory winner beat | lose defeat loss loser
success succeed successful | fail failure unsuccessful
accept approve allow permit support back favor agree welcome | reject refuse deny ban prohibit
 oppose block criticise disagree forbid
include contain | exclude omit
cover coverage | exclude exclusion
open | close shut
start begin launch commence | end stop finish cease cancel conclude
enter arrive join come | leave depart exit quit
buy purchase | sell
import | export
teach teacher | learn student
employer | employee
guilty convict | innocent acquit
alive live survive | dead die kill
male man boy husband father son brother king | female woman girl wife mother daughter sister queen
young younger youngest | old older oldest elderly
new novel modern | old ancient outdated
good better best positive benefit beneficial advantage | bad worse worst negative harm harmful
 disadvantage
strong stronger strengthen | weak weaker weaken
easy easier simple | hard harder difficult complex complicated
fast faster quick quickly rapid rapidly | slow slower slowly
hot warm heat | cold cool
public | private
internal domestic | external foreign international
local | global
remember recall | forget
always constantly | never
all everyone everything | none nobody nothing
often frequently commonly usually | rarely seldom
possible able can capable | impossible unable cannot incapable
present available | absent unavailable lacking
required mandatory compulsory necessary obligatory | optional voluntary unnecessary
cheap cheaper affordable inexpensive | expensive costly costlier dearer pricier
safe safer secure | dangerous unsafe risky insecure
happy satisfied pleased delighted excited | sad unhappy dissatisfied disappointed
confident certain sure | doubtful uncertain unsure
optimistic | pessimistic
active | inactive passive
full | empty
north northern | south southern
east eastern | west western
left | right
top | bottom
inside indoor | outside outdoor
maximum max | minimum min
majority | minority
income revenue profit | expense cost loss
credit | debit
temporary | permanent
improve improvement better | worsen deteriorate decline
protect defend | attack threaten
praise | criticise condemn
love like enjoy | hate dislike
attract | repel
advance forward | retreat backward
ahead | behind
direct directly | indirect indirectly
natural | artificial
rich wealthy | poor
guest visitor visiting away | host home
question ask | answer respond reply
physical | virtual digital
major significant substantial | minor insignificant negligible slight
short shorter brief | long longer lengthy
same similar identical | different dissimilar distinct
together jointly | separately individually
true correct accurate | false incorrect wrong inaccurate
unknown unclear | known clear
normal typical common usual | abnormal unusual rare uncommon
deposit | withdraw withdrawal
hire appoint recruit | fire dismiss sack
encourage promote | discourage prevent deter
recommend advise | discourage
add | remove subtract
upgrade | downgrade
accelerate | decelerate slow
create build construct | destroy demolish
formal | informal
explicit | implicit
senior | junior
inferior | superior
optimal | suboptimal
free | paid
broad wide wider | narrow
deep | shallow
thick | thin
light | heavy dark
day | night
weekday | weekend
inexperienced | experienced
morning | evening afternoon
summer | winter
urban | rural
victim | perpetrator attacker
plaintiff | defendant
prosecution | defence
agreement consensus | disagreement
unite united | divide divided
lend | borrow
gain | lose
continue maintain keep remain | discontinue abandon stop
reveal disclose expose | hide conceal
trust | distrust
connect | disconnect
solve resolve | cause
effective efficient | ineffective inefficient
sufficient enough adequate | insufficient inadequate
friend ally | enemy opponent
peace | war
supply | demand
""".replace("\n ", " ")
_PREFIXES = ("un", "in", "im", "ir", "il", "dis", "non", "mis", "de")


@cache
def _opposite_table() -> dict[str, frozenset[str]]:
    table: dict[str, set[str]] = {}
    for line in _OPPOSITES.strip().splitlines():
        left, right = ({stem(word) for word in side.split()} for side in line.split("|"))
        for one, others in ((left, right), (right, left)):
            for word in one:
                table.setdefault(word, set()).update(others - one)
    return {word: frozenset(others) for word, others in table.items()}


@lru_cache(maxsize=65536)
def opposites(word_stem: str) -> frozenset[str]:
    """The stems that mean the opposite of this one; synonyms of it are never among them."""
    by_hand = _opposite_table().get(word_stem, frozenset())
    told = relations().opposites.get(word_stem, frozenset())
    found = (by_hand | told | _by_prefix(word_stem)) - all_synonyms(word_stem)
    return found | _compared(word_stem)


def _compared(word_stem: str) -> frozenset[str]:
    """The opposite comparatives: of `older` those of the opposites of `old`."""
    rest = word_stem[:-2]
    if not word_stem.endswith("er") or len(rest) < 3:
        return frozenset()
    bases = {rest, rest[:-1]} if rest[-1] == rest[-2] else {rest}
    return frozenset(
        form
        for base in bases
        for other in opposites(base)
        for form in (f"{other}er", f"{other}{other[-1]}er")
    )


def _by_prefix(word_stem: str) -> frozenset[str]:
    bare = {
        word_stem[len(prefix) :]
        for prefix in _PREFIXES
        if word_stem.startswith(prefix) and len(word_stem) - len(prefix) >= 4
    }
    if len(word_stem) < 4:
        return frozenset()
    return frozenset(bare | {prefix + word_stem for prefix in _PREFIXES})
