"""Connections by name: the built-in ones, what settings add and change, and where keys are found."""

from __future__ import annotations

import pytest

from workbench.base import paths
from workbench.base.errors import BadInput
from workbench.summarizers.by_name import SummarizerName, parse_model, parse_name
from workbench.summarizers.call_limits import CallLimits, limits_of
from workbench.summarizers.connections import BUILT_IN, configured_connections, connection_named, connections, key_of

LOCAL = '[connections.local]\nprotocol = "chat"\nbase_url = "http://127.0.0.1:9/v1"\n'


def settings(text: str) -> None:
    paths.settings().parent.mkdir(parents=True, exist_ok=True)
    paths.settings().write_text(text)


def test_settings_add_connections_and_change_them_field_by_field() -> None:
    assert list(connections()) == list(BUILT_IN)
    settings(
        LOCAL + 'key_env = "MINE"\n[connections.anthropic]\ntimeout = 900\nfirst_token = 300\nmax_output = 16000\n'
    )
    assert list(connections()) == [*BUILT_IN, "local"]
    usual = connection_named("anthropic")
    assert (usual.protocol, usual.key_env, usual.own) == ("messages", "ANTHROPIC_API_KEY", True)
    assert limits_of(usual) == CallLimits(whole_s=900, first_token_s=300, max_output=16_000)
    assert [one.name for one in configured_connections()] == ["anthropic", "local"]


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("[connections.local]\n", "[connections.local]: protocol: Field required"),
        (
            '[connections.local]\nprotocol = "chat"\n',
            '[connections.local] has no base_url; write base_url = "http://…"',
        ),
        (LOCAL + 'api_key = "x"\n', "api_key: a key must not be in this file; name the variable"),
        (LOCAL + 'headers = { Authorization = "x" }\n', "headers: hold a key (Authorization), which must not be"),
        (LOCAL + 'colour = "red"\n', "[connections.local]: colour: Extra inputs are not permitted"),
        (LOCAL + "timeout = 0\n", "[connections.local]: timeout: Input should be greater than 0"),
        ('[connections.anthropic]\nbase_url = "http://me:pw@box"\n', "base_url: holds a password, which must not"),
        ('[connections.anthropic]\nbase_url = "box:80"\n', "base_url: is no address; write http:// or https://"),
        ('[connections.typed]\nprotocol = "chat"\n', "[connections.typed] is not a connection; use another name"),
        ("connections = 3\n", "connections = 3 is no table"),
        ("[connections\n", "is not valid TOML"),
    ],
)
def test_broken_settings_are_told_with_file_and_field(text: str, words: str) -> None:
    settings(text)
    with pytest.raises(BadInput) as caught:
        connections()
    assert str(paths.settings()) in str(caught.value)
    assert words in str(caught.value)


def test_a_model_is_named_with_its_connection() -> None:
    settings(LOCAL)
    assert parse_model("claude-opus-4-5") == SummarizerName("anthropic", "claude-opus-4-5")
    assert (
        parse_model("local/qwen/qwen3:8b")
        == parse_name("local:qwen/qwen3:8b")
        == SummarizerName("local", "qwen/qwen3:8b")
    )
    assert parse_model("openai/gpt-5") == SummarizerName("openai", "gpt-5")
    assert parse_model("nobody/gpt-5") == SummarizerName("anthropic", "nobody/gpt-5"), "models have slashes, too"
    assert [name.with_connection for name in (parse_model("claude-opus-4-5"), parse_model("local/m"))] == [
        "claude-opus-4-5",
        "local/m",
    ]
    assert (parse_name("local:m").model, parse_name("local:m").has_run_record) == ("m", True)
    with pytest.raises(BadInput, match=r"a connection of anthropic, .*, local"):
        parse_name("nobody:m")
    with pytest.raises(BadInput, match="There is no connection 'gone'"):
        _ = SummarizerName("gone", "m").connection


def test_an_address_is_shown_without_what_is_secret(monkeypatch: pytest.MonkeyPatch) -> None:
    assert connection_named("openai").address == "https://api.openai.com/v1"
    monkeypatch.setenv("ANTHROPIC_BASE_URL", "http://me:hunter2@box:81/base/?k=hunter2")
    assert connection_named("anthropic").address == "http://box:81/base"


def test_keys_are_in_the_environment_or_the_keyring(monkeypatch: pytest.MonkeyPatch) -> None:
    settings(LOCAL + '[connections.paid]\nprotocol = "chat"\nbase_url = "https://box"\nkey_env = "MINE"\n')
    assert key_of(connection_named("local")) == ""
    with pytest.raises(BadInput, match=r"There is no key for https://box; set MINE"):
        key_of(connection_named("paid"))
    monkeypatch.setenv("MINE", "abc")
    assert key_of(connection_named("paid")) == "abc"
