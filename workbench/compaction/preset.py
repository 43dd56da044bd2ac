"""Presets: a strategy with settings and a prompt, named after the product or paper that it reproduces.

A preset is a TOML file: `strategy`, `about`, `source` (where the numbers come from), `[policy]` with settings, and
`[basis]` that marks a setting as `documented` or `assumed`. A value `{ prompt = "file" }` takes the text of a file in
`prompts/`. `[product]` has facts about the product, if known: `cache` (the prompt cache influences when it compacts)
and `default_on` (it compacts without setup). Each `[[earlier]]` has the settings that versions before `before` had, as
another `policy`.
"""

from __future__ import annotations

import re
import tomllib
from collections.abc import Iterable, Mapping
from contextlib import suppress
from dataclasses import dataclass, field, replace
from datetime import date, datetime
from pathlib import Path
from typing import Any

import tomlkit
from msgspec import Struct
from pydantic import BaseModel, ValidationError
from tomlkit.items import String

from workbench.base import paths
from workbench.base.errors import BadInput
from workbench.base.files import make_folder, write_atomically
from workbench.base.stamps import utc_datetime
from workbench.compaction.environment import variables_of
from workbench.compaction.policy import Policy, explain
from workbench.compaction.prompts import adopted_name, has_adopted, load_prompt
from workbench.compaction.settings import Setting, settings_of, with_settings
from workbench.compaction.strategies import all_strategies, strategy, strategy_ids
from workbench.formats.registry import by_id
from workbench.session import Session

BUNDLED = Path(__file__).resolve().parent / "presets"


class Earlier(Struct, frozen=True):
    """Settings of a product before the version `before`, or, if its sessions do not name their version, before the day
    on which that version was released."""

    before: str | date
    policy: Mapping[str, Any]

    def holds(self, version: str, day: date | None) -> bool:
        """True if the settings apply to a session of this version, begun on this day: it was written by a version
        before `before`."""
        if isinstance(self.before, date):
            return not version and day is not None and day < self.before
        return version != "" and _version_numbers(version) < _version_numbers(self.before)


@dataclass(frozen=True, slots=True)
class Preset:
    """A strategy with settings under a name. `basis`: by setting `documented` or `assumed`. `product`: facts about the
    product."""

    id: str
    strategy: str
    about: str
    source: str
    policy: Policy
    basis: Mapping[str, str] = field(default_factory=dict)
    product: Mapping[str, bool] = field(default_factory=dict)
    sources: Mapping[str, str] = field(default_factory=dict)
    """Source of each setting's value, by key: `preset`, `adopted` (from the product), the name of an environment
    variable, or how it was set by hand. Other settings have the strategy's default."""

    earlier: tuple[Earlier, ...] = ()
    version: str = ""
    """Version of the product that the settings are from, or a day if it is not named; "" for the newest known."""

    @property
    def name(self) -> str:
        """Id, or the strategy's id without one, and the version if it is an earlier one."""
        return (self.id or self.strategy) + (f" as of {self.version}" if self.version else "")

    def of_version(self, version: str, day: date | None = None) -> Preset:
        """Preset with the settings of that version, or of that day, except settings made by hand; unchanged if nothing
        is known. Only the numbers in `version` are used."""
        version = found[0] if (found := _VERSION.search(version)) else ""
        changes: dict[str, Any] = {}
        for one in self.earlier:
            if one.holds(version, day):
                changes |= {key: value for key, value in one.policy.items() if self.sources.get(key) == "preset"}
        then = version or str(day)
        return replace(self, policy=self.policy.with_(**changes), version=then) if changes else self

    def source_of(self, setting: Setting) -> str:
        """Source of a setting's value; `the prompt` for a value derived from the prompt, such as the language."""
        unsaid = "default" if setting.of(self.policy) == setting.default else "the prompt"
        return self.sources.get(setting.key, unsaid)

    @property
    def changed_sources(self) -> dict[str, str]:
        """Source by key of every setting that differs from its default."""
        found = {one.key: self.source_of(one) for one in settings_of(type(self.policy))}
        return {key: source for key, source in found.items() if source != "default"}

    def with_values(self, policy: Policy, source: Mapping[str, str]) -> Preset:
        """Copy with another policy. `source`: sources of the changed settings, which lose their basis."""
        fields = {key.partition(".")[0] for key in source}
        basis = {name: word for name, word in self.basis.items() if name not in fields}
        return replace(self, policy=policy, basis=basis, sources={**self.sources, **source})


_VERSION = re.compile(r"\d{1,9}(?:\.\d{1,9}){0,3}", re.ASCII)


def _version_numbers(version: str) -> tuple[int, ...]:
    """Version such as `2.1.80` as comparable numbers."""
    return tuple(map(int, version.split(".")))


def preset_names() -> tuple[str, ...]:
    """Ids of all presets, bundled ones first; a user's preset replaces a bundled one of the same name."""
    bundled = sorted(path.stem for path in BUNDLED.glob("*.toml"))
    own = sorted(path.stem for path in paths.presets().glob("*.toml"))
    return (*bundled, *(name for name in own if name not in bundled))


