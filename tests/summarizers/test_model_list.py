"""The list of models: from the server, kept for a day, and useful without a server."""

from __future__ import annotations

import os
from typing import Any

import pytest

from tests.summarizers.fake_api import KEY, FakeApi, Reply, document, error
from workbench.base.errors import BadInput
from workbench.summarizers import model_list
from workbench.summarizers.model_list import (
    FRESH_S,
    ModelList,
    OfferedModel,
    cache_path,
    cached_models,
    fetch_models,
    model_choices,
)


def listed(*models: dict[str, Any]) -> Reply:
    page = {"data": list(models), "has_more": False, "first_id": None, "last_id": None}
    return document(page)


def model(id: str, **figures: Any) -> dict[str, Any]:
    return {"type": "model", "id": id, "display_name": id.title(), "created_at": "2026-01-01T00:00:00Z", **figures}


async def test_windows_come_from_the_server_else_from_the_table(api: FakeApi) -> None:
    told = model("claude-next", max_input_tokens=2_000_000, max_tokens=99_000)
    api.replies = [listed(told, model("claude-opus-4-5-20251101"), model("qwen-local"))]
    got = await fetch_models()
    assert api.received[0].path == "/v1/models?limit=1000"
    assert got.models == (
        OfferedModel(id="claude-next", title="Claude-Next", window=2_000_000, max_output=99_000),
        OfferedModel(
            id="claude-opus-4-5-20251101", title="Claude-Opus-4-5-20251101", window=200_000, max_output=64_000
        ),
        OfferedModel(id="qwen-local", title="Qwen-Local"),
    )
    assert cached_models() == got


async def test_a_fresh_list_needs_no_server(api: FakeApi) -> None:
    api.replies = [listed(model("claude-next"))]
    first, second = await model_choices(), await model_choices()
    assert first.models == second.models
    assert len(api.received) == 1
    assert second.age_s is not None


async def test_an_old_list_serves_when_the_server_does_not(api: FakeApi) -> None:
    api.replies = [listed(model("claude-next")), error(401, "authentication_error", f"bad {KEY}")]
    old = await fetch_models()
    stale = ModelList(time=old.time - FRESH_S - 1, models=old.models)
    cache_path().write_text(stale.model_dump_json())
    got = await model_choices()
    assert got.models == old.models
    assert got.age_s is not None
    assert got.age_s > FRESH_S
    assert "check ANTHROPIC_API_KEY" in got.trouble
    assert KEY not in got.trouble


async def test_without_key_and_list_there_is_a_reason(api: FakeApi, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("ANTHROPIC_API_KEY")
    got = await model_choices()
    with pytest.raises(BadInput, match="ANTHROPIC_API_KEY"):
        await fetch_models()
    assert (got.models, got.age_s) == ((), None)
    assert "set ANTHROPIC_API_KEY" in got.trouble


async def test_a_damaged_list_is_fetched_again(api: FakeApi) -> None:
    api.replies = [listed(model("claude-next"))]
    cache_path().parent.mkdir(parents=True)
    cache_path().write_bytes(b'{"time": 1, "models": [')
    assert cached_models() is None
    got = await model_choices()
    assert [offered.id for offered in got.models] == ["claude-next"]


async def test_every_server_has_its_own_list_and_its_address_is_not_told(monkeypatch: pytest.MonkeyPatch) -> None:
    here = cache_path()
    monkeypatch.setenv("ANTHROPIC_BASE_URL", "http://me:hunter2@localhost:1")
    assert cache_path() != here
    assert "hunter2" not in os.fspath(cache_path())


@pytest.mark.parametrize(("figure", "window"), [(1, 1), (10**8, 10**8), (10**8 + 1, None), (-1, None)])
async def test_f4_a_window_that_no_model_has_is_left_out(figure: int, window: int | None, api: FakeApi) -> None:
    api.replies = [listed(model("qwen-local", max_input_tokens=figure))]
    (got,) = (await fetch_models()).models
    assert got.window == window


@pytest.mark.parametrize("pages", [2, 3])
async def test_f18_a_list_without_an_end_is_refused(pages: int, api: FakeApi, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(model_list, "MOST_MODELS", 2)
    more = [{"data": [model(f"m{n}")], "has_more": True, "first_id": f"m{n}", "last_id": f"m{n}"} for n in range(9)]
    api.replies = [*map(document, more[: pages - 1]), listed(model("last"))]
    if pages == 2:
        assert len((await fetch_models()).models) == 2
    else:
        with pytest.raises(BadInput, match="sends a list of more than 2 models; stopped reading; check"):
            await fetch_models()
