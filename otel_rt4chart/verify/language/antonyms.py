"""Opposites, by stem: a small table, WordNet's, and prefixes such as un- and dis-."""

from __future__ import annotations

from functools import cache, lru_cache

from otel_rt4chart.verify.language.relations import relations
from otel_rt4chart.verify.language.synonyms import alike
from otel_rt4chart.verify.language.tokens import stem

# Each group: words of one side, a bar, words of the other.
_GROUPS = """
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
cheap cheaper affordable inexpensive | expensive costly
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
def _table() -> dict[str, frozenset[str]]:
    table: dict[str, set[str]] = {}
    for line in _GROUPS.strip().splitlines():
        left, right = ({stem(word) for word in side.split()} for side in line.split("|"))
        for one, others in ((left, right), (right, left)):
            for word in one:
                table.setdefault(word, set()).update(others - one)
    return {word: frozenset(others) for word, others in table.items()}


@lru_cache(maxsize=65536)
def opposites(word_stem: str) -> frozenset[str]:
    """The stems that say the opposite of this one, and never the same."""
    by_hand = _table().get(word_stem, frozenset())
    told = relations().opposites.get(word_stem, frozenset())
    return (by_hand | told | _by_prefix(word_stem)) - alike(word_stem)


def _by_prefix(word_stem: str) -> frozenset[str]:
    bare = {
        word_stem[len(prefix) :]
        for prefix in _PREFIXES
        if word_stem.startswith(prefix) and len(word_stem) - len(prefix) >= 4
    }
    if len(word_stem) < 4:
        return frozenset()
    return frozenset(bare | {prefix + word_stem for prefix in _PREFIXES})
