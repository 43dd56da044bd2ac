"""JSON documents with some of their values replaced, to see that readers are ready for any shape."""

from __future__ import annotations

import copy
from typing import Any

from hypothesis import strategies as st

_WORDS = ["", "user", "assistant", "tool", "text", "summary", "id"]
odd_values = st.recursive(
    st.none() | st.booleans() | st.integers(-9, 10**20) | st.floats() | st.sampled_from(_WORDS),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.sampled_from(["type", "text", "id"]), inner),
    max_leaves=5,
)


@st.composite
def mangled(draw: st.DrawFn, document: Any) -> Any:
    """A copy of a document with one to four of its values, at any depth, replaced by something else."""
    holder = root = [copy.deepcopy(document)]
    for _ in range(draw(st.integers(1, 4))):
        holder = root[0]
        for _ in range(draw(st.integers(0, 6))):
            inner = [key for key in _keys(holder) if isinstance(holder[key], dict | list) and holder[key]]
            if not inner:
                break
            holder = holder[draw(st.sampled_from(inner))]
        if isinstance(holder, dict | list) and holder:
            holder[draw(st.sampled_from(_keys(holder)))] = draw(odd_values)
    return root[0]


def _keys(holder: Any) -> list[Any]:
    if isinstance(holder, dict):
        return list(holder)
    return list(range(len(holder))) if isinstance(holder, list) else []
