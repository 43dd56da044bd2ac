"""The same pictures on every machine: times in UTC, and nothing that moves; and no waiting for a clock."""

import pkgutil
import time
from collections.abc import Iterator, Mapping, Sequence
from importlib import import_module
from typing import ClassVar
from weakref import WeakKeyDictionary

import pytest
from textual.app import App
from textual.css.model import RuleSet, SelectorType
from textual.css.parse import parse
from textual.css.styles import RulesMap
from textual.css.stylesheet import Stylesheet
from textual.css.tokenizer import Token
from textual.dom import DOMNode
from textual.widget import Widget

from tests.tui.quiet import paint_later, quiet
from workbench.tui import screens

Tokens = dict[str, list[Token]]

RESTS = (
    "bench.middle_text.SETTLE_S",
    "bench.finding.TYPED_S",
    "bench.planning.REST_S",
    "screens.sessions.SETTLE_S",
    "screens.prompt_editors.SETTLE_S",
    "screens.run_draft.SETTLE_S",
)
"""How long the screens let the cursor or a typing hand rest; the tests wait for workers after every key."""


@pytest.fixture(autouse=True, scope="session")
def screens_are_imported() -> None:
    """The first key to some of them waits for a thread that imports it, which is no worker."""
    for found in pkgutil.iter_modules(screens.__path__):
        import_module(f"{screens.__name__}.{found.name}")


