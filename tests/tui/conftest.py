"""The same pictures on every machine: times in UTC, and nothing that moves; and no waiting for a clock."""

import pkgutil
import time
from collections.abc import Iterator
from importlib import import_module

import pytest
from textual.css.model import RuleSet
from textual.css.parse import parse
from textual.css.tokenizer import Token

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


@pytest.fixture(autouse=True)
def nothing_rests(monkeypatch: pytest.MonkeyPatch) -> None:
    """The pilot asks the event loop whether all is done, and the screens do not let the cursor rest."""
    for name in ("app.wait_for_idle", "pilot.wait_for_idle", "pilot.Pilot._wait_for_screen"):
        monkeypatch.setattr(f"textual.{name}", quiet)
    monkeypatch.setattr("textual.screen.Screen._compositor_refresh", paint_later)
    monkeypatch.setattr("textual.notifications.Notification.time_left", 86_400.0)  # a note stays until a test reads it
    for name in RESTS:
        monkeypatch.setattr(f"workbench.tui.{name}", 0.001)
