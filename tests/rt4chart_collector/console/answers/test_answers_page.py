from __future__ import annotations

import csv
import io
import re

from rt4chart_collector.store.answers.verdicts import insert_verdicts
from rt4chart_collector.store.engine.connect import Client
from tests.rt4chart_collector.console.pages.answer_data import console
from tests.rt4chart_collector.records import verdict

ROW = re.compile(r'<a class="asked" href="/answers/([0-9a-f]{32})/')
NEXT = re.compile(r'<a href="([^"]+)" rel="next"')


def test_the_list_leads_to_the_answers_page_by_page(client: Client) -> None:
    """Every answer once, whatever the order; the links keep the filters."""
    insert_verdicts(client, [verdict(number) for number in range(1, 8)])

    for order in ("newest", "worst"):
        found, links = list[str](), list[str]()
        url = f"/answers?limit=3&order={order}&service=shop"
        with console(client) as browser:
            while url:
                page = browser.get(url).text
                found += ROW.findall(page)
                following = NEXT.findall(page)
                url = following[0].replace("&amp;", "&") if following else ""
                links.append(url)

        assert found == [f"{number:032x}" for number in range(7, 0, -1)]
        assert ["service=shop" in link for link in links] == [True, True, False]


def test_a_trace_id_in_the_search_finds_its_answers_at_any_time(client: Client) -> None:
    """Also those before the window that is looked at."""
    long_ago = verdict(5, start_ns=verdict(5).candidate.start_ns - 20 * 86_400 * 10**9)
    insert_verdicts(client, [long_ago, verdict(1)])

    with console(client) as browser:
        found = ROW.findall(browser.get(f"/answers?q={5:032X}").text)

    assert found == [f"{5:032x}"]


def test_the_list_is_a_file_too(client: Client) -> None:
    """CSV and JSON with the ids of the answers."""
    insert_verdicts(client, [verdict(1)])

    with console(client) as browser:
        table = browser.get("/answers?format=csv").text
        document = browser.get("/answers?format=json").json()

    (row,) = csv.DictReader(io.StringIO(table))
    assert (row["trace_id"], row["verdict"], row["decided"]) == (f"{1:032x}", "baseless", "2")
    assert document["rows"][0]["span_id"] == f"{1:016x}"


def test_what_cannot_be_asked_is_refused(client: Client) -> None:
    """With what was expected."""
    with console(client) as browser:
        for query in ("label=x", "decision=x", "order=y", "after=1~2", "limit=0", "since=ever"):
            answer = browser.get(f"/answers?{query}")
            assert answer.status_code == 400, query
            assert "expected" in answer.text


def test_an_empty_list_says_what_to_do(client: Client) -> None:
    """Where nothing fits, and where nothing is there at all."""
    with console(client) as browser:
        assert "docs/instrument/application.md" in browser.get("/answers?q=nothing").text


def test_a_filter_that_cannot_be_read_is_told_at_the_box(client: Client) -> None:
    """The page keeps what was typed; a file has the message alone."""
    insert_verdicts(client, [verdict(1)])

    with console(client) as browser:
        page = browser.get('/answers?q=rout:"<b>x"')
        file = browser.get("/answers?q=rout:x&format=csv")

    assert (page.status_code, file.status_code) == (400, 400)
    assert "did you mean route?" in page.text
    assert 'value="rout:&#34;&lt;b&gt;x&#34;"' in page.text
    assert ROW.findall(page.text) == []
    assert "expected one of the keys route" in file.text


def test_a_search_says_what_it_searched_and_marks_what_it_found(client: Client) -> None:
    """In the question, or with what stands around it in the answer."""
    insert_verdicts(client, [verdict(1)])

    with console(client) as browser:
        asked = browser.get("/answers?q=LONG&since=30d&from=2000-01-01").text
        answered = browser.get('/answers?q="14 days"&from=2000-01-01').text
        plain = browser.get("/answers?from=2000-01-01").text

    assert "Searched the questions and answers from" in asked
    assert "How <mark>long</mark>?" in asked
    assert "It is <mark>14 days</mark>." in answered
    assert "<mark>" not in plain
    assert "Searched" not in plain


def test_names_are_suggested(client: Client) -> None:
    """Those of the last 30 days; other keys have no names."""
    insert_verdicts(client, [verdict(1, route="<b>")])

    with console(client) as browser:
        assert browser.get("/suggest/route").json() == ["<b>"]
        assert browser.get("/suggest/service").json() == ["shop"]
        assert browser.get("/suggest/model").json() == ["m-1"]
        assert browser.get("/suggest/release").json() == []
        assert browser.get("/suggest/password").status_code == 404


def test_columns_are_chosen_in_the_address(client: Client) -> None:
    """Links of the page keep them, and a file has all columns."""
    insert_verdicts(client, [verdict(number) for number in (1, 2)])
    query = "columns=question&columns=trace_id&limit=1"

    with console(client) as browser:
        page = browser.get(f"/answers?{query}").text
        file = browser.get(f"/answers?{query}&format=csv").text

    heads = re.findall(r'<th scope="col"[^>]*>([^<]+)</th>', page)
    assert heads == ["Question", "Trace"]
    assert "columns=question&amp;columns=trace_id&amp;limit=1&amp;after=" in page
    assert file.startswith("time,verdict,")
