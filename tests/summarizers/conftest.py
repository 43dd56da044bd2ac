"""The server on loopback that tests of live calls talk to."""

from __future__ import annotations

from collections.abc import AsyncIterator

import pytest

from tests.summarizers.fake_api import FakeApi, fake_api
from tests.summarizers.live_calls import client_talks_to


@pytest.fixture
async def api(monkeypatch: pytest.MonkeyPatch) -> AsyncIterator[FakeApi]:
    """It answers with its `replies`, in order; the client finds it and its key in the environment."""
    async with fake_api() as server:
        client_talks_to(server, monkeypatch)
        yield server
