"""Use of prompts: the strategy and policy field of each, and its text as sent for a session."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cache
from pathlib import Path

from workbench.base import paths
from workbench.base.errors import BadInput
from workbench.compaction.context import Context
from workbench.compaction.edits import UNEDITED, Edits, compacting
from workbench.compaction.language import language_of
from workbench.compaction.outcome import NewMessage
from workbench.compaction.policy import Policy
from workbench.compaction.preset import default_preset
from workbench.compaction.prompts import ENDINGS, LoadedPrompt, checked, file_of, load_prompt, prompt_files
from workbench.compaction.strategies import all_strategies, strategy
from workbench.summarizers.driver import drive
from workbench.summarizers.estimate import estimate


@cache
def _prompt_uses() -> Mapping[str, tuple[str, str]]:
    """Return {prompt id: (strategy, policy field that may hold another prompt, "" for none)}."""
    return {prompt: (one.id, field) for one in all_strategies() for prompt, field in one.prompts.items()}


@dataclass(frozen=True, slots=True)
class StoredPrompt:
    """Prompt and its file name. `own`: the user's file overrides the program's."""

    file: str
    prompt: LoadedPrompt
    own: bool

    @property
    def id(self) -> str:
        """File name without the ending; unlike the header's id, it differs between languages."""
        return Path(self.file).stem

    @property
    def strategy(self) -> str:
        """Strategy that uses it by default; "" for none."""
        return _prompt_uses().get(self.prompt.id, ("", ""))[0]

    @property
    def field(self) -> str:
        """Policy field that it fills; "" for none."""
        return _prompt_uses().get(self.prompt.id, ("", ""))[1]

    @property
    def path(self) -> Path:
        """Path of its file."""
        return file_of(self.file)


def stored_prompt(file: str) -> StoredPrompt:
    """Load a prompt. Raises BadInput if the user's own cannot be used."""
    return StoredPrompt(file, load_prompt(file), (paths.prompts() / file).is_file())


def prompt_by_id(id: str) -> StoredPrompt:
    """Return a prompt by id or file. Raises BadInput with the known ids."""
    files = prompt_files()
    for name in (id, *(id + ending for ending in ENDINGS), f"{id}.en.md"):
        if name in files:
            return stored_prompt(name)
    path = Path(id)
    if path.suffix in ENDINGS and path.is_file():
        return StoredPrompt(id, checked(path, path.read_text("utf-8", "replace")), own=True)
    raise BadInput(f"There is no prompt {id!r}; there are {', '.join(Path(file).stem for file in files)}.")


def policy_with(policy: Policy, one: StoredPrompt) -> Policy:
    """Return `policy` with the prompt in its field. The language becomes that of the prompt's text, or if that is
    unclear, the language in its header. Fields that the policy lacks are left out."""
    changes = {"language": language_of(one.prompt.text) or one.prompt.language, one.field: one.prompt.text}
    fields = type(policy).model_fields
    return policy.with_(**{name: value for name, value in changes.items() if name in fields})


def prompt_file_text(policy: Policy, strategy_id: str, field: str, text: str) -> str:
    """Return a text of a policy as a prompt file, with a header that names its field. Raises BadInput for a field
    without prompts."""
    prompt = next((id for id, name in strategy(strategy_id).prompts.items() if name == field), None)
    if prompt is None:
        raise BadInput(f"{field} of {strategy_id} has no prompts of its own: save the policy as a preset instead.")
    takes = ", ".join(prompt_by_id(prompt).prompt.placeholders)
    language = language_of(text) or getattr(policy, "language", "en")
    return f"---\nid: {prompt}\nlanguage: {language}\nplaceholders: {takes}\n---\n{text.strip()}\n"


def render_prompt(one: StoredPrompt, context: Context, edits: Edits = UNEDITED, policy: Policy | None = None) -> str:
    """Return the request, message or memories that contain the prompt when its strategy compacts `context`. `policy`
    defaults to the strategy's first preset. Raises BadInput if the prompt occurs in none.
    """
    if not one.strategy:
        raise BadInput(f"No strategy uses the prompt {one.id} by default; shown unchanged.")
    chosen = strategy(one.strategy)
    start = policy if isinstance(policy, chosen.policy_type) else default_preset(one.strategy).policy
    run = drive(compacting(context, edits, chosen, policy_with(start, one)), estimate)
    texts = [piece.message.text for piece in run.outcome.pieces if isinstance(piece, NewMessage)]
    texts += [request.shown for request in run.requests]
    for text in (*texts, run.outcome.memories or ""):
        if _is_used_in(one, text):
            return text
    raise BadInput(
        f"Compacting this session by {one.strategy} does not use the prompt {one.id} ({run.outcome.reason}); "
        "choose another session."
    )


def prompt_warnings(one: StoredPrompt) -> tuple[str, ...]:
    """Return warnings about a prompt that is sent to a model, under its strategy's first preset."""
    if not one.field or one.field.endswith("template"):
        return ()
    return strategy(one.strategy).lint(policy_with(default_preset(one.strategy).policy, one))


def _is_used_in(one: StoredPrompt, text: str) -> bool:
    """True if the text between the prompt's placeholders occurs in `text`; for a template, one of its tags."""
    if one.file.endswith(".jinja"):
        return any(tag in text for tag in re.findall(r"<[a-z]+_[a-z_]+/?>", one.prompt.text))
    return all(piece.strip() in text for piece in re.split(r"\{\w+\}", one.prompt.text))


def as_strategy_prompt(one: StoredPrompt, chosen: str) -> StoredPrompt:
    """Return a prompt that no strategy uses as the prompt of the strategy `chosen`; any other prompt unchanged."""
    prompt_fields = (id for id, field in strategy(chosen).prompts.items() if field and not field.endswith("template"))
    if one.strategy or (own := next(prompt_fields, None)) is None:
        return one
    return replace(one, prompt=replace(one.prompt, id=own))


def common_strategy(several: Sequence[StoredPrompt], chosen: str) -> str:
    """Return the strategy of all these prompts; `chosen` if there are none. Raises BadInput if they belong to different
    strategies, or if one is not sent to a model.
    """
    for one in several:
        if not one.field or one.field.endswith("template"):
            raise BadInput(f"The prompt {one.id} is not sent to a model, so there is nothing to compare.")
    own = dict.fromkeys(one.strategy for one in several)
    if len(own) > 1:
        strategies = ", ".join(own)
        raise BadInput(f"These prompts belong to different strategies ({strategies}); choose prompts of one strategy.")
    return next(iter(own), chosen)
