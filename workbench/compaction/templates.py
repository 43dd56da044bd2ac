"""Jinja templates that a user may have written or pasted: they run no code, and they come to an end.

The sandbox keeps a template from everything but its values, and one `range` short. Here all loops of a rendering
together are bounded as well, nested ones too, and so are calls (a macro may call itself) and what a product can be.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from functools import lru_cache
from typing import Any

from jinja2 import Template, TemplateError, meta, nodes, pass_context
from jinja2.runtime import Context
from jinja2.sandbox import SandboxedEnvironment
from jinja2.visitor import NodeTransformer

TURNS = 100_000
"""Turns of all loops of one rendering, with its calls and the numbers that `range` gives. An entry takes hundreds."""

LARGEST = 100_000
"""Members of a sequence, or bits of a number, that * and ** may make."""

FAILURES = (TemplateError, ArithmeticError, AttributeError, LookupError, TypeError, ValueError, RecursionError)
"""What a rendering may raise."""

_LEFT = "turns left"
"""Stands among the values of a rendering, where no template can name it."""


def rendered(text: str, values: Mapping[str, Any]) -> str:
    """A template with its values. Raises one of FAILURES."""
    return _compiled(text).render({**values, _LEFT: _Left()})


def names_in(text: str) -> Iterator[tuple[int, str]]:
    """The names that a template leaves to its values, each with its line. Raises jinja2.TemplateSyntaxError."""
    tree = _Bounded().parse(text)
    undeclared = meta.find_undeclared_variables(tree)
    for name in tree.find_all(nodes.Name):
        if name.name in undeclared:
            yield name.lineno, name.name


@lru_cache(maxsize=8)
def _compiled(text: str) -> Template:
    return _Bounded().from_string(text)


class _Left:
    def __init__(self) -> None:
        self.turns = TURNS

    def take(self, turns: int) -> None:
        self.turns -= turns
        if self.turns < 0:
            raise OverflowError(f"its loops and calls take more than {TURNS} turns")


@pass_context
def _counted(context: Context, values: Iterable[Any]) -> Iterator[Any]:
    for value in values:
        context[_LEFT].take(1)
        yield value


@pass_context
def _range(context: Context, *bounds: int) -> range:
    numbers = range(*bounds)
    context[_LEFT].take(len(numbers))
    return numbers


class _Counting(NodeTransformer):
    """Has every loop go over `_counted` values."""

    def visit_For(self, node: nodes.For) -> nodes.Node:
        node.iter = nodes.Filter(node.iter, _counted.__name__, [], [], None, None, lineno=node.iter.lineno)
        return self.generic_visit(node)


class _Bounded(SandboxedEnvironment):
    intercepted_binops = frozenset({"*", "**"})

    def __init__(self) -> None:
        super().__init__(keep_trailing_newline=False)
        self.filters[_counted.__name__] = _counted
        self.globals["range"] = _range
        # These go round as often as a number says, where nothing counts it.
        for name in ("slice", "batch"):
            del self.filters[name]
        del self.globals["lipsum"]

    def _parse(self, source: str, name: str | None, filename: str | None) -> nodes.Template:
        tree: nodes.Template = _Counting().visit(super()._parse(source, name, filename))
        tree.set_environment(self)
        return tree

    def call(__self, __context: Context, __obj: Any, *args: Any, **kwargs: Any) -> Any:
        __context[_LEFT].take(1)
        return super().call(__context, __obj, *args, **kwargs)

    def call_binop(self, context: Context, operator: str, left: Any, right: Any) -> Any:
        if _size(operator, left, right) > LARGEST:
            raise OverflowError(f"what {operator} makes is too large")
        return super().call_binop(context, operator, left, right)


def _size(operator: str, left: Any, right: Any) -> int:
    match left, right:
        case int(), int():
            return left.bit_length() * right if operator == "**" else left.bit_length() + right.bit_length()
        case ((str() | list() | tuple()), int()):
            return len(left) * right
        case int(), (str() | list() | tuple()):
            return left * len(right)
        case _:
            return 0
