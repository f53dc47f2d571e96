"""Texts of strangers are printed without moving a cursor or reordering what follows."""

from __future__ import annotations

import ast
import json
import sys
import unicodedata

from toprank.inputs.printable import printable, printable_json

EVERY = [chr(code) for code in range(sys.maxunicode + 1)]


def test_what_is_printed_can_be_read_back_and_holds_nothing_unsafe() -> None:
    for char in EVERY:
        shown = printable(f"a{char}b")
        unsafe = unicodedata.category(char) in ("Cc", "Cf", "Cs", "Zl", "Zp")
        assert (shown == f"a{char}b") is not unsafe
        if unsafe:
            assert shown.isascii()
            assert ast.literal_eval(f"'{shown}'") == f"a{char}b"


def test_words_of_people_and_lines_that_are_kept_stay() -> None:
    for text in ("", "Zoë", "東京 7", "naïve 5\u00a0€", "שלום", "C:\\new", "👍🏽"):
        assert printable(text) == text
    assert printable("one\ntwo\r", keep="\n") == "one\ntwo\\r"


def test_json_keeps_its_value() -> None:
    value = {"".join(EVERY[:0x3000]): ["\ud800", "\U000e0001", "Zoë\n"]}
    shown = printable_json(json.dumps(value, ensure_ascii=False, indent=1))
    assert json.loads(shown) == value
    assert "ë" in shown
    assert all(char == "\n" or printable(char) == char for char in shown)
