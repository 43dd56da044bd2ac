"""Presets: a strategy with numbers and a prompt, named after the product or paper it stands for.

A preset is a TOML file: `strategy`, `about`, `source` (what it was read from), `[policy]` with field values, and
`[basis]` that calls a field `documented` or `assumed`. A value `{ prompt = "file" }` takes the text of a file in
`prompts/`. `[product]` says of a product, where that is known, whether the prompt cache has a say in when it compacts
(`cache`) and whether it does so without being set up (`default_on`). Each `[[earlier]]` has what versions before
`before` did differently, as another `policy`.
"""

from __future__ import annotations

import re
import tomllib
from collections.abc import Iterable, Mapping
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
from workbench.compaction.environment import variables_of
from workbench.compaction.policy import Policy, explain
from workbench.compaction.prompts import adopted_name, has_adopted, load_prompt
from workbench.compaction.settings import Setting, settings_of, with_settings
from workbench.compaction.strategies import all_strategies, strategy, strategy_ids

BUNDLED = Path(__file__).resolve().parent / "presets"


class Earlier(Struct, frozen=True):
    """What a product did differently before the version `before`, or, where its sessions do not name theirs, before
    the day on which the version came out: no session that was begun sooner is by it."""

    before: str | date
    policy: Mapping[str, Any]

    def holds(self, version: str, day: date | None) -> bool:
        """Whether a session of this version, begun on this day, was written by an earlier one."""
        if isinstance(self.before, date):
            return not version and day is not None and day < self.before
        return version != "" and _numbers(version) < _numbers(self.before)


@dataclass(frozen=True, slots=True)
class Preset:
    id: str
    strategy: str
    about: str
    source: str
    policy: Policy
    basis: Mapping[str, str] = field(default_factory=dict)
    product: Mapping[str, bool] = field(default_factory=dict)
    sources: Mapping[str, str] = field(default_factory=dict)
    """Where the value of a setting comes from, by its key: `preset`, `adopted` (from its product), a variable of the
    environment, or how it was given by hand. What is not named has the strategy's own default."""

    earlier: tuple[Earlier, ...] = ()
    version: str = ""
    """The version of the product that it stands for, or the day for one that is not named; "" for the newest known."""

    @property
    def name(self) -> str:
        """Its id, or its strategy's where it has none, and of an earlier version which."""
        return (self.id or self.strategy) + (f" as of {self.version}" if self.version else "")

    def of_version(self, version: str, day: date | None = None) -> Preset:
        """As that version of the product did it, or the one of that day, but for what was set by hand; as it is where
        nothing is known of it. Of `version`, which a file says, only the numbers count and are shown."""
        version = found[0] if (found := _VERSION.search(version)) else ""
        changes: dict[str, Any] = {}
        for one in self.earlier:
            if one.holds(version, day):
                changes |= {key: value for key, value in one.policy.items() if self.sources.get(key) == "preset"}
        then = version or str(day)
        return replace(self, policy=self.policy.with_(**changes), version=then) if changes else self

    def source_of(self, setting: Setting) -> str:
        """Where its value comes from; `the prompt` for what follows from that, as the language does."""
        unsaid = "default" if setting.of(self.policy) == setting.default else "the prompt"
        return self.sources.get(setting.key, unsaid)

    @property
    def told_sources(self) -> dict[str, str]:
        """By key the source of every setting that has not its default."""
        found = {one.key: self.source_of(one) for one in settings_of(type(self.policy))}
        return {key: source for key, source in found.items() if source != "default"}

    def with_values(self, policy: Policy, source: Mapping[str, str]) -> Preset:
        """The same with another policy, of which `source` says what is new; that has no basis any more."""
        fields = {key.partition(".")[0] for key in source}
        basis = {name: word for name, word in self.basis.items() if name not in fields}
        return replace(self, policy=policy, basis=basis, sources={**self.sources, **source})


_VERSION = re.compile(r"\d{1,9}(?:\.\d{1,9}){0,3}", re.ASCII)


def _numbers(version: str) -> tuple[int, ...]:
    """`2.1.80` so that it can be compared."""
    return tuple(map(int, version.split(".")))


def preset_names() -> tuple[str, ...]:
    """Every preset's id, the bundled ones first; a user's preset of the same name takes the place of a bundled one."""
    bundled = sorted(path.stem for path in BUNDLED.glob("*.toml"))
    own = sorted(path.stem for path in paths.presets().glob("*.toml"))
    return (*bundled, *(name for name in own if name not in bundled))


