"""Keys in the system's keyring: read through the real package, from a keyring of the test's own."""

from __future__ import annotations

import asyncio
import json
import sys
from collections.abc import Iterator
from typing import Any

import pytest

from tests.commands import cwb
from tests.summarizers.fake_api import KEY, FakeApi, answer, document, error
from tests.summarizers.live_calls import ask, request
from workbench.base import paths
from workbench.base.errors import BadInput
from workbench.compaction.summary_request import Summary, SummaryFailed
from workbench.summarizers.connections import SERVICE, connection_named, key_of

keyring = pytest.importorskip("keyring", reason="keyring is not installed")
backend = pytest.importorskip("keyring.backend")

NAMES = {"messages": "local", "chat": "there", "responses": "yonder"}


class Holding(backend.KeyringBackend):  # type: ignore[misc, name-defined]
    """A keyring that holds keys by service and user, or is locked."""

    priority = 1

    def __init__(self, *, locked: bool = False) -> None:
        super().__init__()
        self.held: dict[tuple[str, str], str] = {}
        self.locked = locked

    def get_password(self, service: str, username: str) -> str | None:
        if self.locked:
            raise keyring.errors.KeyringLocked("the collection is locked")
        return self.held.get((service, username))

    def set_password(self, service: str, username: str, password: str) -> None:
        self.held[service, username] = password


@pytest.fixture
def ring() -> Iterator[Holding]:
    holding = Holding()
    keyring.set_keyring(holding)
    yield holding
    keyring.set_keyring(Holding())


def settings(url: str) -> None:
    paths.settings().parent.mkdir(parents=True, exist_ok=True)
    tables = (
        f'[connections.{name}]\nprotocol = "{protocol}"\nbase_url = "{url}"\nkeyring = true\nkey_env = "LOCAL_KEY"\n'
        for protocol, name in NAMES.items()
    )
    paths.settings().write_text("".join(tables))


@pytest.mark.parametrize("protocol", NAMES)
async def test_a_key_in_the_keyring_is_sent_and_never_told(
    protocol: str, api: FakeApi, ring: Holding, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Under the service of the workbench and the connection's name; what stands in the environment is none."""
    settings(api.url if protocol == "messages" else f"{api.url}/v1")
    for name in ("LOCAL_KEY", "ANTHROPIC_API_KEY"):
        monkeypatch.setenv(name, "sk-of-the-environment")
    keyring.set_password("compaction-workbench", NAMES[protocol], "sk-of-the-keyring-1")
    api.replies = [answer("whole"), error(401, "authentication_error", "no such key: sk-of-the-keyring-1")]
    got, _ = await ask(request(), connection=connection_named(NAMES[protocol]))
    assert isinstance(got, Summary)
    sent = api.received[0].headers
    assert [value for name, value in sent.items() if "sk-of" in value] in (
        ["sk-of-the-keyring-1"],
        ["Bearer sk-of-the-keyring-1"],
    )
    got, _ = await ask(request(), connection=connection_named(NAMES[protocol]))
    assert isinstance(got, SummaryFailed)
    assert f"check the keyring (service compaction-workbench, user {NAMES[protocol]})" in got.detail
    assert "sk-of" not in got.detail


@pytest.mark.usefixtures("ring")
async def test_a_command_asks_with_it(api: FakeApi) -> None:
    settings(f"{api.url}/v1")
    keyring.set_password(SERVICE, "there", KEY)
    api.replies = [document({"object": "list", "data": [{"id": "qwen3", "object": "model", "created": 1}]})]
    run = await asyncio.to_thread(cwb, "list", "models", "--connection", "there", "--refresh", "--json")
    assert run.exit_code == 0, run.output
    assert api.received[0].headers["authorization"] == f"Bearer {KEY}"
    found: dict[str, Any] = json.loads(run.stdout)
    assert (found["connection"], [one["id"] for one in found["models"]]) == ("there", ["qwen3"])
    assert KEY not in run.output
    table = (await asyncio.to_thread(cwb, "list", "models", "--connection", "there")).stdout.splitlines()
    rows = [line.split() for line in table]
    assert ["there", "chat", f"{api.url}/v1", "in", "the", "keyring"] in rows
    assert "qwen3" in [row[-1] for row in rows if row]
    assert len(api.received) == 1  # the list is kept


def test_a_keyring_without_the_key_says_how_it_is_put_there(ring: Holding) -> None:
    settings("http://box")
    with pytest.raises(BadInput) as caught:
        key_of(connection_named("there"))
    assert str(caught.value) == (
        "There is no key for http://box in the keyring; `keyring set compaction-workbench there` puts one there."
    )
    ring.held[SERVICE, "local"] = KEY  # another connection's
    with pytest.raises(BadInput, match="There is no key for http://box in the keyring"):
        key_of(connection_named("there"))


def test_a_keyring_that_is_locked_is_told(ring: Holding) -> None:
    settings("http://box")
    ring.locked = True
    with pytest.raises(BadInput) as caught:
        key_of(connection_named("there"))
    assert str(caught.value) == "The keyring cannot be read: KeyringLocked: the collection is locked."


def test_without_the_package_its_extra_is_named(monkeypatch: pytest.MonkeyPatch) -> None:
    settings("http://box")
    monkeypatch.setitem(sys.modules, "keyring", None)  # what Python takes for a package that is not there
    with pytest.raises(BadInput) as caught:
        key_of(connection_named("there"))
    assert str(caught.value) == "The keyring needs a package; pip install 'compaction-workbench[keyring]'."
