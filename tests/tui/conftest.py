"""The same pictures on every machine: times in UTC, and nothing that moves; and no waiting for a clock."""

import pkgutil
import time
from collections.abc import Iterator
from importlib import import_module
from typing import ClassVar
from weakref import WeakKeyDictionary

import pytest
from textual.app import App
from textual.css.model import RuleSet
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
    """Rules of style that match a node, by all that a selector can check of the node and its ancestors. All apps with
    the same rules share them. Textual asks for none where a rule depends on a node's siblings or children."""

    known: ClassVar[dict[object, tuple[RulesMap, tuple[bool, ...]]]] = {}
    """With the flags that Textual sets by the pseudo classes of the rules."""
    applied: ClassVar[WeakKeyDictionary[DOMNode, object]] = WeakKeyDictionary()
    """The key of the rules that a node has."""
    lists: ClassVar[dict[tuple[int, ...], dict[frozenset[str], tuple[int, ...]]]] = {}
    """For each list of style rules those that end with a node's names, by their identities, which
    `styles_are_parsed_once` keeps alive. Every kind of widget adds its own rules when it is first mounted, and those of
    the others stay."""
    lists_of: ClassVar[WeakKeyDictionary[Stylesheet, tuple[list[RuleSet], dict[frozenset[str], tuple[int, ...]]]]] = (
        WeakKeyDictionary()
    )

    def __init__(self, sheet: Stylesheet, node: DOMNode) -> None:
        self.node = node
        self.key = (_ending(sheet, frozenset(node._selector_names)), *map(_state, node.css_path_nodes))

    def get(self, _: object) -> None:
        """None: what is known is applied without asking Textual."""

    def __setitem__(self, _: object, rules: RulesMap) -> None:
        self.known[self.key] = rules, tuple(getattr(self.node, flag) for flag in FLAGS)


def _ending(sheet: Stylesheet, names: frozenset[str]) -> tuple[int, ...]:
    """The rules of a sheet that end with one of these names."""
    rules, ending = _StylesOf.lists_of.get(sheet, (None, {}))
    if rules is not sheet.rules:
        ending = _StylesOf.lists.setdefault(tuple(map(id, sheet.rules)), {})
        _StylesOf.lists_of[sheet] = sheet.rules, ending
    if names not in ending:
        found = {id(rule) for name in sheet.rules_map.keys() & names for rule in sheet.rules_map[name]}
        ending[names] = tuple(one for one in map(id, sheet.rules) if one in found)
    return ending[names]


FLAGS = ("_has_hover_style", "_has_focus_within", "_has_order_style", "_has_odd_or_even")


def _state(node: DOMNode) -> tuple[object, ...]:
    """Everything that a selector can check of a node alone."""
    pseudo_classes: tuple[object, ...] = ()
    if isinstance(node, Widget):
        pseudo_classes = (*node._pseudo_classes_cache_key, node.allow_focus())
    elif isinstance(node, App):
        dark = node.current_theme.dark
        pseudo_classes = (dark, node.is_inline, node.native_ansi_color, node.no_color, node.app_focus)
    return (type(node), node._id, node.classes, *pseudo_classes)


@pytest.fixture(autouse=True, scope="session")
def styles_are_matched_once(styles_are_parsed_once: None) -> Iterator[None]:
    """Matching style rules to widgets is a third of the time that an app takes to start. A node that has the rules is
    left alone: Textual styles all of a screen when it is shown, and all below a node whose class changes."""
    apply = Stylesheet.apply

    def applied(sheet: Stylesheet, node: DOMNode, *, animate: bool = False, cache: object = None) -> None:
        styles = _StylesOf(sheet, node)
        if styles.key not in styles.known:
            apply(sheet, node, animate=animate, cache=styles)  # type: ignore[arg-type]
        elif styles.applied.get(node) != styles.key:
            rules, flags = styles.known[styles.key]
            for flag, value in zip(FLAGS, flags, strict=True):
                setattr(node, flag, value)
            sheet.replace_rules(node, rules, animate=animate)
            sheet._process_component_classes(node)
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
