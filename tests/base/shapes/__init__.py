"""Shapes of secrets and of ordinary things, as agents meet them, and how a masker does on them.

`secret.txt` and `ordinary.txt` were written from public lists of patterns and from code before the masker was. What
looks like chance is drawn when it is read, so that nothing here is a secret or looks like one to a scanner.
`met_secret.txt` and `met_ordinary.txt` came later: lines as sessions hold them, each with its kind.
"""

from __future__ import annotations

import random
import re
import string
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import cache
from hashlib import sha1
from pathlib import Path

HERE = Path(__file__).parent
HEX = string.digits + "abcdef"
ALPHABETS = {
    "an": string.ascii_letters + string.digits,
    "AN": string.ascii_uppercase + "234567",
    "low": string.ascii_lowercase + string.digits,
    "url": string.ascii_letters + string.digits + "-_",
    "b64": string.ascii_letters + string.digits + "+/",
    "hex": HEX,
    "HEX": HEX.upper(),
    "d": string.digits,
}
DRAWN = rf"\{{(?:({'|'.join(ALPHABETS)}) (\d+)|(pem|uuid|jwt))\}}"
TORN = 6
"""So many characters of a secret, next to each other and left in place, are a leak."""


@dataclass(frozen=True)
class Shape:
    """A line of a list: `about` as the list writes it, `marked` as it is met, with ⟨⟩ around each secret."""

    about: str
    marked: str

    @property
    def text(self) -> str:
        return re.sub("[⟨⟩]", "", self.marked)

    @property
    def secrets(self) -> list[str]:
        return re.findall("⟨(.*?)⟩", self.marked, re.DOTALL)

    @property
    def is_for_tuning(self) -> bool:
        """Half of the lines; the others are only for measuring."""
        return sha1(self.about.encode()).hexdigest()[0] in "01234567"


@cache
def shapes(name: str) -> tuple[Shape, ...]:
    lines = (HERE / f"{name}.txt").read_text("utf-8").splitlines()
    return tuple(_drawn(line) for line in lines if line and not line.startswith("#"))


def met(name: str) -> list[tuple[str, Shape]]:
    """The lines of `met_{name}.txt`, each with its kind."""
    lines = (HERE / f"met_{name}.txt").read_text("utf-8").splitlines()
    entries = [line.partition(" | ") for line in lines if line and not line.startswith("#")]
    return [(kind, _drawn(text)) for kind, _, text in entries]


def _drawn(line: str) -> Shape:
    chance = random.Random(line)
    text = re.sub(DRAWN, lambda found: _draw(chance, found), line).replace("\\\\", "\0")
    text = text.replace("\\n", "\n").replace("\\t", "\t").replace("\0", "\\")
    return Shape(line, text)


def _draw(chance: random.Random, found: re.Match[str]) -> str:
    match found[3]:
        case "pem":
            return "PRIVATE"
        case "uuid":
            return "-".join(_letters(chance, HEX, size) for size in (8, 4, 4, 4, 12))
        case "jwt":
            url = ALPHABETS["url"]
            return f"eyJhbGciOiJIUzI1NiJ9.eyJ{_letters(chance, url, 60)}.{_letters(chance, url, 43)}"
    return _letters(chance, ALPHABETS[found[1]], int(found[2]))


def _letters(chance: random.Random, of: str, count: int) -> str:
    """Drawn, a digit and a letter among them, and neither a hyphen nor an underscore at an end."""
    drawn = chance.choices(of, k=count)
    for place, kind in ((0, str.isalnum), (-1, str.isalnum), (1, str.isdigit), (2, str.isalpha)):
        if count > 3 and any(map(kind, of)):
            drawn[place] = chance.choice([sign for sign in of if kind(sign)])
    return "".join(drawn)


def leaks(shape: Shape, shown: str) -> bool:
    """Whether a secret, or a part of one that stands nowhere else, is in what is shown."""
    beside = re.sub("⟨.*?⟩", "⟨⟩", shape.marked, flags=re.DOTALL)
    pieces = (
        secret[start : start + TORN] for secret in shape.secrets for start in range(max(1, len(secret) - TORN + 1))
    )
    return any(piece in shown and piece not in beside for piece in pieces)


def missed(masked: Callable[[str], str], among: Sequence[Shape]) -> list[Shape]:
    return [shape for shape in among if leaks(shape, masked(shape.text))]


def touched(masked: Callable[[str], str], among: Sequence[Shape]) -> list[Shape]:
    return [shape for shape in among if masked(shape.text) != shape.text]
