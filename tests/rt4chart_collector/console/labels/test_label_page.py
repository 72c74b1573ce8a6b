"""Labelling in the console: one claim after the other, blind, by ids alone."""

from __future__ import annotations

import re
from dataclasses import dataclass
from html import unescape
from itertools import count

import pytest
from starlette.testclient import TestClient

from rt4chart_collector.core.settings import ConsoleSettings
from rt4chart_collector.labelling.tasks import GONE
from rt4chart_collector.store.engine.connect import Client
from rt4chart_collector.store.engine.scope import QueryScope
from rt4chart_collector.store.labels.draws import latest_draw, read_draw
from rt4chart_collector.store.labels.trusted_labels import (
    label_history,
    labels_in,
)
from tests.rt4chart_collector.console.web import HERE, browser, csrf_of, post
from tests.rt4chart_collector.labelling.answers import NOW, RULES, drawn, judged, stored
from tests.rt4chart_collector.pipeline.line import GOOD, Line

__all__ = ["stored"]
JUDGE = RULES.judge.id
PROXY = ConsoleSettings(console_user_header="X-User", console_hosts=frozenset({"console.example"}))
SHOWN = re.compile(r'class="labels".*?name="draw" value="([^"]+)".*?name="claim" value="([^"]+)"')


@dataclass
class Labeller:
    """A person before the page: `html` is what is on it."""

    visitor: TestClient
    html: str = ""

    def open(self, path: str = "/label") -> str:
        """Go there."""
        answer = self.visitor.get(path)
        assert answer.status_code == 200, answer.text
        self.html = answer.text
        return self.html

    @property
    def shown(self) -> tuple[str, str]:
        """The draw and the claim of the form."""
        found = SHOWN.search(self.html.replace("\n", ""))
        assert found is not None, self.html
        return found[1], found[2]

    def press(self, label: str, **fields: str) -> str:
        """Press a button of the form; the part that takes the place of the old one."""
        draw, claim = self.shown
        self.html = self.send(label, **{"draw": draw, "claim": claim, **fields})
        return self.html

    def undo(self) -> str:
        """Press the button beside the last label."""
        form = self.html[self.html.index('class="last"') :]
        draw, claim = (
            found[1]
            for name in ("draw", "claim")
            if (found := re.search(f'name="{name}" value="([^"]+)"', form))
        )
        self.html = self.send("undo", draw=draw, claim=claim)
        return self.html

    def send(self, label: str, **fields: str) -> str:
        """Post the form as the script does."""
        base = str(self.visitor.base_url).rstrip("/")
        answer = self.visitor.post(
            "/label",
            data={"csrf": csrf_of(self.visitor), "label": label, **fields},
            headers={"origin": base, "x-partial": "1"},
        )
        assert answer.status_code == 200, answer.text
        return answer.text


def labeller(client: Client, user: str = "") -> Labeller:
    """Somebody at the open console, or whom a proxy named."""
    ticks = count(NOW)
    clock = lambda: next(ticks)  # noqa: E731 - each look at the clock is a little later
    if not user:
        return Labeller(browser(client, clock=clock))
    visitor = browser(client, PROXY, base_url="https://console.example", clock=clock)
    visitor.headers["x-user"] = user
    return Labeller(visitor)


def given(client: Client) -> list[tuple[str, str, bool]]:
    """Who gave which current label, and whether it is blind, in the order of time."""
    rows = sorted(labels_in(client, QueryScope()), key=lambda row: row.version)
    return [(row.rater, row.label.value, row.is_blind) for row in rows]


def test_without_a_draw_the_page_draws(stored: Client) -> None:
    """What a draw is, a form, and after it the first claim of the draw."""
    one = labeller(stored)
    page = one.open()
    assert "by chance" in page
    assert "Label claims to correct" not in page

    status, _ = post(one.visitor, "/label/draw", route="", since="7d", size="3")
    one.open()

    draw = latest_draw(stored, QueryScope(verifier=JUDGE))
    assert status == 303
    assert draw is not None
    assert len(draw.queue) == 3
    assert (draw.routes[0].actor, draw.routes[0].seed) == ("local", "rt4chart")
    assert one.shown == (draw.id, draw.queue[0].id)
    assert "0 of 3" in one.html
    assert "too few answers for a corrected rate on this route" in one.html


def test_an_empty_console_says_that_there_is_nothing_to_draw_from(client: Client) -> None:
    """And has no form."""
    page = labeller(client).open()

    assert "nothing to draw from" in page
    assert "<button>Draw</button>" not in page


