"""Connections to models' servers by name: built-in ones and those in the user's settings.

A connection has a protocol, an address, and the place of its key: an environment variable or the system's keyring,
never a file. `[connections.NAME]` in the settings adds one, or changes fields of an existing one.
"""

from __future__ import annotations

import os
import re
from collections.abc import Mapping
from pathlib import Path
from typing import Any, Literal
from urllib.parse import urlsplit

from pydantic import BaseModel, ConfigDict, Field, PositiveFloat, PositiveInt, ValidationError, field_validator

from workbench.base import paths
from workbench.base.errors import BadInput
from workbench.base.user_settings import read_toml

Protocol = Literal["messages", "chat", "responses"]
"""Anthropic's Messages, OpenAI's Chat Completions, OpenAI's Responses."""

SERVICE = "compaction-workbench"
"""Service name of keys in the system's keyring; the user name is the connection's name."""

RESERVED_NAMES = frozenset(
    ["extractive", "estimate", "typed", "server", "recorded", "recording", "rehearse", "command"]
)
"""Names of other summarizers, which a connection cannot have."""

_NAME = re.compile(r"[A-Za-z][\w.-]*")
_KEY_HEADERS = frozenset(["authorization", "x-api-key", "api-key", "x-goog-api-key", "cookie", "proxy-authorization"])


class Connection(BaseModel):
    """A server with its time limits. An empty `base_url` is the client's own, which its environment may change.
    `key_env` names the variable with the key, "" for a server without keys; with `keyring` the key is in the system's
    keyring. Times in seconds; `max_output` limits one answer, in tokens."""

    model_config = ConfigDict(frozen=True, extra="forbid")

    name: str
    protocol: Protocol
    base_url: str = ""
    key_env: str = ""
    keyring: bool = False
    headers: dict[str, str] = Field(default_factory=dict)
    timeout: PositiveFloat = 600.0
    first_token: PositiveFloat = 180.0
    stall: PositiveFloat = 60.0
    tries: PositiveInt = 5
    max_output: PositiveInt = 8_000

    @field_validator("base_url")
    @classmethod
    def _has_no_password(cls, url: str) -> str:
        if url and not is_address(url):
            raise ValueError(BAD_ADDRESS)
        if urlsplit(url).password:
            raise ValueError("holds a password, which must not be in this file; use key_env")
        return url

    @field_validator("headers")
    @classmethod
    def _hold_no_key(cls, headers: dict[str, str]) -> dict[str, str]:
        if keys := [name for name in headers if name.lower() in _KEY_HEADERS]:
            raise ValueError(f"hold a key ({keys[0]}), which must not be in this file; use key_env")
        return headers

    @property
    def url(self) -> str:
        """Address that the client uses."""
        return self.base_url or _usual_address(self.protocol)

    @property
    def own(self) -> bool:
        """True if the client finds server and key itself, as its documentation says."""
        return not self.base_url

    @property
    def address(self) -> str:
        """Address to display, without a password; "no address (…)" if it cannot be parsed, because it may hold a
        password."""
        url = self.url
        if not is_address(url):
            return f"no address ({self.address_source})"
        parts = urlsplit(url)
        return f"{parts.scheme}://{parts.netloc.rpartition('@')[2]}{parts.path}".rstrip("/")

    @property
    def address_source(self) -> str:
        """Setting to check if the address is wrong."""
        return f"base_url of [connections.{self.name}]" if self.base_url else f"{_prefix(self.protocol)}_BASE_URL"

    @property
    def key_source(self) -> str:
        """Setting to check if the key is wrong or missing."""
        if self.keyring:
            return f"the keyring (service {SERVICE}, user {self.name})"
        if self.own and self.protocol == "messages":
            return "ANTHROPIC_API_KEY or the client's sign-in"
        return self.key_env or f"key_env of [connections.{self.name}]"


BAD_ADDRESS = "is no address; write http:// or https://, a host, and a port where it has one"


def is_address(url: str) -> bool:
    """Return whether `url` is an HTTP address with a host and a numeric port."""
    try:
        parts = urlsplit(url)
        return parts.scheme in ("http", "https") and bool(parts.hostname) and parts.port != 0
    except ValueError:  # invalid port or IPv6 host
        return False


def _prefix(protocol: Protocol) -> str:
    return "ANTHROPIC" if protocol == "messages" else "OPENAI"


def _usual_address(protocol: Protocol) -> str:
    usual = "https://api.anthropic.com" if protocol == "messages" else "https://api.openai.com/v1"
    return os.environ.get(f"{_prefix(protocol)}_BASE_URL") or usual


DEFAULT = "anthropic"

