"""Text of strangers, made safe to print: control and bidirectional characters are escaped."""

from __future__ import annotations

import json
import unicodedata

#: Unicode categories that move the cursor, reorder or hide text, break lines, or cannot be encoded.
_UNSAFE = ("Cc", "Cf", "Cs", "Zl", "Zp")


def printable(text: str, *, keep: str = "") -> str:
    r"""Return text with control, format and line-breaking characters as Python's escapes.

    Characters in `keep` stay unchanged. A backslash is not doubled: the result is to be read, not
    to be parsed.

    Examples
    --------
    >>> print(printable("A\x1b[2J and \u202egnp.exe"))
    A\x1b[2J and \u202egnp.exe
    """
    if text.isprintable():
        return text
    return "".join(
        char.encode("unicode_escape").decode("ascii")
        if char not in keep and unicodedata.category(char) in _UNSAFE
        else char
        for char in text
    )


def printable_json(text: str) -> str:
    r"""Return JSON of the same value, with the same characters escaped as JSON does it.

    Examples
    --------
    >>> print(printable_json('{"id": "\u202egnp.exe"}'))
    {"id": "\u202egnp.exe"}
    """
    if text.isprintable():
        return text
    return "".join(
        json.dumps(char)[1:-1] if char != "\n" and unicodedata.category(char) in _UNSAFE else char
        for char in text
    )


__all__ = ["printable", "printable_json"]