def load_preset(name: str) -> Preset:
    """Load a preset by id, the user's own before the bundled one, with current prompts and environment variables
    applied. A strategy without a preset gives its default settings.

    Raises BadInput with the known ids, and for an invalid variable.
    """
    return _with_environment(_preset(name))


def _preset(name: str) -> Preset:
    if file := _file_of(name):
        return read_preset(file)
    if name in strategy_ids() and not (one := strategy(name)).default_preset:
        return Preset(one.id, one.id, one.about, "", one.policy_type())
    raise BadInput(f"Preset {name!r} does not exist; choose one of: {', '.join(preset_names())}.")


def _file_of(name: str) -> Path | None:
    files = (folder / f"{name}.toml" for folder in (paths.presets(), BUNDLED))
    return next((file for file in files if file.is_file()), None)


def has_prompt(name: str) -> bool:
    """True if a preset names a prompt file, which an adopted prompt of its product may replace. Raises BadInput for an
    unknown preset."""
    load_preset(name)
    file = _file_of(name)
    policy = tomllib.loads(file.read_text("utf-8")).get("policy", {}) if file else {}
    return _is_prompt_reference(policy.get("prompt"))


def default_preset(strategy_id: str) -> Preset:
    """Preset that a strategy opens with: the one that it names, else the one named like it."""
    one = strategy(strategy_id)
    return load_preset(one.default_preset or one.id)


def candidates(strategies: Iterable[str] = (), presets: Iterable[str] = ()) -> tuple[Preset, ...]:
    """Return the presets named, then the default preset of each strategy named. Without any name: the default preset of
    every strategy.

    Raises BadInput for a name that does not exist.
    """
    found = [load_preset(name) for name in presets] + [default_preset(name) for name in strategies]
    return tuple(found or (default_preset(one.id) for one in all_strategies()))


def _with_environment(preset: Preset) -> Preset:
    found = variables_of(preset.strategy, type(preset.policy))
    if not found:
        return preset
    try:
        policy = with_settings(preset.policy, {key: one.value for key, one in found.items()})
    except ValidationError as error:
        wrong = found.get(".".join(map(str, error.errors()[0]["loc"])))
        names = wrong.name if wrong else ", ".join(one.name for one in found.values())
        raise BadInput(f"The variable {names} has an invalid value: {explain(error)}") from None
    return preset.with_values(policy, {key: one.name for key, one in found.items()})


def read_preset(path: Path) -> Preset:
    """Preset from a file. Raises BadInput with file, line if known, setting and allowed values."""
    try:
        table = tomllib.loads(path.read_text("utf-8"))
    except (OSError, UnicodeDecodeError, tomllib.TOMLDecodeError) as error:
        raise BadInput(f"{path}: not valid TOML ({error}); correct it there.") from None
    unknown = sorted(set(table) - {"strategy", "about", "source", "policy", "basis", "product", "earlier"})
    if unknown or not isinstance(table.get("strategy"), str):
        wrong = f"unknown key {unknown[0]!r}" if unknown else "no 'strategy'"
        known = "strategy, about, source, [policy], [basis], [product], [[earlier]]"
        raise BadInput(f"{path}: {wrong}; allowed keys: {known}.")
    for name in ("policy", "basis", "product"):
        if not isinstance(table.get(name, {}), dict):
            raise BadInput(f"{path}: {name} = {table[name]!r} must be a table; begin it with [{name}].")
    chosen = strategy(table["strategy"])
    values = dict(table.get("policy", {}))
    adopted = _is_prompt_reference(values.get("prompt")) and has_adopted(path.stem)
    if adopted:
        values["prompt"] = {"prompt": adopted_name(path.stem)}
    values = {name: _value_with_prompt(path, name, value) for name, value in values.items()}
    basis = _with_current_names(chosen.policy_type, table.get("basis", {}))
    for name, word in basis.items():
        if word not in ("documented", "assumed") or name not in chosen.policy_type.model_fields:
            raise BadInput(
                f"{path}: basis.{name} = {word!r} is invalid; use a setting of {chosen.id} and documented or assumed."
            )
    product = table.get("product", {})
    for name, known in product.items():
        if name not in ("cache", "default_on") or not isinstance(known, bool):
            raise BadInput(f"{path}: product.{name} = {known!r} is invalid; set cache and default_on to true or false.")
    earlier = table.get("earlier", [])
    if not isinstance(earlier, list) or not all(map(_is_earlier, earlier)):
        raise BadInput(f"{path}: every [[earlier]] needs before (a version or a day) and a table policy.")
    try:
        policy = chosen.policy_type.model_validate(values)
        for one in earlier:
            policy.with_(**one["policy"])
    except ValidationError as error:
        raise BadInput(f"{path}: {explain(error, 'policy')}") from None
    today = {chosen.policy_type.today(name).name: value for name, value in values.items()}
    sources = {one.key: "preset" for one in settings_of(chosen.policy_type) if one.is_in(today)}
    if adopted:
        sources, basis = {**sources, "prompt": "adopted"}, {**basis, "prompt": "documented"}
    about, source = table.get("about", ""), table.get("source", "")
    past = tuple(Earlier(one["before"], one["policy"]) for one in earlier)
    return Preset(path.stem, chosen.id, about, source, policy, basis, product, sources, past)


