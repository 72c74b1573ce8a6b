"""The context sections of prompts, as frameworks and people write them."""

from __future__ import annotations

import time

import pytest
from hypothesis import given
from hypothesis import strategies as st

from otel_rt4chart.spans.exchange.prompt_context import prompt_context, question_in_prompt
from otel_rt4chart.spans.model.span_view import ChatMessage

RULER = "---------------------"
FAQ = "Question: Is it free?\nAnswer: Yes, the trial is free for the whole of its length."
SHAPES = {
    "LlamaIndex": f"Context information is below.\n{RULER}\nOne.\n\nTwo.\n{RULER}\n"
    "Given the context information and not prior knowledge, answer the query.\n"
    "Query: How long?\nAnswer: ",
    "LangChain, stuffed": "Use the following pieces of context to answer the question at the end. "
    "If you don't know the answer, just say that you don't know.\n\nOne.\n\nTwo.\n\n"
    "Question: How long?\nHelpful Answer:",
    "LangChain, without a blank line": "Use the following pieces of context to answer the question "
    "at the end.\nIf you don't know the answer, say so.\nKeep it short.\nOne.\n\nTwo.\n"
    "Question: How long?\nHelpful Answer:",
    "LangChain's hub": "Use the following pieces of retrieved context to answer the question.\n"
    "Question: How long? \nContext: One.\n\nTwo. \nAnswer:",
    "Haystack": "\n  Given the following information, answer the question.\n\n  Context:\nOne.\n\n"
    "Two.\n\n  Question: How long?\n  Answer:\n",
    "capitals": "CONTEXT:\nOne.\n\nTwo.\n\nQUESTION:\nHow long?\n\nANSWER (cite sources):",
    "Markdown": "## Retrieved documents\nOne.\n\nTwo.\n\n## User question\nHow long?",
    "bold": "**Context:**\nOne.\n\nTwo.\n\n**Question:** How long?",
    "brackets": "[CONTEXT]\nOne.\n\nTwo.\n\n[QUESTION]\nHow long?",
    "tags": "Answer from <context>.\n<context>\nOne.\n\nTwo.\n</context>\nQuestion: How long?",
    "a history behind": "Context: One.\n\nTwo.\nChat history:\nHuman: Hi\nAI: Hello there.\n"
    "Question: How long?",
}  # fmt: skip


def of(text: str, role: str = "user") -> tuple[str, ...]:
    """The passages in a prompt of one message."""
    return prompt_context([ChatMessage(role, text)])


@pytest.mark.parametrize("shape", SHAPES)
def test_the_context_of_each_known_shape_is_found(shape: str) -> None:
    """Without the instructions, the question and the place for the answer."""
    assert of(SHAPES[shape]) == ("One.\n\nTwo.",)
    assert question_in_prompt(SHAPES[shape]) == "How long?"


def test_a_lead_in_the_system_prompt_has_its_context_below() -> None:
    """LangChain's chat form: the question is another message."""
    lead = (
        "Use the following pieces of context to answer the user's question. \nIf you don't know.\n"
    )

    assert of(f"{lead}----------------\nOne.", "system") == ("One.",)


def test_dspys_last_message_counts_and_its_passages_are_told_apart() -> None:
    """The system message is the form with placeholders, earlier messages are demonstrations."""
    form = "[[ ## context ## ]]\n{}\n\n[[ ## question ## ]]\n{}\n"
    shots = ChatMessage("user", form.format("[1] «Another.»", "Another?"))
    asked = form.format("[1] «One.»\n[2] «Two.»", "How long?")
    last = asked + "\nRespond with the corresponding output fields, starting with …"
    prompt = [ChatMessage("system", form.format("{context}", "{question}")), shots]

    assert prompt_context([*prompt, ChatMessage("user", last)]) == ("«One.»", "«Two.»")
    assert question_in_prompt(last) == "How long?"


@pytest.mark.parametrize(
    "text",
    [
        "<documents><document index='1'><source>a.pdf</source><document_content>One."
        "</document_content></document><document>Two.</document></documents>",
        "<context><doc/><passage>One.</passage>\n<passage>Two.</passage></context>",
        "<search_results>\n<search_result>One.</search_result><search_result>Two.</search_result>"
        "</search_results>",
        "<source id='1'>One.</source> and <source id='2'>Two.</source>",
        "Sources:\n[1] One.\n[2] Two.\n\nQuestion: How long?",
    ],
)
def test_documents_of_a_section_are_a_passage_each(text: str) -> None:
    """Evidence names the document, not the prompt."""
    assert of(text) == ("One.", "Two.")


def test_questions_and_answers_inside_a_passage_do_not_end_it() -> None:
    """A list of frequent questions is a passage like any other."""
    assert of(f"Context:\n{FAQ}\n\nQuestion: How long?\nAnswer:") == (FAQ,)
    assert of(f"Context:\n{FAQ}") == (FAQ,)


@pytest.mark.parametrize(
    "text",
    [
        "You are a helpful assistant. Cite your sources.",
        "Answer in the context of our products. Documents are confidential.",
        "Use the text between <context></context> tags, or <context> and </context>.",
        "Context: {context}\nQuestion: {question}",
        "Context:\n\nQuestion: How long?",
        "How long is the trial? Sources are welcome",
        "Context\nis a word",
        "",
    ],
)
def test_a_prompt_without_a_section_holds_no_context(text: str) -> None:
    """Instructions and questions speak of context too."""
    assert of(text) == ()
    assert of(text, "system") == ()


@pytest.mark.parametrize("role", ["assistant", "tool"])
def test_what_others_said_is_no_context(role: str) -> None:
    """An earlier answer is not evidence for the next one."""
    assert of("Context: One.", role) == ()


@pytest.mark.parametrize(
    "unit",
    ["<context>x</context>", "<context>", "Context:\n", "Question: a\nAnswer: b\n",
     "context below\n", "- ", " ", "[1] a\n", "context (", "history:\n", "---\n", "a b c\n"],
)  # fmt: skip
def test_a_prompt_of_megabytes_is_read_in_linear_time(unit: str) -> None:
    """Eight times the text takes about eight times as long: a square would take 64 times."""

    def seconds(size: int) -> float:
        text = "Context: a\n" + unit * (size // len(unit))
        start = time.process_time()
        of(text)
        question_in_prompt(text)
        return time.process_time() - start

    small = max(min(seconds(60_000) for _ in range(3)), 0.002)

    assert min(seconds(480_000) for _ in range(2)) < 32 * small


@given(st.text(alphabet="<>/[]#:*-=\n {}Contextdocumentsqu1", max_size=300))
def test_any_text_is_read(text: str) -> None:
    """What is found stands in the text, and nothing is raised."""
    assert all(passage in text for passage in of(text))
