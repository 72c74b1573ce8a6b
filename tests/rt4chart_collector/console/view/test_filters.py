from __future__ import annotations

from rt4chart_collector.console.view.filters import PICTURES, visible


def test_whatever_hides_or_reorders_text_is_made_visible() -> None:
    """Also alone and among printable characters; no other character changes."""
    for code in (*range(0xD800), *range(0xE000, 0x110000)):
        character = chr(code)
        assert visible(character) == character.translate(PICTURES)
    for code in PICTURES:
        assert visible(f"an{chr(code)}d") == f"an{chr(code)}d".translate(PICTURES)
    assert visible("") == ""