def load_preset(name: str) -> Preset:
    """A preset by its id, the user's own before the bundled one, with the prompts as they are now; for a strategy that
    has none and names no other, the policy's own defaults. What the environment sets, where it is heeded, stands before
    it. Raises BadInput with the known ids, and for a variable that cannot be so."""
    return _by_environment(_preset(name))


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
    """Whether a preset asks by a prompt that is named, in whose place its product's own may be adopted. Raises BadInput
    for a preset that does not exist."""
    load_preset(name)
    file = _file_of(name)
    policy = tomllib.loads(file.read_text("utf-8")).get("policy", {}) if file else {}
    return _is_named(policy.get("prompt"))


def default_preset(strategy_id: str) -> Preset:
    """The preset that a strategy opens with: the one it names, else the one that is named like it."""
    one = strategy(strategy_id)
    return load_preset(one.default_preset or one.id)


def candidates(strategies: Iterable[str] = (), presets: Iterable[str] = ()) -> tuple[Preset, ...]:
    """Return the presets named, then the default preset of each strategy named; of every strategy where nothing is.

    Raises BadInput for a name that does not exist.
    """
    found = [load_preset(name) for name in presets] + [default_preset(name) for name in strategies]
    return tuple(found or (default_preset(one.id) for one in all_strategies()))


def _by_environment(preset: Preset) -> Preset:
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
    """A preset from a file. Raises BadInput with file, line where known, field and what would be right."""
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
    given = dict(table.get("policy", {}))
    adopted = _is_named(given.get("prompt")) and has_adopted(path.stem)
    if adopted:
        given["prompt"] = {"prompt": adopted_name(path.stem)}
    values = {name: _value(path, name, value) for name, value in given.items()}
    basis = _by_todays_names(chosen.policy_type, table.get("basis", {}))
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
    """Whether a table says of earlier versions what they did."""
    if not isinstance(one, dict) or one.keys() != {"before", "policy"}:
        return False
    dated = isinstance(one["before"], date) and not isinstance(one["before"], datetime)
    return (isinstance(one["before"], str) or dated) and isinstance(one["policy"], dict)


def _is_named(value: Any) -> bool:
    """Whether a value is a prompt by the name of its file."""
    return isinstance(value, dict) and set(value) == {"prompt"}


def _by_todays_names(policy: type[Policy], basis: Mapping[str, str]) -> dict[str, str]:
    """A field that did nothing has no basis any more."""
    return {today: word for name, word in basis.items() if (today := policy.today(name).name)}


def _value(path: Path, name: str, value: Any) -> Any:
    if _is_named(value):
        try:
            return load_prompt(value["prompt"]).text
        except BadInput as error:
            raise BadInput(f"{path}: policy.{name}: {error}") from None
    return value


def preset_toml(preset: Preset) -> str:
    """A preset as its file: what `read_preset` reads back to the same policy.

    Fields that have the strategy's own default are left out; texts of several lines stand as such where that loses
    nothing. Raises BadInput for a text that no TOML file can hold (a lone surrogate).
    """
    document = tomlkit.document()
    document["strategy"] = preset.strategy
    for name, text in (("about", preset.about), ("source", preset.source)):
        if text:
            document[name] = _text(text)
    values = _changed(preset.policy, type(preset.policy)())
    policy = tomlkit.table()
    for name, value in values.items():
        policy[name] = _inline(value) if isinstance(value, dict) else _text(value) if isinstance(value, str) else value
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


def _changed(policy: BaseModel, default: BaseModel) -> dict[str, Any]:
    """What makes the policy again: the fields that differ from the default, and what is read otherwise without them (a
    language, from a prompt)."""
    given, own = policy.model_dump(), default.model_dump()
    changed = {name: value for name, value in given.items() if value != own[name] and value is not None}
    read = type(policy).model_validate(changed).model_dump()
    return {name: value for name, value in given.items() if name in changed or value != read[name]}


def _inline(values: Mapping[str, Any]) -> Any:
    table = tomlkit.inline_table()
    table.update(values)
    return table


def _text(text: str) -> String:
    """A TOML string; over several lines where reading that gives the same text."""
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
    """Where a person's preset of this name lies. Raises BadInput for a name that is no file's."""
    if not _NAME.fullmatch(name):
        raise BadInput(f"{name!r} is not a valid preset name: use at most 64 letters, digits, '-', '_' and '.'.")
    return paths.presets() / f"{name}.toml"


def save_preset(preset: Preset) -> Path:
    """Write a preset to the person's own, whole or not at all; one of the same name is replaced. Raises BadInput."""
    path, text = preset_path(preset.id), preset_toml(preset)
    make_folder(path.parent)
    write_atomically(path, text.encode(), overwrite=True)
    return path
