"""Large letters, which the back of a room can read: five dots high, drawn on three rows of half blocks."""

from __future__ import annotations

ROWS = 3

_DRAWN = """
A .#. #.# ### #.# #.#
B ##. #.# ##. #.# ##.
C .## #.. #.. #.. .##
D ##. #.# #.# #.# ##.
E ### #.. ##. #.. ###
F ### #.. ##. #.. #..
G .## #.. #.# #.# .##
H #.# #.# ### #.# #.#
I # # # # #
J ..# ..# ..# #.# .#.
K #.# #.# ##. #.# #.#
L #.. #.. #.. #.. ###
M #...# ##.## #.#.# #...# #...#
N #..# ##.# #.## #..# #..#
O ### #.# #.# #.# ###
P ##. #.# ##. #.. #..
Q ### #.# #.# ### ..#
R ##. #.# ##. #.# #.#
S .## #.. .#. ..# ##.
T ### .#. .#. .#. .#.
U #.# #.# #.# #.# ###
V #.# #.# #.# #.# .#.
W #...# #...# #.#.# ##.## #...#
X #.# #.# .#. #.# #.#
Y #.# #.# .#. .#. .#.
Z ### ..# .#. #.. ###
0 ### #.# #.# #.# ###
1 .#. ##. .#. .#. ###
2 ##. ..# .#. #.. ###
3 ##. ..# .#. ..# ##.
4 #.# #.# ### ..# ..#
5 ### #.. ##. ..# ##.
6 .## #.. ### #.# ###
7 ### ..# .#. .#. .#.
8 ### #.# ### #.# ###
9 ### #.# ### ..# ##.
k #.. #.. #.# ##. #.#
. . . . . #
% #.# ..# .#. #.. #.#
▸ #.. ##. ### ##. #..
~ ..... .#... #.#.# ...#. .....
"""

_LETTERS = {line[0]: line[2:].split() for line in _DRAWN.strip().split("\n")} | {" ": [".."] * 5}

_BLOCKS = {"..": " ", "#.": "▀", ".#": "▄", "##": "█"}


def large(text: str) -> tuple[str, ...]:
    """Return `ROWS` rows that draw the text. Raises KeyError for a character that is not drawn here."""
    dots = [".".join(_LETTERS[character][row] for character in text) for row in range(5)] + [""]
    dots[5] = "." * len(dots[0])
    return tuple(
        "".join(_BLOCKS[upper + lower] for upper, lower in zip(dots[row], dots[row + 1], strict=True))
        for row in range(0, 6, 2)
    )
