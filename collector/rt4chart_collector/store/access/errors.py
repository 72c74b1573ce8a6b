"""Failures as ClickHouse words them: a code, a name, a text, and the HTTP status of the code.

Source: ClickHouse, src/Common/ErrorCodes.cpp and src/Server/HTTP/exceptionCodeToHTTPStatus.cpp.
"""

from __future__ import annotations

import re

BAD_ARGUMENTS = (36, "BAD_ARGUMENTS")
NOT_IMPLEMENTED = (48, "NOT_IMPLEMENTED")
SYNTAX_ERROR = (62, "SYNTAX_ERROR")
UNKNOWN_SETTING = (115, "UNKNOWN_SETTING")
TOO_MANY_SIMULTANEOUS_QUERIES = (202, "TOO_MANY_SIMULTANEOUS_QUERIES")
READONLY = (164, "READONLY")
REQUIRED_PASSWORD = (194, "REQUIRED_PASSWORD")
QUERY_IS_TOO_LARGE = (229, "QUERY_IS_TOO_LARGE")
ACCESS_DENIED = (497, "ACCESS_DENIED")
AUTHENTICATION_FAILED = (516, "AUTHENTICATION_FAILED")
STD_EXCEPTION = (1001, "STD_EXCEPTION")

BAD_REQUESTS = (
    *(6, 8, 15, 25, 26, 27, 36, 37, 38, 41, 44, 53, 62, 72, 117, 123, 167, 168, 223, 321, 376),
    *(427, 441, 675, 676),
)
NOT_FOUND = (46, 47, 50, 56, 60, 63, 73, 78, 81, 115, 152, 336, 511)
STATUS = {
    **dict.fromkeys(BAD_REQUESTS, 400),
    **dict.fromkeys(NOT_FOUND, 404),
    **dict.fromkeys((192, 193, 497, 512, 516), 403),
    # 202 is 500 there; clients try again on 503, which is what it asks for.
    **dict.fromkeys((76, 202, 209, 439), 503),
    48: 501,
    159: 408,
    194: 401,
    229: 413,
}
CODE = re.compile(r"Code: (\d+)\. DB::")


class RefusedError(Exception):
    """A request that gets an error for an answer."""

    def __init__(self, code: int, text: str) -> None:
        """`text` is the whole body, code and name included."""
        super().__init__(text)
        self.code = code
        self.text = text

    @property
    def status(self) -> int:
        """The HTTP status that ClickHouse gives the code."""
        return STATUS.get(self.code, 500)


def refused(kind: tuple[int, str], message: str) -> RefusedError:
    """A refusal of our own, in ClickHouse's words."""
    code, name = kind
    return RefusedError(code, f"Code: {code}. DB::Exception: {message}. ({name})")


def refused_by_engine(message: str) -> RefusedError:
    """The engine's own failure; what stands before its code is the binding's."""
    found = CODE.search(message)
    if found is None:
        return refused(STD_EXCEPTION, message.strip() or "the engine gave no reason")
    return RefusedError(int(found[1]), message[found.start() :].strip())