def test_the_claim_is_shown_with_what_a_rater_needs(stored: Client) -> None:
    """Its words in the answer, the nearest sentence, the question and the passages on demand."""
    drawn(stored)
    page = labeller(stored).open()

    assert re.search(r'<mark class="mark claim-mark">The trial lasts (14|30) days</mark>.', page)
    assert "<blockquote" in page
    assert re.search(r"<details[^>]*data-key=\"q\">.*How long is the trial\?", page, re.DOTALL)
    assert re.search(r"<details[^>]*data-key=\"p\">.*14 days", page, re.DOTALL)
    assert "<details open" not in page


def test_what_the_judge_said_is_not_on_the_page_before(stored: Client) -> None:
    """Pages of a contradicted and of an entailed claim differ in nothing but their texts."""
    drawn(stored)
    one = labeller(stored)
    found: dict[str, set[str]] = {"14": set(), "30": set()}
    one.open()
    for _ in range(5):
        page = one.html[one.html.index('<div id="task"') :].partition('<form method="post"')[0]
        days = re.search(r"claim-mark\">The trial lasts ([0-9]+) days", page)
        assert days is not None
        found[days[1]].add(re.sub(r"[0-9.]+", "0", page))
        one.press("cannot_tell")

    assert found["14"] == found["30"]
    assert len(found["14"]) == 1


def test_a_label_is_stored_with_its_probability_and_the_verdict_is_shown_then(
    stored: Client,
) -> None:
    """The next claim comes with it, in one answer that is one element."""
    draw = drawn(stored, size=3)
    one = labeller(stored)
    assert "The judge:" not in one.open()

    part = one.press("contradicted").strip()

    (label,) = labels_in(stored, QueryScope())
    row = draw.queue[0]
    assert (label.id, label.rater, label.source, label.kind.value) == (
        row.id,
        "local",
        "console",
        "person",
    )
    assert (label.draw, label.probability, label.stratum, label.rank) == (
        draw.id,
        row.probability,
        row.stratum,
        row.rank,
    )
    assert part.startswith('<div id="task"')
    assert part.endswith("</div>")
    assert "<html" not in part
    assert one.shown == (draw.id, draw.queue[1].id)
    assert "The judge:" in part
    assert f"{row.confidence:.2f}" in part


def test_without_scripts_the_next_claim_is_a_redirect_away(stored: Client) -> None:
    """It keeps the route and the verifier that the address has."""
    drawn(stored)
    one = labeller(stored)
    one.open()
    draw, claim = one.shown
    base = {"csrf": csrf_of(one.visitor), "draw": draw, "claim": claim, "label": "entailed"}

    answer = one.visitor.post(
        f"/label?route=shop/support&verifier={JUDGE}", data=base, headers={"origin": HERE}
    )

    assert answer.status_code == 303
    target = answer.headers["location"]
    assert target == f"/label?route=shop%2Fsupport&verifier={JUDGE.replace('/', '%2F')}"
    assert one.visitor.get(target).status_code == 200


def test_nothing_but_the_ids_is_taken_from_the_form(stored: Client) -> None:
    """Whatever else is posted, the row is that of the draw and the rater that of the session."""
    draw = drawn(stored)
    one = labeller(stored)
    one.open()

    one.press("entailed", rater="eve", probability="1", judge_label="baseless", verifier="x")

    (label,) = labels_in(stored, QueryScope())
    assert (label.rater, label.verifier) == ("local", JUDGE)
    assert (label.probability, label.judge_label) == (
        draw.queue[0].probability,
        draw.queue[0].judge_label,
    )


def test_a_change_after_the_verdict_is_not_blind(stored: Client) -> None:
    """By undo or by the button of an older page; the same label twice is one blind label."""
    drawn(stored)
    one = labeller(stored)
    one.open()
    draw, claim = one.shown
    one.send("entailed", draw=draw, claim=claim)
    one.send("entailed", draw=draw, claim=claim)
    assert given(stored) == [("local", "entailed", True)]

    one.send("baseless", draw=draw, claim=claim)

    assert given(stored) == [("local", "baseless", False)]
    history = label_history(stored, JUDGE, read_draw(stored, draw).queue[0].claim_key)
    assert [row.label.value for row in history] == ["entailed", "baseless"]


def test_an_undone_claim_comes_back(stored: Client) -> None:
    """Undo again takes the label before it; what is given then is not blind."""
    drawn(stored)
    one = labeller(stored)
    one.open()
    first = one.shown
    one.press("entailed")
    second = one.shown
    one.press("baseless")

    one.undo()
    assert one.shown == second
    assert "The judge:" in one.html  # of the first claim
    one.undo()
    assert one.shown == first
    assert 'class="last"' not in one.html
    assert given(stored) == []
    one.press("contradicted")
    one.press("entailed")

    assert given(stored) == [("local", "contradicted", False), ("local", "entailed", False)]


