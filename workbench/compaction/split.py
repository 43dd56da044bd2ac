"""Where a context is cut: head and tail by characters, and the segments that bound a summarizer's input."""

from __future__ import annotations

from collections.abc import Sequence


def head_length(sizes: Sequence[int], tail_chars: int, min_tail: int, threshold: int) -> int:
    """How many of the oldest exchanges become the head (spec/strategies.md §1, Split; document 000 §4.1).

    From the newest: an exchange goes to the tail while `total + size < tail_chars` or the tail holds fewer than
    `min_tail`; `total` grows either way, so the first that goes to the head ends the walk. A sum below `threshold`
    gives 0.
    """
    if sum(sizes) < threshold:
        return 0
    total = kept = 0
    for size in reversed(sizes):
        if not (total + size < tail_chars or kept < min_tail):
            break
        total += size
        kept += 1
    return len(sizes) - kept


def guarded_start(sizes: Sequence[int], limit: int) -> int:
    """The first exchange of the head that the summarizer is given (spec/strategies.md §1, Guard; document 000 §4.3).

    A segment holds at most `limit / 3`; an exchange that would push it over starts a new one (an oversize first
    exchange leaves the first segment empty). Fewer than 4 segments: 0. Else the start of segment `2·⌊(n−2)/2⌋`.
    """
    starts = [0]
    current = 0
    for index, size in enumerate(sizes):
        # 3 · size against the limit: thirds of a number of characters need no fraction.
        if 3 * (current + size) > limit:
            starts.append(index)
            current = 0
        current += size
    if len(starts) < 4:
        return 0
    return starts[2 * ((len(starts) - 2) // 2)]
