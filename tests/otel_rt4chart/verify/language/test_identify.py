from __future__ import annotations

import pytest

from otel_rt4chart.verify.language.identify import foreign_language


@pytest.mark.parametrize(
    ("text", "language"),
    [
        ("Der X200 wiegt 254 Gramm.", "German"),
        ("Haustiere sind nicht erlaubt.", "German"),
        ("L'assurance ne couvre pas la chirurgie esthétique.", "French"),
        ("La piscine ouvre à neuf heures.", "French"),
        ("La oficina está cerrada los lunes.", "Spanish"),
        ("I rimborsi richiedono cinque giorni.", "Italian"),
        ("Het ontbijt kost 12 euro per persoon.", "Dutch"),
        ("O seguro não cobre cirurgia estética.", "Portuguese"),
        ("Zwrot trwa pięć dni.", "Polish"),
        ("Garanti iki yıl sürer.", "Turkish"),
        ("Siparişler ertesi gün gönderilir.", "Turkish"),
        ("Kancelář zavřená pondělí.", "another language"),
        ("X200 весит 254 грамма.", "Cyrillic"),
        ("X200重254克。", "Chinese or Japanese"),
        ("保証期間は2年です。", "Japanese"),
        ("사무실은 월요일에 휴무입니다.", "Korean"),
        ("مدة الضمان سنتان.", "Arabic"),
    ],
)
def test_a_short_sentence_in_another_language_is_recognised(text: str, language: str) -> None:
    """By its script, or by function words and accents without any of English."""
    assert foreign_language(text) == language


@pytest.mark.parametrize(
    "text",
    [
        "",
        "254 g",
        "The X200 costs $249.",
        "Die Hard was released in 1988.",
        "Bayern München beat Real Madrid 3-0.",
        "los angeles lakers beat san antonio 104 - 96",
        "Kin Sears is Andy Murray's fiancée.",
        "Rio de Janeiro",
        "Crème brûlée",
        "William Daniel Hillis is non american.",
        "α-linolenic acid",
        "ホタルノヒカリ has an average rating of 13.6%.",
        "MICAL redox enzymes regulate actin dynamics.",
        "TNFAIP3 is a tumor suppressor in glioblastoma.",
        "A man dialled 999.",
        "pip install otel-rt4chart",
        "SELECT * FROM users WHERE id = 5;",
        '{"price": 249, "waterproof": false}',
    ],
)
def test_names_terms_and_code_do_not_make_english_another_language(text: str) -> None:
    """In doubt a text counts as English, for a claim in English must be judged."""
    assert foreign_language(text) == ""
