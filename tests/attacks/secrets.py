"""200 made-up secrets of twelve kinds: valid in form, and nobody's."""

from __future__ import annotations

import base64
import json
import random
import string
from collections.abc import Callable, Sequence
from dataclasses import dataclass

LETTERS, DIGITS = string.ascii_letters, string.digits
WORD = LETTERS + DIGITS
URL_SAFE = f"{WORD}-_"
# The start of the numbers of each network, and their length.
NETWORKS = (
    ("4", 16), ("4", 13), ("51", 16), ("2223", 16), ("34", 15), ("37", 15), ("6011", 16),
    ("36", 14), ("3530", 16), ("62", 16), ("6759", 16), ("62", 19),
)  # fmt: skip
COUNTRIES = (("DE", 18), ("FR", 23), ("NL", 0), ("GB", 0), ("ES", 20), ("IT", 0))
PHONES = (
    "+49 171 {}", "+49171{}", "+1 (415) 555-{:.4}", "(415) 555-{:.4}", "415-555-{:.4}",
    "0049 30 {}", "+33 6 12 34 {:.2} 78", "030/{}", "+44 20 7946 {:.4}",
)  # fmt: skip
PREFIXES = (
    ("sk-", WORD, 48), ("sk-ant-api03-", URL_SAFE, 80), ("sk-proj-", URL_SAFE, 60),
    ("sk_live_", WORD, 24), ("ghp_", WORD, 36), ("gho_", WORD, 36), ("github_pat_", WORD, 60),
    ("glpat-", WORD, 20), ("xoxb-", DIGITS, 24), ("AIza", WORD, 35), ("SG.", WORD, 22),
    ("npm_", WORD, 36), ("hf_", LETTERS, 34), ("pypi-", WORD, 80), ("ya29.", WORD, 60),
    ("dop_v1_", "0123456789abcdef", 64), ("shpat_", "0123456789abcdef", 32), ("gsk_", WORD, 52),
)  # fmt: skip


@dataclass(frozen=True, slots=True)
class Secret:
    """A secret, its kind, and the name of the pattern that finds it."""

    kind: str
    text: str
    pattern: str


class SecretMaker:
    """Makes secrets; the same ones for the same seed."""

    def __init__(self, seed: int) -> None:
        """Nothing is drawn before `make`."""
        self._chance = random.Random(seed)  # noqa: S311 - fakes

    def make(self, number: int) -> list[Secret]:
        """That many secrets, of each kind in turn."""
        kinds: tuple[tuple[str, Callable[[int], str], str], ...] = (
            ("card", self._card, "card"),
            ("card in groups", self._grouped_card, "card"),
            ("iban", self._iban, "iban"),
            ("email", self._email, "email"),
            ("phone", self._phone, "phone"),
            ("api key", self._api_key, "secret"),
            ("jwt", self._jwt, "secret"),
            ("aws key id", self._aws_key_id, "secret"),
            ("aws secret key", self._aws_secret_key, "secret"),
            ("private key", self._private_key, "secret"),
            ("ip", self._ip, "ip"),
            ("iban in groups", self._grouped_iban, "iban"),
        )
        made: list[Secret] = []
        for place in range(number):
            kind, draw, pattern = kinds[place % len(kinds)]
            made.append(Secret(kind, draw(place // len(kinds)), pattern))
        return made

    def _text(self, characters: Sequence[str], length: int) -> str:
        return "".join(self._chance.choices(characters, k=length))

    def _card(self, number: int) -> str:
        start, length = NETWORKS[number % len(NETWORKS)]
        body = start + self._text(DIGITS, length - len(start) - 1)
        doubled = (sum(divmod(2 * int(digit), 10)) for digit in body[::-1][::2])
        rest = (int(digit) for digit in body[::-1][1::2])
        return body + str(-(sum(doubled) + sum(rest)) % 10)

    def _grouped_card(self, number: int) -> str:
        card, separator = self._card(number), " -"[number % 2]
        return separator.join(card[at : at + 4] for at in range(0, len(card), 4))

    def _iban(self, number: int) -> str:
        country, digits = COUNTRIES[number % len(COUNTRIES)]
        account = self._text(DIGITS, digits) if digits else f"ABNA{self._text(DIGITS, 14)}"
        as_number = "".join(str(int(char, 36)) for char in f"{account}{country}00")
        return f"{country}{98 - int(as_number) % 97:02}{account}"

    def _grouped_iban(self, number: int) -> str:
        iban = self._iban(number)
        return " ".join(iban[at : at + 4] for at in range(0, len(iban), 4))

    def _email(self, number: int) -> str:
        name = self._text(string.ascii_lowercase, 6)
        host = ("example.com", "mail.example.co.uk", "ex-ample.org", "bücher.example")[number % 4]
        return f"{name}{('.s', '+list', '_1', '')[number % 4]}@{host}"

    def _phone(self, number: int) -> str:
        return PHONES[number % len(PHONES)].format(self._text("123456789", 7))

    def _api_key(self, number: int) -> str:
        prefix, characters, length = PREFIXES[number % len(PREFIXES)]
        tail = f".{self._text(WORD, 43)}" if prefix == "SG." else ""
        # The last character is no dash: a text may go on after it.
        last = self._text([one for one in characters if one.isalnum()], 1)
        return prefix + self._text(characters, length - 1) + last + tail

    def _jwt(self, number: int) -> str:
        head, claims = {"alg": "HS256"}, {"sub": str(number), "n": self._text(WORD, 9)}
        return ".".join([_base64(head), _base64(claims), self._text(WORD, 43)])

    def _aws_key_id(self, number: int) -> str:
        return ("AKIA", "ASIA")[number % 2] + self._text(string.ascii_uppercase + DIGITS, 16)

    def _aws_secret_key(self, number: int) -> str:
        return self._text(f"{WORD}{DIGITS}", 20) + "/" + self._text(f"{WORD}{DIGITS}", 19)

    def _private_key(self, number: int) -> str:
        kind = ("", "RSA ", "EC ", "OPENSSH ")[number % 4]
        lines = [self._text(f"{WORD}+/", 64) for _ in range(4)]
        return "\n".join(
            [f"-----BEGIN {kind}PRIVATE KEY-----", *lines, f"-----END {kind}PRIVATE KEY-----"]
        )

    def _ip(self, number: int) -> str:
        if number % 3 == 2:
            return f"2001:db8::{self._chance.randrange(1, 0xFFFF):x}"
        return ".".join(str(self._chance.randrange(11, 250)) for _ in range(4))


def _base64(value: object) -> str:
    text = json.dumps(value, separators=(",", ":")).encode()
    return base64.urlsafe_b64encode(text).decode().rstrip("=")