def _is_earlier(one: Any) -> bool:
    """True if a table has the keys of `[[earlier]]`."""
    if not isinstance(one, dict) or one.keys() != {"before", "policy"}:
        return False
    dated = isinstance(one["before"], date) and not isinstance(one["before"], datetime)
    return (isinstance(one["before"], str) or dated) and isinstance(one["policy"], dict)


def _is_prompt_reference(value: Any) -> bool:
    """True if a value names a prompt file."""
    return isinstance(value, dict) and set(value) == {"prompt"}


def _with_current_names(policy: type[Policy], basis: Mapping[str, str]) -> dict[str, str]:
    """Basis by current setting names. A setting that no longer exists has no basis."""
    return {today: word for name, word in basis.items() if (today := policy.today(name).name)}


def _value_with_prompt(path: Path, name: str, value: Any) -> Any:
    if _is_prompt_reference(value):
        try:
            return load_prompt(value["prompt"]).text
        except BadInput as error:
            raise BadInput(f"{path}: policy.{name}: {error}") from None
    return value


def preset_toml(preset: Preset) -> str:
    """TOML text of a preset; `read_preset` reads it back to the same policy.

    Settings with the strategy's default are omitted; multi-line strings are used where they lose nothing. Raises
    BadInput for a text that TOML cannot hold (a lone surrogate).
    """
    document = tomlkit.document()
    document["strategy"] = preset.strategy
    for name, text in (("about", preset.about), ("source", preset.source)):
        if text:
            document[name] = _toml_text(text)
    values = _values_to_write(preset.policy, type(preset.policy)())
    policy = tomlkit.table()
    for name, value in values.items():
        policy[name] = (
            _inline_table(value) if isinstance(value, dict) else _toml_text(value) if isinstance(value, str) else value
        )
    document["policy"] = policy
    basis = {name: word for name, word in preset.basis.items() if name in values}
    if basis:
        document["basis"] = basis
    text = tomlkit.dumps(document)
    try:
        text.encode()
    except UnicodeEncodeError as error:
        place = text[max(0, error.start - 20) : error.start]
        raise BadInput(f"After {place!r} comes half of a character, which cannot be saved; remove it.") from None
    return text


def _values_to_write(policy: BaseModel, default: BaseModel) -> dict[str, Any]:
    """Values that recreate the policy: those that differ from the default, and those that would otherwise be derived
    differently (a language, from a prompt)."""
    values, own = policy.model_dump(), default.model_dump()
    changed = {name: value for name, value in values.items() if value != own[name] and value is not None}
    read = type(policy).model_validate(changed).model_dump()
    return {name: value for name, value in values.items() if name in changed or value != read[name]}


def _inline_table(values: Mapping[str, Any]) -> Any:
    table = tomlkit.inline_table()
    table.update(values)
    return table


def _toml_text(text: str) -> String:
    """TOML string; multi-line if that reads back to the same text."""
    if "\n" in text:
        lines = tomlkit.string(text, multiline=True)
        try:
            if tomllib.loads(f"text = {lines.as_string()}")["text"] == text:
                return lines
        except tomllib.TOMLDecodeError:
            pass
    return tomlkit.string(text)


_NAME = re.compile(r"[A-Za-z0-9][A-Za-z0-9._-]{0,63}")


def preset_path(name: str) -> Path:
    """Path of a user's preset. Raises BadInput for a name that cannot be a file name."""
    if not _NAME.fullmatch(name):
        raise BadInput(f"{name!r} is not a valid preset name: use at most 64 letters, digits, '-', '_' and '.'.")
    return paths.presets() / f"{name}.toml"


def save_preset(preset: Preset) -> Path:
    """Write a user's preset atomically; one of the same name is replaced. Raises BadInput."""
    path, text = preset_path(preset.id), preset_toml(preset)
    make_folder(path.parent)
    write_atomically(path, text.encode(), overwrite=True)
    return path


def agent_preset_id(session: Session) -> str:
    """Id of the preset that compacts as the session's agent does; "" without one."""
    with suppress(BadInput):
        return by_id(session.format).preset
    return ""


def preset_for_version(preset: Preset, session: Session) -> Preset:
    """Preset of the session's agent with the settings of the version that wrote it, or of the day on which the session
    began if its files name no version. Any other preset is returned unchanged."""
    if not preset.id or preset.id != agent_preset_id(session):
        return preset
    began = next((message.time for message in session.messages if message.time is not None), None)
    return preset.of_version(session.facts.version, None if began is None else utc_datetime(began).date())
