"""Finds what each step was made from: earlier texts that its prompt contains."""

from __future__ import annotations

from bisect import bisect_left
from collections import defaultdict
from collections.abc import Iterator, Sequence
from itertools import takewhile

from otel_rt4chart.core.text import bounded_name
from otel_rt4chart.spans.exchange.answers import is_retrieval
from otel_rt4chart.spans.exchange.context import find_retrievals, tool_result_passages
from otel_rt4chart.spans.exchange.prompt_context import prompt_context, question_in_prompt
from otel_rt4chart.spans.exchange.span_tree import TURN_KINDS, SpanTree
from otel_rt4chart.spans.graph.outputs import (
    Output,
    parts_of,
    prompt_texts,
    read_outputs,
    text_in_prompt,
)
from otel_rt4chart.spans.graph.stage_name import stage_name
from otel_rt4chart.spans.graph.text_flow import Search, TextIndex
from otel_rt4chart.spans.model.span_view import OperationKind, SpanView
from otel_rt4chart.spans.model.values import first_nonempty, is_json_structure, normalize_text

QUESTION = "question"
# A text of which so much is known from earlier texts was only passed on; a step without a model
# adds the words of a template.
PASSED_ON, PUT_TOGETHER = 0.8, 0.5
MIN_SECTION_SHARE = 0.5
MAX_WORDS = 20_000_000
MAX_NESTING = 50  # of steps that pass texts on to each other
MAX_ORDERED = 256  # so many outputs before a step are looked at where only their order is known
NO_SOURCES = ("system", "developer", "assistant", "tool", "function")


class UnknownInputError(Exception):
    """What a step was made from was not recorded; the message is for people."""


