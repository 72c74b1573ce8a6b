"""The tables of the RT4CHART paper (arXiv 2603.27752), as published: none is reproduced here."""

from __future__ import annotations

from benchmarks.judge.tables import Table

_PRF = ("precision", "recall", "F1")
PLUS, ENHANCE = "RAGTruth++", "RAGTruth-Enhance"

PUBLISHED = (
    Table(
        "Answers (Table 3)",
        "MetaQA, SelfCheckGPT and Vectara were adapted by the authors to the retrieved context.",
        ("detector", "data", *_PRF),
        (
            ("RT4CHART, GPT-4o mini", PLUS, 0.845, 0.718, 0.776),
            ("LettuceDetect", PLUS, 0.921, 0.233, 0.371),
            ("MetaQA", PLUS, 0.941, 0.216, 0.352),
            ("SelfCheckGPT", PLUS, 0.843, 0.143, 0.244),
            ("Vectara HHEM", PLUS, 1.0, 0.269, 0.424),
            ("RT4CHART, GPT-4o mini", ENHANCE, 0.781, 0.920, 0.845),
            ("LettuceDetect", ENHANCE, 0.907, 0.545, 0.681),
            ("MetaQA", ENHANCE, 0.853, 0.102, 0.182),
            ("SelfCheckGPT", ENHANCE, 1.0, 0.167, 0.286),
            ("Vectara HHEM", ENHANCE, 0.894, 0.608, 0.724),
        ),
    ),
    Table(
        "Spans, by characters (Table 4)",
        "",
        ("detector", "data", *_PRF),
        (
            ("RT4CHART, GPT-4o mini", ENHANCE, 0.399, 0.586, 0.475),
            ("LettuceDetect", ENHANCE, 0.727, 0.294, 0.419),
            ("RT4CHART, GPT-4o mini", PLUS, 0.508, 0.336, 0.404),
            ("LettuceDetect", PLUS, 0.912, 0.135, 0.235),
        ),
    ),
    Table(
        "Conflict cases and refuting evidence (Table 5), RAGTruth-Enhance",
        "The evidence is measured on each system's own correctly detected conflict cases.",
        ("detector", "task", *_PRF),
        (
            ("RT4CHART, GPT-4o mini", "conflict cases", 0.629, 0.409, 0.496),
            ("GPT-4o mini, one prompt", "conflict cases", 0.420, 0.275, 0.332),
            ("RT4CHART, GPT-4o mini", "refuting evidence", 0.511, 0.591, 0.548),
            ("GPT-4o mini, one prompt", "refuting evidence", 0.365, 0.349, 0.357),
        ),
    ),
    Table(
        "Without a step (Tables 6 and 7)",
        "One prompt: no decomposition and no local verification. Its span F1 is .081, that of the"
        " full pipeline .404.",
        ("pipeline", "data", *_PRF),
        (
            ("full", PLUS, 0.845, 0.718, 0.776),
            ("without global verification", PLUS, 0.851, 0.655, 0.740),
            ("one prompt for spans", PLUS, 0.861, 0.630, 0.727),
            ("full", ENHANCE, 0.781, 0.920, 0.845),
            ("without global verification", ENHANCE, 0.811, 0.881, 0.845),
        ),
    ),
    Table(
        "Decomposition by sentences or of the whole answer (Table 8), RAGTruth-Enhance",
        "Over all tasks the F1 is .844 by sentences and .839 of the whole answer.",
        ("decomposition", "task", *_PRF),
        (
            ("sentences", "QA", 0.735, 0.892, 0.806),
            ("whole answer", "QA", 0.755, 0.830, 0.791),
            ("sentences", "Summary", 0.668, 0.829, 0.740),
            ("whole answer", "Summary", 0.716, 0.770, 0.742),
            ("sentences", "Data2txt", 0.877, 0.983, 0.927),
            ("whole answer", "Data2txt", 0.902, 0.943, 0.922),
        ),
    ),
    Table(
        "Windows (Table 9), RAGTruth-Enhance",
        "",
        ("window, overlap", *_PRF),
        (
            ("15, 5", 0.679, 0.907, 0.777),
            ("15, 10", 0.636, 0.895, 0.743),
            ("25, 5", 0.768, 0.904, 0.830),
            ("25, 10", 0.772, 0.921, 0.840),
            ("35, 5", 0.778, 0.909, 0.838),
            ("35, 10", 0.771, 0.902, 0.831),
        ),
    ),
    Table(
        "Judging models (Table 10)",
        "GPT-4o mini on RAGTruth-Enhance cost $27.93 for 2,675 answers, $0.0104 each.",
        ("model", "data", *_PRF),
        (
            ("GPT-4o mini", PLUS, 0.845, 0.718, 0.776),
            ("GLM-4.7", PLUS, 0.808, 0.983, 0.887),
            ("GPT-4o mini", ENHANCE, 0.781, 0.920, 0.845),
            ("GLM-4.7", ENHANCE, 0.663, 0.992, 0.795),
        ),
    ),
)