def test_a_skip_shows_no_verdict_and_can_be_undone(stored: Client) -> None:
    """A label after it is blind."""
    drawn(stored)
    one = labeller(stored)
    one.open()
    first = one.shown

    assert "You skipped a claim" in one.press("skipped")
    assert "The judge:" not in one.html
    one.undo()
    assert one.shown == first
    one.press("entailed")

    assert given(stored) == [("local", "entailed", True)]


def test_nobody_undoes_the_label_of_another(stored: Client) -> None:
    """The id of the claim is not enough."""
    drawn(stored)
    ann, bob = labeller(stored, "ann@x"), labeller(stored, "bob@x")
    ann.open()
    draw, claim = ann.shown
    ann.press("entailed")

    bob.send("undo", draw=draw, claim=claim)

    assert given(stored) == [("ann@x", "entailed", True)]


def test_two_people_at_once_label_different_claims(stored: Client) -> None:
    """Both labels on the first claim are kept; from the second on, each has claims of their own."""
    draw = drawn(stored)
    people = labeller(stored, "ann@x"), labeller(stored, "bob@x")
    for one in people:
        one.open()
        assert one.shown == (draw.id, draw.queue[0].id)
    for one in people:
        one.press("entailed")

    assert given(stored) == [("ann@x", "entailed", True), ("bob@x", "entailed", True)]
    for one in people:
        one.open()
    assert people[0].shown != people[1].shown
    assert "You label as <strong>bob@x</strong>." in people[1].html
    assert "one rater" not in people[1].html


def test_without_names_the_page_says_that_there_is_one_rater(stored: Client) -> None:
    """So that nobody looks for the agreement of people."""
    drawn(stored)
    page = labeller(stored).open()

    assert "You label as <strong>local</strong>." in page
    assert "Everybody who uses this console is this one rater" in page


def test_a_claim_that_is_gone_is_said_to_be(stored: Client) -> None:
    """Its label is not stored as one, and the next claim follows."""
    draw = drawn(stored)
    one = labeller(stored)
    one.open()
    stored.command(
        "ALTER TABLE rt4chart_claims DELETE WHERE TraceId = {trace:String}",
        {"trace": draw.queue[0].trace_id},
    )

    part = one.press("entailed")

    assert "That claim is gone" in part
    assert one.shown == (draw.id, draw.queue[1].id)
    (skip,) = labels_in(stored, QueryScope())
    assert (skip.label.value, skip.note) == ("skipped", GONE)


def test_a_claim_may_be_entailed_and_misleading(stored: Client) -> None:
    """The label says both, and the page what was answered."""
    drawn(stored)
    one = labeller(stored)
    one.open()

    part = one.press("misleading")

    (label,) = labels_in(stored, QueryScope())
    assert (label.label.value, label.status) == ("entailed", "cherry_picked")
    assert ", but misleading. The judge:" in part
    one.press("contradicted")
    assert [row.misleads for row in labels_in(stored, QueryScope())].count(False) == 1


def test_a_finished_draw_says_so(stored: Client) -> None:
    """With the rates of its routes and a way to draw more."""
    drawn(stored, size=1)
    one = labeller(stored)
    one.open()

    part = one.press("entailed")

    assert "No claims are left for you" in part
    assert "too few answers" in part
    assert "The judge:" in part
    assert 'href="/label/draw?size=2"' in part
    assert 'name="size" value="2"' in one.open("/label/draw?size=2")


def test_a_label_from_an_older_draw_is_kept(stored: Client) -> None:
    """Somebody drew anew in between: the label is stored, and the newer draw goes on."""
    old = drawn(stored, size=2)
    one = labeller(stored)
    one.open()
    post(one.visitor, "/label/draw", route="", since="7d", size="5")
    new = latest_draw(stored, QueryScope(verifier=JUDGE))
    assert new is not None

    one.press("entailed")

    (label,) = labels_in(stored, QueryScope())
    assert label.draw == old.id
    # The same seed: the newer draw has the claims of the older one, and its label counts there.
    assert one.shown == (new.id, new.queue[1].id)
    assert "1 of 5" in one.html


def test_one_route_can_be_labelled_alone(client: Client) -> None:
    """By the address, in a draw of all."""
    judged(client, route="support")
    Line(client, RULES).send(11, 12, answer=GOOD, route="sales/emea")
    drawn(client)
    one = labeller(client)
    page = one.open()
    value = re.search(r'<option value="([^"]+)">sales/emea', page)
    assert value is not None

    page = one.open(f"/label?route={unescape(value[1])}")

    assert "0 of 2" in page
    assert re.search(r'class="claim-place"><span>sales/emea', page)
    assert 'action="/label?route=' in page