class InputFinder:
    """The inputs of the outputs of one trace, for one answer."""

    def __init__(
        self, tree: SpanTree, answer: SpanView, *, with_question: bool, max_words: int = MAX_WORDS
    ) -> None:
        """`with_question` counts the question as a source of what had it in its prompt.

        `max_words` bounds how many words are compared in all.
        """
        self._max_words = max_words
        self._tree = tree
        self._with_question = with_question
        outputs = read_outputs(tree)
        own = [one for one in outputs if one.view is answer and not one.is_source]
        self.answer = own[0] if own else _answer_output(answer, len(outputs))
        self._outputs = [one for one in outputs if one.order <= self.answer.order]
        self._question = self._find_question(answer)
        self._in_prompts: dict[str, Output] = {}
        self._inputs: dict[Output, tuple[Output, ...]] = {}
        self._passed: dict[tuple[Output, int], tuple[Output, ...]] = {}
        self._by_number: defaultdict[int, list[Output]] = defaultdict(list)
        texts = [(output, part) for output in self._outputs for part in parts_of(output.text)]
        if self._question:
            texts.append((self._question, self._question.text))
        self._index = TextIndex(part for _, part in texts)
        self._number: dict[Output, int] = {}
        self._stages: dict[str, str] = {}
        self._cut: dict[str, SpanView] | None = None
        self._nesting = 0
        self._texts: dict[int, str] = {}
        for (output, part), number in zip(texts, self._index.numbers, strict=True):
            self._texts.setdefault(number, part)
            self._by_number[number].append(output)
            self._number.setdefault(output, number)
        self._outputs_inside: defaultdict[str, list[Output]] = defaultdict(list)
        for output in self._outputs:
            for parent in (output.view, *tree.ancestors(output.view)):
                self._outputs_inside[parent.span.span_id].append(output)

    @property
    def work(self) -> int:
        """The number of words that were compared."""
        return self._index.work

    def is_question(self, output: Output) -> bool:
        """True for the question itself."""
        return output is self._question

    def inputs_of(self, output: Output) -> tuple[Output, ...]:
        """What the output was made from, in the order of time; nothing for a source.

        UnknownInputError where that was not recorded.
        """
        if output not in self._inputs:
            if not output.is_in_prompt:
                _check_is_whole(output.view)
            found = () if output.is_source else self._find(output)
            self._inputs[output] = tuple(sorted(dict.fromkeys(found), key=lambda one: one.order))
        return self._inputs[output]

    def _find(self, output: Output) -> Sequence[Output]:
        if output.has_inner and (passed := self._passed_on(output)):
            same = passed[0] if len(passed) == 1 and passed[0].is_generation else None
            return self.inputs_of(same) if same else passed
        texts = prompt_texts(output.view)
        found = self._contained(texts if output.is_generation else [*texts, output.text], output)
        if output.is_generation:
            found += self._sections(output)
        others = [one for one in found if one is not self._question]
        if not others:
            found = self._inputs_without_flow(output)
            others = [one for one in found if one is not self._question]
        if output.is_generation and not found and output is not self.answer:
            raise UnknownInputError(_unknown(output))
        # The question alone is what a first thought of an agent was made from.
        return found if self._with_question or not others else others

    def _inputs_without_flow(self, output: Output) -> list[Output]:
        """The inputs of a step whose recorded input holds no earlier text."""
        if output.has_inner:
            return self._ends_inside(output)
        if not output.is_generation and output.view.input.strip():
            # Code that read something else than what a span put out: its output is a source.
            return []
        found = [] if self._has_prompt(output.view) else self._by_order(output)
        if found or not output.is_generation or output is self.answer:
            return found
        return self._rest_of_prompt(output)

    def _has_prompt(self, view: SpanView) -> bool:
        """True if the messages are recorded; the question alone is what spans by hand record."""
        if len(view.prompt) != 1:
            return bool(view.prompt)
        asked = normalize_text(view.prompt[0].text)
        known = self._question.text if self._question else view.input
        return asked not in (normalize_text(known), "")

    def _contained(self, texts: Sequence[str], output: Output) -> list[Output]:
        """The earlier outputs that the texts contain."""
        search = self._search(texts, output)
        return self._chosen(search, output)

    def _chosen(self, search: Search, output: Output) -> list[Output]:
        best = ((one.text, self._best(one.text, output)) for one in search.found)
        resolved = (one for number, first in best if first for one in self._resolved(first, number))
        return [one for one in dict.fromkeys(resolved) if one is not output]

    def _search(self, texts: Sequence[str], output: Output) -> Search:
        if self._index.is_full or self._index.work > self._max_words:
            raise UnknownInputError("The texts of the trace are too long to be compared.")

        def rank(number: int) -> tuple[int, ...] | None:
            best = self._best(number, output)
            return self._preference(best, output) if best else None

        return self._index.search(texts, rank)

    def _best(self, number: int, output: Output) -> Output | None:
        """Of the outputs with this text, the nearest that the output may have been made from."""
        eligible = [
            one
            for one in self._by_number[number]
            if one.may_reach(output) and (one.is_in_prompt or one.view is not output.view)
        ]
        return max(eligible, key=lambda one: self._preference(one, output), default=None)

    def _preference(self, one: Output, output: Output) -> tuple[int, int, int]:
        """What wrote the text comes before what passed it on, then what is near and late."""
        is_near = one.order >= 0 and self._tree.turn(one.view) is self._tree.turn(output.view)
        return int(one.is_source or one.is_generation), int(is_near), one.order

    def _resolved(self, output: Output, number: int | None = None) -> tuple[Output, ...]:
        """The output itself; instead of one that only passes texts on, these texts.

        `number` is the part of its text that matters.
        """
        if output.is_in_prompt:
            return (output,)
        number = self._number[output] if number is None else number
        if output.is_source:
            return (self._first_source(number, self._tree.turn(output.view)),)
        if output.is_generation and not output.has_inner:
            return (output,)
        return self._passed_on(output, number) or (output,)

    def _first_source(self, number: int, turn: SpanView) -> Output:
        """The first source with a text in a turn: a reranker puts out what was retrieved before."""
        return next(
            one
            for one in self._by_number[number]
            if one.is_source and self._tree.turn(one.view) is turn
        )

    def _passed_on(self, output: Output, number: int | None = None) -> tuple[Output, ...]:
        """The outputs that make up nearly all of a text that a span put out; none if it is new."""
        number = self._number.get(output, -1) if number is None else number
        key = (output, number)
        if key not in self._passed:
            if self._nesting > MAX_NESTING:
                return ()
            self._nesting += 1
            self._passed[key] = ()
            search = self._search([self._texts.get(number, output.text)], output)
            if search.explained >= (PASSED_ON if output.generates_inside else PUT_TOGETHER):
                self._passed[key] = tuple(self._chosen(search, output))
            self._nesting -= 1
        return self._passed[key]

    def _sections(self, output: Output) -> list[Output]:
        """Passages that the prompt marks as such, and results of tools, that no span put out."""
        prompt = output.view.prompt
        named = [("", text) for text in prompt_context(prompt)]
        named += [(one.id, one.text) for one in tool_result_passages(prompt)]
        return [
            self._in_prompt(output, text, name)
            for name, text in named
            if self._search([text], output).explained < MIN_SECTION_SHARE
        ]

    def _rest_of_prompt(self, output: Output) -> list[Output]:
        """What was asked of a model, as the only thing that it read."""
        view = output.view
        asked = [one.text for one in view.prompt if one.role not in NO_SOURCES and one.text.strip()]
        texts = asked or ([view.input] if view.input.strip() else [])
        if not texts:
            raise UnknownInputError(_unknown(output))
        return [self._in_prompt(output, text) for text in texts]

    def _in_prompt(self, output: Output, text: str, name: str = "") -> Output:
        key = normalize_text(text)
        if self._question and key == normalize_text(self._question.text):
            return self._question
        return self._in_prompts.setdefault(key, text_in_prompt(output.view, text, name))

    def _ends_inside(self, output: Output) -> list[Output]:
        """The last generation inside a span, else the sources inside it."""
        inside = self._earlier_inside(output.view.span.span_id, output)
        generations = [one for one in inside if one.is_generation]
        found = generations[-1:] or self._results(inside)
        return list(dict.fromkeys(same for one in found for same in self._resolved(one)))

    def _by_order(self, output: Output) -> list[Output]:
        """What the order of the spans leaves: the results in the nearest span around, so far."""
        for scope in self._tree.ancestors(output.view):
            earlier = self._earlier_inside(scope.span.span_id, output)
            if found := self._open_ends(earlier, output):
                return found
        around = [output.view, *self._tree.ancestors(output.view)]
        links = {(link.trace_id, link.span_id) for view in around for link in view.span.links}
        linked = [
            one
            for _, span_id in sorted(links)
            if (target := self._tree.get(span_id))
            for one in self._earlier_inside(self._tree.turn(target).span.span_id, output)
        ]
        found = self._open_ends(linked, output)
        if not found:
            self._check_retrievals(output.view)
        return found

    def _check_retrievals(self, view: SpanView) -> None:
        """UnknownInputError where a retrieval of the turn lost its texts."""
        if self._cut is None:
            lost = (one for one in self._tree if is_retrieval(one) and _is_cut(one))
            self._cut = {self._tree.turn(one).span.span_id: one for one in lost}
        if one := self._cut.get(self._tree.turn(view).span.span_id):
            _check_is_whole(one)

    def _earlier_inside(self, span_id: str, output: Output) -> list[Output]:
        """The last outputs inside a span that this one may have been made from."""
        inside = self._outputs_inside.get(span_id, [])
        end = bisect_left(inside, output.order, key=lambda one: one.order)
        return [one for one in inside[max(end - MAX_ORDERED, 0) : end] if one.may_reach(output)]

    def _open_ends(self, earlier: Sequence[Output], output: Output) -> list[Output]:
        """The sources, and the generations that no later one has read.

        A step of the same stage is another call or a retry: it is no input. UnknownInputError where
        generations of several stages are left.
        """
        turn, stage = self._tree.turn(output.view), self.stage(output)
        near = [
            one
            for one in earlier
            if (where := self._tree.turn(one.view)) is turn
            or where.kind not in TURN_KINDS
            or where.span.trace_id != turn.span.trace_id
        ]
        sources = self._results(near)
        steps = [
            one
            for one in near
            if not one.is_source and self.stage(one) != stage and self._resolved(one) == (one,)
        ]
        read = {one for step in steps for one in self._inputs_or_none(step)}
        queries = {normalize_text(one.view.input) for one in sources if one.view.input}
        left = [one for one in steps if one not in read and normalize_text(one.text) not in queries]
        if len({self.stage(one) for one in left}) > 1:
            raise UnknownInputError(_unknown(output))
        return list(dict.fromkeys(same for one in sources + left for same in self._resolved(one)))

    def _results(self, outputs: Sequence[Output]) -> list[Output]:
        """The sources among the outputs, without those that a reranker ranked."""
        views = {one.view.span.span_id: one.view for one in outputs}
        found = {view.span.span_id for view in find_retrievals(views.values(), self._tree)}
        return [
            one
            for one in outputs
            if one.is_source
            and (one.view.span.span_id in found or one.view.kind is OperationKind.TOOL)
        ]

    def _inputs_or_none(self, output: Output) -> tuple[Output, ...]:
        try:
            return self.inputs_of(output)
        except UnknownInputError:
            return ()

    def stage(self, output: Output) -> str:
        """The stage of the step that put the output out."""
        if output.is_in_prompt:
            return QUESTION if output is self._question else "prompt"
        name = output.view.span.span_id
        if name not in self._stages:
            self._stages[name] = stage_name(output.view, self._around(output.view))
        return self._stages[name]

    def _around(self, view: SpanView) -> Iterator[SpanView]:
        """The spans around a span inside its turn, the nearest first."""
        turn = self._tree.turn(view)
        return takewhile(lambda parent: parent is not turn, self._tree.ancestors(view))

    def _find_question(self, answer: SpanView) -> Output | None:
        """What the outermost span was asked, else the question under a heading of the prompt.

        A message of the user is the question if that span received it: else it may hold passages.
        """
        around = [one for one in self._tree.ancestors(answer) if one.kind is not OperationKind.LLM]
        # The outermost that has an input: those further inside may have received the passages.
        asked = [one.input for one in reversed(around) if one.input.strip()][:1]
        message = question_in_prompt(answer.user_message)
        known = normalize_text("\n".join(asked))
        inside = (one for one in (message, answer.user_message) if normalize_text(one) in known)
        own = "" if answer.prompt else answer.input
        others = (one for one in (*asked, message, own) if not is_json_structure(one))
        question = first_nonempty(one for one in (*inside, *others) if one.strip())
        return text_in_prompt(answer, question, QUESTION) if question else None


def _answer_output(answer: SpanView, order: int) -> Output:
    """The answer where its span counts for no output, such as an echo of its input."""
    return Output(answer, answer.output, answer.span.start_ns, answer.span.end_ns, order)


def _check_is_whole(view: SpanView) -> None:
    """UnknownInputError where text of the span is missing."""
    if not _is_cut(view):
        return
    how = "cut" if view.is_truncated else "redacted"
    raise UnknownInputError(f"The text of the step “{bounded_name(view.span.name)}” was {how}.")


def _is_cut(view: SpanView) -> bool:
    return view.is_truncated or view.is_redacted


def _unknown(output: Output) -> str:
    name = bounded_name(output.view.span.name)
    return f"What the step “{name}” was made from was not recorded."
