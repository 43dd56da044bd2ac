"""What is found out about a context's messages once, whatever the policy: pins, weights and numbers move, it stays."""

from __future__ import annotations

from collections.abc import Callable
from functools import wraps
from typing import TypeVar

from workbench.compaction.context import Layout
from workbench.facts.calls import Called, calls_in

T = TypeVar("T")


def per_layout(compute: Callable[[Layout], T]) -> Callable[[Layout], T]:
    """`compute`, called once per layout. It must not depend on the sizes: `Layout.resized` carries the result over."""
    name = f"{compute.__module__}.{compute.__qualname__}"

    @wraps(compute)
    def found(layout: Layout) -> T:
        known = vars(layout)
        if name not in known:
            known[name] = compute(layout)
        result: T = known[name]
        return result

    return found


@per_layout
def calls_of(layout: Layout) -> tuple[Called, ...]:
    """Every tool call with its result."""
    return calls_in(layout.messages)
