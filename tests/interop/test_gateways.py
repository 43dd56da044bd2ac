"""What is known of gateways before any is started."""

from __future__ import annotations

from pathlib import Path

import pytest

from interop.gateways import GATEWAYS, KEY, THROUGH, Gateway


@pytest.mark.parametrize("gateway", GATEWAYS.values(), ids=GATEWAYS)
def test_a_gateway_is_led_to_the_server_behind_it_and_opened_by_a_key(gateway: Gateway) -> None:
    written = "".join(gateway.settings(4321, "http://127.0.0.1:9").values())
    assert "http://127.0.0.1:9/v1" in written
    assert KEY in written
    assert "4321" in written + " ".join(gateway.command(4321, Path("/home")))
    assert set(gateway.cases) == set(gateway.paths)
    assert all(any(THROUGH in case.model for case in cases) for cases in gateway.cases.values())
