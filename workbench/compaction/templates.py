"""Render Jinja templates that a user wrote or pasted: they run no code, they end, and their output is bounded.

The sandbox gives a template access to its values and a bounded `range` only. One rendering has an allowance of turns,
used by all loops (nested ones included) and calls (a macro may call itself), and an allowance of characters. Everything
that a filter, a call, an operator or an output takes and returns is subtracted from the characters. If a result may be
larger than its inputs (a width, a replacement), its size is estimated before it is made. The results of `*` and `**`
are limited, too.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from functools import lru_cache
from typing import Any

from jinja2 import Template, TemplateError, meta, nodes, pass_context
from jinja2.runtime import Context
from jinja2.sandbox import ImmutableSandboxedEnvironment
from jinja2.visitor import NodeTransformer

TURNS = 100_000
"""Loop turns, calls and numbers from `range` allowed in one rendering. An abridged entry takes hundreds."""

ROOM = 20_000_000
"""Characters that one rendering may take and produce, intermediate results included. An abridged entry takes
thousands."""

LARGEST = 100_000
"""Members of a sequence, or bits of a number, that * and ** may produce; also the largest width."""

LONGEST = 100_000
"""Most characters of a template itself: each of its parts takes hundreds of bytes of memory. A prompt has thousands."""

FAILURES = (
    *(TemplateError, ArithmeticError, AttributeError, LookupError, TypeError, ValueError, RecursionError),
    *(SyntaxError, MemoryError),  # loops nested deeper than Python allows
)
"""Exceptions that a rendering may raise."""

_ALLOWANCE = "turns left"
"""Key of the remaining allowance among the values of a rendering. No template can name it."""

_MEMBER = 50
"""Characters that a member of a list counts as: about the memory that it takes."""


def rendered(text: str, values: Mapping[str, Any]) -> str:
    """Render a template with its values. Raises one of FAILURES."""
    _check_length(text)
    return _compiled(text).render({**values, _ALLOWANCE: _Allowance()})


def names_in(text: str) -> Iterator[tuple[int, str]]:
    """Names that a template takes from its values, each with its line. Raises one of FAILURES."""
    _check_length(text)
    tree = _Bounded().parse(text)
    undeclared = meta.find_undeclared_variables(tree)
    for name in tree.find_all(nodes.Name):
        if name.name in undeclared:
            yield name.lineno, name.name


def _check_length(text: str) -> None:
    if len(text) > LONGEST:
        raise OverflowError(f"it is longer than {LONGEST} characters")


@lru_cache(maxsize=8)
def _compiled(text: str) -> Template:
    return _Bounded().from_string(text)


class _Allowance:
    """Remaining turns and characters of one rendering."""

    def __init__(self) -> None:
        self.turns, self.room = TURNS, ROOM

    def take(self, turns: int) -> None:
        self.turns -= turns
        if self.turns < 0:
            raise OverflowError(f"its loops and calls need more than {TURNS} steps")

    def fill(self, *values: Any) -> None:
        for value in values:
            self.room -= len(value) if type(value) is str else _extent(value, self.room)
            self.hold(0)

    def hold(self, characters: int) -> None:
        """Raise OverflowError if there is no room for this many characters."""
        if characters > self.room:
            raise OverflowError(f"it produces more than {ROOM} characters")


def _extent(value: Any, enough: int) -> int:
    """Approximate length of a value as text; stops counting at `enough`, because a list may contain itself many
    times."""
    total, waiting = 0, [value]
    while waiting and total <= enough:
        one = waiting.pop()
        if isinstance(one, str | bytes):
            total += len(one)
        elif isinstance(one, Mapping):
            total += _MEMBER * len(one)
            waiting += [*one, *one.values()]
        elif isinstance(one, list | tuple | set | frozenset):
            total += _MEMBER * len(one)
            waiting += one
        elif isinstance(one, range):
            total += _MEMBER * len(one)
        else:
            total += one.bit_length() // 3 if isinstance(one, int) else 1
    return total


# --- results larger than their inputs -------------------------------------------------------------------------------


def _widths(arguments: Sequence[Any]) -> int:
    width = max((abs(one) for one in arguments if isinstance(one, int)), default=0)
    if width > LARGEST:
        raise OverflowError(f"a width of {width if width < 10**18 else 'such a size'} is too large")
    return width


def _longest(arguments: Sequence[Any]) -> int:
    return max((_extent(one, ROOM) for one in arguments), default=0)


def _replaced(text: Any, arguments: Sequence[Any]) -> int:
    whole, old, new = (
        one.decode("latin-1") if isinstance(one, bytes) else str(one) for one in (text, *arguments, "", "")[:3]
    )
    return len(whole) + whole.count(old) * len(new)


def _joined(values: Any, arguments: Sequence[Any]) -> int:
    return (
        len(values) * _longest(arguments)
        if isinstance(values, Sequence)
        else ROOM
        if _longest(arguments) > LARGEST
        else 0
    )


def _formatted(text: Any, arguments: Sequence[Any]) -> int:
    numbers = [int(digits[:20]) for digits in re.findall(r"\d+", str(text))]
    several = (
        one.values() if isinstance(one, Mapping) else one for one in arguments if isinstance(one, Mapping | tuple)
    )
    arguments = [*arguments, *(value for values in several for value in values)]
    return (str(text).count("%") + str(text).count("{")) * (_longest(arguments) + _widths([*numbers, *arguments]))


def _as_json(value: Any, arguments: Sequence[Any]) -> int:
    """Estimate with each member on its own line, indented by its depth."""
    width, lines, waiting = _widths(arguments), 0, [(value, 0)]
    while waiting and lines * width <= ROOM:
        one, depth = waiting.pop()
        lines += depth + 1
        inner = one.values() if isinstance(one, Mapping) else one if isinstance(one, list | tuple) else ()
        waiting += [(each, depth + 1) for each in inner]
    return lines * width


def _indented(text: Any, arguments: Sequence[Any]) -> int:
    return (str(text).count("\n") + 1) * (
        _widths(arguments) + _longest([one for one in arguments if isinstance(one, str)])
    )


_GROWTH: Mapping[str, Callable[[Any, Sequence[Any]], int]] = {
    **dict.fromkeys(
        ("center", "ljust", "rjust", "zfill", "to_bytes", "round"), lambda value, arguments: _widths(arguments)
    ),
    "expandtabs": lambda text, arguments: text.count("\t") * _widths(arguments),
    "replace": _replaced,
    "translate": lambda text, arguments: len(text) * _longest(arguments),
    "join": _joined,
    "indent": _indented,
    "tojson": _as_json,
    **dict.fromkeys(("format", "format_map"), _formatted),
}
"""By filter or method: characters of the result in addition to its inputs."""


@pass_context
def _counted(context: Context, values: Iterable[Any]) -> Iterator[Any]:
    for value in values:
        context[_ALLOWANCE].take(1)
        yield value


@pass_context
def _range(context: Context, *bounds: int) -> range:
    numbers = range(*bounds)
    context[_ALLOWANCE].take(len(numbers))
    return numbers


@pass_context
def _concatenated(context: Context, values: Sequence[Any]) -> str:
    context[_ALLOWANCE].fill(values)
    return "".join(map(str, values))


@pass_context
def _output(context: Context, value: Any) -> str:
    """Count a value that is output, the template's own text included; return it."""
    context[_ALLOWANCE].fill(value)
    return value if type(value) is str else str(value)


