"""Files made of good ones by small harms."""

from __future__ import annotations

import random
from collections.abc import Callable, Sequence

#: What readers stumble over: ends of texts, odd numbers, signs of formats, bytes that are no text.
TOKENS = (
    *(b"", b"\n", b"\r\n", b"\r", b"\0", b",", b"\t", b" ", b":", b'"', b"'", b"#", b"\\"),
    *(b"-", b"+", b".", b"e", b"nan", b"inf", b"-inf", b"1e999", b"-0", b"0x10", b"1_000"),
    *(b"4294967296", b"2147483648", b"9223372036854775807", b"18446744073709551616"),
    *(b"99999999999999999999999999", b"1e-400", b"NA", b"null", b"None", b"true", b"2020-02-30"),
    *(b"\xff", b"\xfe\xff", b"\xff\xfe", b"\xef\xbb\xbf", b"\xc3", b"\xed\xa0\x80", b"\x1a"),
    *(b"PK\x03\x04", b"PAR1", b"ARROW1", b"\x93NUMPY", b"{", b"}", b"[", b"]", b"[fit]", b"="),
    *(b"qid:1", b"1:1", b"0:0", b"-1:1", b"1:", b":1", b"shape", b"|O", b"<f8", b"../x"),
)
#: The most harms to one file.
MOST = 4


def mutant(seeds: Sequence[bytes], rng: random.Random) -> bytes:
    """A good file with one to four harms."""
    data = bytearray(rng.choice(seeds))
    for _ in range(rng.randint(1, MOST)):
        rng.choice(_HARMS)(data, rng, seeds)
    return bytes(data)


def _place(data: bytearray, rng: random.Random) -> int:
    return rng.randint(0, len(data))


def _piece(data: bytearray, rng: random.Random) -> slice:
    """A short piece, now and then a long one."""
    first = _place(data, rng)
    length = rng.randint(1, 8) if rng.random() < 0.7 else rng.randint(1, max(len(data), 1))
    return slice(first, first + length)


def _flip(data: bytearray, rng: random.Random, _: Sequence[bytes]) -> None:
    if data:
        data[rng.randrange(len(data))] ^= 1 << rng.randrange(8)


def _byte(data: bytearray, rng: random.Random, _: Sequence[bytes]) -> None:
    if data:
        data[rng.randrange(len(data))] = rng.choice((0, 1, 0x7F, 0x80, 0xFE, 0xFF, 0x0A, 0x20))


def _delete(data: bytearray, rng: random.Random, _: Sequence[bytes]) -> None:
    del data[_piece(data, rng)]


def _repeat(data: bytearray, rng: random.Random, _: Sequence[bytes]) -> None:
    piece = bytes(data[_piece(data, rng)])
    place = _place(data, rng)
    data[place:place] = piece * rng.choice((1, 1, 2, 100))


def _token(data: bytearray, rng: random.Random, _: Sequence[bytes]) -> None:
    place = _place(data, rng)
    data[place : place + rng.choice((0, 0, 1, 4))] = rng.choice(TOKENS)


def _truncate(data: bytearray, rng: random.Random, _: Sequence[bytes]) -> None:
    del data[_place(data, rng) :]


def _splice(data: bytearray, rng: random.Random, seeds: Sequence[bytes]) -> None:
    other = rng.choice(seeds)
    data[_place(data, rng) :] = other[rng.randint(0, len(other)) :]


def _number(data: bytearray, rng: random.Random, _: Sequence[bytes]) -> None:
    """A length or a place in a binary file becomes another."""
    size = rng.choice((1, 2, 4, 8))
    place = _place(data, rng)
    value = rng.choice((0, 1, -1, 127, 128, 255, 256, 2**31 - 1, 2**31, 2**63 - 1, len(data)))
    data[place : place + size] = (value % 2 ** (8 * size)).to_bytes(size, "little")


_HARMS: tuple[Callable[[bytearray, random.Random, Sequence[bytes]], None], ...] = (
    _flip,
    _byte,
    _delete,
    _repeat,
    _token,
    _token,
    _truncate,
    _splice,
    _number,
)

__all__ = ["TOKENS", "mutant"]
