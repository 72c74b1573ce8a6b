"""A small table of words that summaries exchange for one another, by stem, and WordNet's."""

from __future__ import annotations

from functools import cache

from otel_rt4chart.verify.language.relations import relations
from otel_rt4chart.verify.language.tokens import stem

_GROUPS = """
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
year annual yearly
month monthly
uk britain british
usa america american
eu europe european
invasion assault incursion attack
week weekly
day daily
""".strip()


@cache
def _table() -> dict[str, frozenset[str]]:
    table: dict[str, set[str]] = {}
    for line in _GROUPS.splitlines():
        group = {stem(word) for word in line.split()}
        for word in group:
            table.setdefault(word, set()).update(group - {word})
    return {word: frozenset(others) for word, others in table.items()}


def synonyms(word_stem: str) -> frozenset[str]:
    """The stems that a claim's word may be met by.

    Without WordNet's: in a long context they find a counterpart for too much that nobody said.
    """
    return _table().get(word_stem, frozenset())


def alike(word_stem: str) -> frozenset[str]:
    """The stems that say the same, WordNet's among them: what stands so is no clash."""
    return synonyms(word_stem) | relations().synonyms.get(word_stem, frozenset())