def _unlimited_name(name: str) -> str:
    """Name of the unlimited filter, which no template can write."""
    return f"unlimited {name}"


def _limited_filter(name: str) -> Callable[..., Any]:
    """Wrap a filter so that it counts against its rendering's room."""

    @pass_context
    def bounded(context: Context, value: Any, *args: Any, **named: Any) -> Any:
        arguments = (*args, *named.values())
        left: _Allowance = context[_ALLOWANCE]
        left.take(1)
        left.fill(value, *arguments)
        left.hold(_GROWTH[name](value, arguments) if name in _GROWTH else 0)
        result = context.environment.call_filter(_unlimited_name(name), value, args, named, context=context)
        left.fill(result)
        return result

    return bounded


class _Counting(NodeTransformer):
    """Route every loop through `_counted`, and every concatenation and output through the rendering's room."""

    def visit_For(self, node: nodes.For) -> nodes.Node:
        node.iter = nodes.Filter(node.iter, _counted.__name__, [], [], None, None, lineno=node.iter.lineno)
        return self.generic_visit(node)

    def visit_Concat(self, node: nodes.Concat) -> nodes.Node:
        values = nodes.List(node.nodes, lineno=node.lineno)
        together = nodes.Filter(values, _concatenated.__name__, [], [], None, None, lineno=node.lineno)
        return self.generic_visit(together)

    def visit_TemplateData(self, node: nodes.TemplateData) -> nodes.Node:
        return nodes.Const(node.data, lineno=node.lineno)


class _Bounded(ImmutableSandboxedEnvironment):
    """Sandbox that limits what a template may take and produce."""

    intercepted_binops = frozenset({"*", "**", "+", "%"})

    def __init__(self) -> None:
        super().__init__(keep_trailing_newline=False, finalize=_output)
        # These loop as often as an argument says, without being counted, or are not needed in prompts.
        for name in ("slice", "batch", "wordwrap", "urlize", "xmlattr", "random"):
            del self.filters[name]
        for name, filter in list(self.filters.items()):
            self.filters[_unlimited_name(name)] = filter
            self.filters[name] = _limited_filter(name)
        self.filters[_counted.__name__] = _counted
        self.filters[_concatenated.__name__] = _concatenated
        self.globals["range"] = _range
        del self.globals["lipsum"]

    def _parse(self, source: str, name: str | None, filename: str | None) -> nodes.Template:
        tree: nodes.Template = _Counting().visit(super()._parse(source, name, filename))
        tree.set_environment(self)
        return tree

    def call(__self, __context: Context, __obj: Any, *args: Any, **kwargs: Any) -> Any:
        left: _Allowance = __context[_ALLOWANCE]
        left.take(1)
        method = getattr(__obj, "__wrapped__", __obj)  # the sandbox wraps `str.format`
        name, owner, arguments = (
            getattr(method, "__name__", ""),
            getattr(method, "__self__", None),
            [*args, *kwargs.values()],
        )
        if isinstance(owner, str | bytes | int):
            left.fill(owner, *arguments)
            left.hold(_GROWTH[name](owner, arguments) if name in _GROWTH else 0)
        result = super().call(__context, __obj, *args, **kwargs)
        left.fill(result)
        return result

    def call_binop(self, context: Context, operator: str, left: Any, right: Any) -> Any:
        if operator in ("*", "**") and _size(operator, left, right) > LARGEST:
            raise OverflowError(f"the result of {operator} is too large")
        if not isinstance(left, int | float):
            context[_ALLOWANCE].fill(left, right)
            context[_ALLOWANCE].hold(_formatted(left, [right]) if operator == "%" else 0)
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
