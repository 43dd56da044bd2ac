"""Large letters for an audience: five dots high, drawn with half blocks in three rows."""

from __future__ import annotations

ROWS = 3
"""Height of a large letter in rows of the terminal."""

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
    """Return the text as `ROWS` rows of equal width. Raises KeyError for any character but capitals, digits, space and
    `k.%▸~`."""
    dots = [".".join(_LETTERS[character][row] for character in text) for row in range(5)] + [""]
    dots[5] = "." * len(dots[0])
    return tuple(
        "".join(_BLOCKS[upper + lower] for upper, lower in zip(dots[row], dots[row + 1], strict=True))
        for row in range(0, 6, 2)
    )