BUILT_IN: dict[str, dict[str, Any]] = {
    DEFAULT: {"protocol": "messages", "key_env": "ANTHROPIC_API_KEY"},
    "openai": {"protocol": "responses", "key_env": "OPENAI_API_KEY"},
    "openrouter": {"protocol": "chat", "base_url": "https://openrouter.ai/api/v1", "key_env": "OPENROUTER_API_KEY"},
    "gemini": {
        "protocol": "chat",
        "base_url": "https://generativelanguage.googleapis.com/v1beta/openai",
        "key_env": "GEMINI_API_KEY",
    },
    "ollama": {"protocol": "chat", "base_url": "http://127.0.0.1:11434/v1"},
    "lmstudio": {"protocol": "chat", "base_url": "http://127.0.0.1:1234/v1"},
    "vllm": {"protocol": "chat", "base_url": "http://127.0.0.1:8000/v1"},
    "llamacpp": {"protocol": "chat", "base_url": "http://127.0.0.1:8080/v1"},
    "litellm": {"protocol": "chat", "base_url": "http://127.0.0.1:4000/v1"},
}
"""Servers at the addresses in their documentation."""


def connections() -> dict[str, Connection]:
    """Return all connections by name: built-in ones with the user's changes, then the user's own. Raises BadInput with
    file and field."""
    path = paths.settings()
    own = _own_tables(path)
    found: dict[str, Connection] = {}
    for name in (*BUILT_IN, *(name for name in own if name not in BUILT_IN)):
        fields = own.get(name, {})
        if not isinstance(fields, dict) or name in RESERVED_NAMES or not _NAME.fullmatch(name):
            raise BadInput(f"{path}: [connections.{name}] is not a connection; use another name, with fields below it.")
        if wrong := sorted(fields.keys() & {"key", "api_key", "token"}):
            raise BadInput(
                f"{path}: [connections.{name}]: {wrong[0]}: a key must not be in this file; name the variable "
                "that holds it in key_env, or set keyring = true."
            )
        try:
            found[name] = Connection(**{"name": name, **BUILT_IN.get(name, {}), **fields})
        except ValidationError as error:
            first = error.errors()[0]
            field = ".".join(map(str, first["loc"])) or "fields"
            why = first["msg"].removeprefix("Value error, ")
            raise BadInput(f"{path}: [connections.{name}]: {field}: {why}.") from None
        if not found[name].base_url and name not in BUILT_IN:
            raise BadInput(f'{path}: [connections.{name}] has no base_url; write base_url = "http://…".')
    return found


def configured_connections() -> tuple[Connection, ...]:
    """Return the connections that the user has configured: Anthropic's, those in the settings, and those with a key in
    the environment. Raises BadInput."""
    own = _own_tables(paths.settings())
    return tuple(
        one
        for one in connections().values()
        if one.name == DEFAULT or one.name in own or (one.key_env and os.environ.get(one.key_env))
    )


def connection_named(name: str) -> Connection:
    """Return a connection. Raises BadInput with the available names."""
    available = connections()
    if name not in available:
        raise BadInput(
            f"There is no connection {name!r}; there are {', '.join(available)}, and [connections.NAME] in "
            f"{paths.settings()} adds one."
        )
    return available[name]


def _own_tables(path: Path) -> dict[str, Any]:
    tables = read_toml(path).get("connections", {})
    if not isinstance(tables, dict):
        raise BadInput(f"{path}: connections = {tables!r} is no table; write [connections.NAME].")
    return tables


def key_of(connection: Connection) -> str:
    """Return the key, or "" for a server without keys. Raises BadInput if a required key is missing."""
    if connection.keyring:
        key = _in_keyring(connection)
    elif connection.key_env:
        key = os.environ.get(connection.key_env, "")
    else:
        return ""
    if not key.strip():
        raise BadInput(missing_key(connection))
    return key


def headers_in(variable: str) -> dict[str, str]:
    """Return the headers that a client sends because of an environment variable with lines `name: value`."""
    lines = os.environ.get(variable, "").splitlines()
    return {name.strip(): value.strip() for name, colon, value in (line.partition(":") for line in lines) if colon}


def secrets_in(headers: Mapping[str, str]) -> tuple[str, ...]:
    """Return the values that are long enough to be secrets."""
    return tuple(value for value in headers.values() if len(value) >= SHORTEST_SECRET)


SHORTEST_SECRET = 8


def missing_key(connection: Connection) -> str:
    """Return the message for a missing key."""
    if connection.keyring:
        return (
            f"There is no key for {connection.address} in the keyring; `keyring set {SERVICE} {connection.name}` puts "
            "one there."
        )
    if connection.own and connection.protocol == "messages":
        return (
            "There is no key for the Anthropic API; set ANTHROPIC_API_KEY (or sign in with the client's own "
            "configuration; for a local server without keys any word will do) and try again."
        )
    return f"There is no key for {connection.address}; set {connection.key_env} and try again."


def _in_keyring(connection: Connection) -> str:
    try:
        import keyring
    except ImportError:
        raise BadInput("The keyring needs a package; pip install 'compaction-workbench[keyring]'.") from None
    try:
        return keyring.get_password(SERVICE, connection.name) or ""
    except Exception as error:
        # A locked or missing keyring raises errors of its own.
        raise BadInput(f"The keyring cannot be read: {type(error).__name__}: {error}.") from None
