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
    """Cache of the rules that match a node. Textual makes one for each update of styles, keyed by the node's parent.
    This one is shared by all apps with the same style rules, and keyed by all that a selector can check of the node and
    its ancestors. Textual does not use the cache where a rule depends on a node's siblings or children."""

    known: ClassVar[dict[object, RulesMap]] = {}
    sheets: ClassVar[dict[tuple[int, ...], int]] = {}
    """A number for each list of style rules, by their identities: `styles_are_parsed_once` keeps them alive."""
    numbered: ClassVar[WeakKeyDictionary[Stylesheet, tuple[list[RuleSet], int]]] = WeakKeyDictionary()

    def __init__(self, sheet: Stylesheet, node: DOMNode) -> None:
        self.sheet, self.node = sheet, node

    def get(self, _: object) -> RulesMap | None:
        self.key = (self._number(), *map(_state, self.node.css_path_nodes))
        return self.known.get(self.key)

    def __setitem__(self, _: object, rules: RulesMap) -> None:
        self.known[self.key] = rules

    def _number(self) -> int:
        rules, number = self.numbered.get(self.sheet, (None, 0))
        if rules is not self.sheet.rules:
            number = self.sheets.setdefault(tuple(map(id, self.sheet.rules)), len(self.sheets))
            self.numbered[self.sheet] = (self.sheet.rules, number)
        return number


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
    """Matching style rules to widgets is a third of the time that an app takes to start."""
    apply = Stylesheet.apply

    def applied(sheet: Stylesheet, node: DOMNode, *, animate: bool = False, cache: object = None) -> None:
        apply(sheet, node, animate=animate, cache=_StylesOf(sheet, node))  # type: ignore[arg-type]

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