@pytest.fixture(autouse=True)
def same_clock_everywhere(monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    monkeypatch.setenv("TZ", "UTC")
    # The variable of that name is read when textual is imported, which pytest's plugin has done by now.
    monkeypatch.setattr("textual.constants.TEXTUAL_ANIMATIONS", "none")
    time.tzset()
    yield
    monkeypatch.undo()
    time.tzset()


@pytest.fixture(autouse=True, scope="session")
def styles_are_parsed_once() -> Iterator[None]:
    """Every app, and every screen that is opened, reads all rules of style again; they are the same ones."""
    known: dict[object, list[RuleSet]] = {}

    def parsed(scope: str, css: str, read_from: object, variable_tokens: Tokens, **how: object) -> list[RuleSet]:
        values = tuple((name, *(token.value for token in tokens)) for name, tokens in variable_tokens.items())
        key = (scope, css, read_from, values, *how.items())
        if key not in known:
            known[key] = list(parse(scope, css, read_from, variable_tokens=variable_tokens, **how))  # type: ignore[arg-type]
        return known[key]

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr("textual.css.stylesheet.parse", parsed)
        # Every widget looks up each of the 500 rules whenever its classes change. The same hash, without a Python call.
        patch.setattr(RuleSet, "__hash__", object.__hash__)
        yield


class _StylesOf:
    """Rules of style that match a node, by what these rules ask of the node and its ancestors. All apps with the same
    rules share them. Textual asks for none where a rule depends on a node's siblings or children."""

    known: ClassVar[dict[int, tuple[RulesMap, tuple[bool, ...]]]] = {}
    """With the flags that Textual sets by the pseudo classes of the rules."""
    applied: ClassVar[WeakKeyDictionary[DOMNode, int]] = WeakKeyDictionary()
    """The key of the rules that a node has."""
    numbers: ClassVar[dict[object, int]] = {}
    """A number for each list of rules, and for each node with its ancestors: both are long, and are looked up often."""
    asked: ClassVar[dict[int, dict[str, bool]]] = {}
    """For the number of a list of rules the names in their selectors, and whether pseudo classes stand with them."""
    keys: ClassVar[dict[tuple[int, int], int]] = {}
    """The key of what a list of rules asks, by its number and that of the node."""
    lists: ClassVar[dict[tuple[int, ...], dict[object, int]]] = {}
    """For each list of style rules those that end with a node's names, by their identities, which
    `styles_are_parsed_once` keeps alive. Every kind of widget adds its own rules when it is first mounted, and those of
    the others stay."""
    lists_of: ClassVar[WeakKeyDictionary[Stylesheet, tuple[list[RuleSet], dict[object, int]]]] = WeakKeyDictionary()

    def __init__(self, sheet: Stylesheet, node: DOMNode, seen: dict[DOMNode, int]) -> None:
        self.node = node
        asked = _ending(sheet, node), _place(node, seen)
        if asked not in self.keys:
            self.keys[asked] = _number((asked[0], *_answers(node, self.asked[asked[0]])))
        self.key = self.keys[asked]

    def get(self, _: object) -> None:
        """None: what is known is applied without asking Textual."""

    def __setitem__(self, _: object, rules: RulesMap) -> None:
        self.known[self.key] = rules, tuple(getattr(self.node, flag) for flag in FLAGS)


def _number(one: object) -> int:
    return _StylesOf.numbers.setdefault(one, len(_StylesOf.numbers))


def _ending(sheet: Stylesheet, node: DOMNode) -> int:
    """The rules of a sheet that end with one of the names of a node, or of its parts."""
    rules, ending = _StylesOf.lists_of.get(sheet, (None, {}))
    if rules is not sheet.rules:
        ending = _StylesOf.lists.setdefault(tuple(map(id, sheet.rules)), {})
        _StylesOf.lists_of[sheet] = sheet.rules, ending
    named = (type(node), node._id, node.classes)
    if named not in ending:
        names = node._selector_names | {f".{part}" for part in node._get_component_classes()}
        found = {id(rule) for name in sheet.rules_map.keys() & names for rule in sheet.rules_map[name]}
        matching = [rule for rule in sheet.rules if id(rule) in found]
        ending[named] = _number(tuple(map(id, matching)))
        _StylesOf.asked[ending[named]] = dict(_names_in(matching))
    return ending[named]


SIGNS = {SelectorType.CLASS: ".", SelectorType.ID: "#"}


def _names_in(rules: Sequence[RuleSet]) -> Iterator[tuple[str, bool]]:
    every = [one for rule in rules for chain in rule.selector_set for one in chain.selectors]
    names = {(SIGNS.get(one.type, "") + one.name, bool(one.pseudo_classes)) for one in every}
    yield from sorted(names | {(".-textual-system", False)})  # of two the one with pseudo classes counts


def _answers(node: DOMNode, asked: Mapping[str, bool]) -> Iterator[object]:
    """What the nodes from the application to this one answer, with None for one or more that are not asked."""
    before: object = ""
    for one in node.css_path_nodes:
        names = tuple(name for name in asked if name in one._selector_names)
        answer = (names, *(_pseudo_classes(one) if any(asked[name] for name in names) else ())) if names else None
        if answer is not None or before is not None:
            yield answer
        before = answer


def _place(node: DOMNode, seen: dict[DOMNode, int]) -> int:
    """A node and its ancestors; `seen` are those of the nodes that are styled together."""
    if node not in seen:
        parent = node._parent
        above = _place(parent, seen) if isinstance(parent, DOMNode) else None
        seen[node] = _number((above, type(node), node._id, node.classes, *_pseudo_classes(node)))
    return seen[node]


FLAGS = ("_has_hover_style", "_has_focus_within", "_has_order_style", "_has_odd_or_even")


def _pseudo_classes(node: DOMNode) -> tuple[object, ...]:
    """Everything that a selector can check of a node beside its names."""
    if isinstance(node, Widget):
        return (node.mouse_hover, node.has_focus, node.is_disabled, node.allow_focus())
    if isinstance(node, App):
        dark = node.current_theme.dark
        return (dark, node.is_inline, node.native_ansi_color, node.no_color, node.app_focus)
    return ()


@pytest.fixture(autouse=True, scope="session")
def styles_are_matched_once(styles_are_parsed_once: None) -> Iterator[None]:
    """Matching style rules to widgets is a third of the time that an app takes to start. A node that has the rules is
    left alone: Textual styles all of a screen when it is shown, and all below a node whose class changes."""
    apply = Stylesheet.apply
    together: list[dict[DOMNode, int]] = []

    def applied(
        sheet: Stylesheet,
        node: DOMNode,
        *,
        animate: bool = False,
        cache: dict[object, dict[DOMNode, int]] | None = None,
    ) -> None:
        # Textual gives one cache to all nodes that it styles together, and none to the parts of each.
        seen = cache.setdefault("seen", {}) if cache is not None else together[-1] if together else {}
        styles = _StylesOf(sheet, node, seen)
        together.append(seen)
        if styles.key not in styles.known:
            apply(sheet, node, animate=animate, cache=styles)  # type: ignore[arg-type]
        elif styles.applied.get(node) != styles.key:
            rules, flags = styles.known[styles.key]
            for flag, value in zip(FLAGS, flags, strict=True):
                setattr(node, flag, value)
            sheet.replace_rules(node, rules, animate=animate)
            sheet._process_component_classes(node)
        together.pop()
        styles.applied[node] = styles.key

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(Stylesheet, "apply", applied)
        yield


@pytest.fixture(autouse=True)
def nothing_rests(monkeypatch: pytest.MonkeyPatch) -> None:
    """The pilot asks the event loop whether all is done, and the screens do not let the cursor rest."""
    for name in ("app.wait_for_idle", "pilot.wait_for_idle", "pilot.Pilot._wait_for_screen"):
        monkeypatch.setattr(f"textual.{name}", quiet)
    monkeypatch.setattr("textual.screen.Screen._compositor_refresh", paint_later)
    monkeypatch.setattr("textual.notifications.Notification.time_left", 86_400.0)  # a note stays until a test reads it
    for name in RESTS:
        monkeypatch.setattr(f"workbench.tui.{name}", 0.001)