@pytest.mark.parametrize(
    ("path", "fields", "told"),
    [
        ("/label", {"label": "good"}, "expected entailed or contradicted"),
        ("/label", {"draw": "nothing"}, "expected the id of a draw"),
        ("/label", {"claim": "a/b/1"}, "expected the id of a claim of draw"),
        ("/label", {"claim": ""}, "expected the id of a claim of draw"),
        ("/label/draw", {"size": "0"}, "expected a whole number from 1"),
        ("/label/draw", {"size": "1e9"}, "expected a whole number from 1"),
        ("/label/draw", {"since": "2y"}, "expected 1h or 6h"),
        ("/label/draw", {"route": "no/where"}, "no claims of"),
        ("/label/draw", {"route": "no~00/where~FF"}, "no claims of"),
    ],
)
def test_unknown_values_are_refused(
    stored: Client, path: str, fields: dict[str, str], told: str
) -> None:
    """With what was expected; nothing is stored."""
    draw = drawn(stored)
    good = {"label": "entailed", "draw": draw.id, "claim": draw.queue[0].id}
    if path != "/label":
        good = {"route": "", "since": "7d", "size": "10"}

    status, text = post(labeller(stored).visitor, path, **{**good, **fields})

    assert status == 400
    assert told in unescape(text)
    assert given(stored) == []
    assert latest_draw(stored, QueryScope()) == draw


@pytest.mark.parametrize(
    "path",
    ["/label?route=none/none", "/label?route=~00", "/label?claim=x/y/z", "/label?route=%3Cb%3E"],
)
def test_odd_addresses_have_a_page(stored: Client, path: str) -> None:
    """A route without a draw leads to the form, an unknown claim to the next one."""
    drawn(stored)

    assert labeller(stored).visitor.get(path).status_code == 200


def test_a_claim_of_the_address_has_no_verdict_with_it(stored: Client) -> None:
    """Whichever claim somebody asks for, its verdict comes after the label."""
    draw = drawn(stored)
    one = labeller(stored)

    page = one.open(f"/label?claim={draw.queue[2].id}")

    assert one.shown == (draw.id, draw.queue[2].id)
    assert "The judge:" not in page


def test_who_may_read_only_is_given_no_claim(stored: Client) -> None:
    """Nothing is written, not even for a claim that is gone, and forms are refused."""
    draw = drawn(stored)
    stored.command("TRUNCATE TABLE rt4chart_claims")
    visitor = browser(stored, ConsoleSettings(console_readonly=True), clock=lambda: NOW)

    page = visitor.get("/label").text
    form = {"label": "entailed", "draw": draw.id, "claim": draw.queue[0].id}

    assert "This session may read only" in page
    assert "<form method" not in page[page.index('<div id="task"') :]
    assert "This session may read only" in visitor.get("/label/draw").text
    assert post(visitor, "/label", **form)[0] == 403
    assert post(visitor, "/label/draw", route="", since="7d", size="5")[0] == 403
    assert labels_in(stored, QueryScope()) == []


def test_a_form_of_another_site_is_refused(stored: Client) -> None:
    """Without the form's token, or with a foreign origin."""
    draw = drawn(stored)
    visitor = labeller(stored).visitor
    form = {"label": "entailed", "draw": draw.id, "claim": draw.queue[0].id}
    token = {"csrf": csrf_of(visitor)}

    assert visitor.post("/label", data=form, headers={"origin": HERE}).status_code == 403
    foreign = {"origin": "https://evil.example"}
    assert visitor.post("/label", data={**form, **token}, headers=foreign).status_code == 403
    assert labels_in(stored, QueryScope()) == []


def test_only_an_administrator_labels_where_there_is_one(stored: Client) -> None:
    """As with every change: the page leads to the sign-in."""
    drawn(stored)
    settings = ConsoleSettings(console_token="see", admin_token="change")  # noqa: S106
    visitor = browser(stored, settings, base_url="https://console.example", clock=lambda: NOW)
    origin = {"origin": "https://console.example"}
    visitor.post("/login", data={"token": "see"}, headers=origin)
    assert 'href="/login?next=/label"' in visitor.get("/label").text

    csrf = csrf_of(visitor)
    visitor.post("/login", data={"token": "change", "csrf": csrf}, headers=origin)
    one = Labeller(visitor)
    one.open()
    one.press("entailed")

    assert [row.rater for row in labels_in(stored, QueryScope())] == ["token"]
