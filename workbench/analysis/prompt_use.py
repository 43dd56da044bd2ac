"""Which strategy uses a prompt, in which field of its policy, and how the prompt reads for a session."""

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
from workbench.compaction.prompts import ENDINGS, PromptFile, checked, file_of, load_prompt, prompt_files
from workbench.compaction.strategies import all_strategies, strategy
from workbench.summarizers.driver import drive
from workbench.summarizers.estimate import estimate


@cache
def _uses() -> Mapping[str, tuple[str, str]]:
    """The strategy that uses a prompt, by the prompt's id, and the field of its policy that may hold another ("":
    none)."""
    return {prompt: (one.id, field) for one in all_strategies() for prompt, field in one.prompts.items()}


@dataclass(frozen=True, slots=True)
class Found:
    """A prompt and its file name. `own`: the user's file stands before the program's."""

    file: str
    prompt: PromptFile
    own: bool

    @property
    def id(self) -> str:
        """Its file name without the ending, which, other than the header's id, tells the languages apart."""
        return Path(self.file).stem

    @property
    def strategy(self) -> str:
        """ "" for one that no strategy uses by itself."""
        return _uses().get(self.prompt.id, ("", ""))[0]

    @property
    def field(self) -> str:
        return _uses().get(self.prompt.id, ("", ""))[1]

    @property
    def path(self) -> Path:
        return file_of(self.file)


def found(file: str) -> Found:
    """Raises BadInput for a prompt of the user's that cannot be used."""
    return Found(file, load_prompt(file), (paths.prompts() / file).is_file())


def by_id(id: str) -> Found:
    """A prompt by its id, or a file of one anywhere. Raises BadInput with what there is."""
    files = prompt_files()
    for name in (id, *(id + ending for ending in ENDINGS), f"{id}.en.md"):
        if name in files:
            return found(name)
    path = Path(id)
    if path.suffix in ENDINGS and path.is_file():
        return Found(id, checked(path, path.read_text("utf-8", "replace")), own=True)
    raise BadInput(f"There is no prompt {id!r}; there are {', '.join(Path(file).stem for file in files)}.")


def policy_with(policy: Policy, one: Found) -> Policy:
    """The policy of the prompt's own strategy with the prompt in it, and its language where the policy has one: that
    of its words, else of its header."""
    changes = {"language": language_of(one.prompt.text) or one.prompt.language, one.field: one.prompt.text}
    fields = type(policy).model_fields
    return policy.with_(**{name: value for name, value in changes.items() if name in fields})


def own_file(policy: Policy, strategy_id: str, field: str, text: str) -> str:
    """A text of a policy as the file of a prompt, header and all, which is then known as one for that field. Raises
    BadInput for a field that no prompt of the strategy's fills."""
    prompt = next((id for id, name in strategy(strategy_id).prompts.items() if name == field), None)
    if prompt is None:
        raise BadInput(f"{field} of {strategy_id} has no prompts of its own: save the policy as a preset instead.")
    takes = ", ".join(by_id(prompt).prompt.placeholders)
    language = language_of(text) or getattr(policy, "language", "en")
    return f"---\nid: {prompt}\nlanguage: {language}\nplaceholders: {takes}\n---\n{text.strip()}\n"


def rendered(one: Found, context: Context, edits: Edits = UNEDITED, policy: Policy | None = None) -> str:
    """The request, message or memories in which the prompt's words stand, when its strategy compacts `context`.

    `policy` is the strategy's, its first preset's where none is given. Raises BadInput where there is no such text.
    """
    if not one.strategy:
        raise BadInput(f"No strategy uses the prompt {one.id} by default; shown unchanged.")
    chosen = strategy(one.strategy)
    start = policy if isinstance(policy, chosen.policy_type) else default_preset(one.strategy).policy
    run = drive(compacting(context, edits, chosen, policy_with(start, one)), estimate)
    texts = [piece.message.text for piece in run.outcome.pieces if isinstance(piece, NewMessage)]
    texts += [request.shown for request in run.requests]
    for text in (*texts, run.outcome.memories or ""):
        if _made_with(one, text):
            return text
    raise BadInput(
        f"Compacting this session by {one.strategy} does not use the prompt {one.id} ({run.outcome.reason}); "
        "choose another session."
    )


def doubts(one: Found) -> tuple[str, ...]:
    """What is doubtful about a prompt that a model is asked, in its strategy's first preset."""
    if not one.field or one.field.endswith("template"):
        return ()
    return strategy(one.strategy).lint(policy_with(default_preset(one.strategy).policy, one))


def _made_with(one: Found, text: str) -> bool:
    """Whether what stands between the prompt's placeholders stands in `text`; of a template, one of its tags."""
    if one.file.endswith(".jinja"):
        return any(tag in text for tag in re.findall(r"<[a-z]+_[a-z_]+/?>", one.prompt.text))
    return all(piece.strip() in text for piece in re.split(r"\{\w+\}", one.prompt.text))


def meant_for(one: Found, chosen: str) -> Found:
    """A prompt with an id of its own, which no strategy knows, as the one that the strategy `chosen` asks by; any other
    as it is."""
    asked = (id for id, field in strategy(chosen).prompts.items() if field and not field.endswith("template"))
    if one.strategy or (own := next(asked, None)) is None:
        return one
    return replace(one, prompt=replace(one.prompt, id=own))


def strategy_of(several: Sequence[Found], chosen: str) -> str:
    """The strategy that all of these prompts can be tried with: `chosen` if that is it, else their own.

    Raises BadInput where they belong to different ones, or where one is not asked of a model.
    """
    for one in several:
        if not one.field or one.field.endswith("template"):
            raise BadInput(f"The prompt {one.id} is not sent to a model, so there is nothing to compare.")
    own = dict.fromkeys(one.strategy for one in several)
    if len(own) > 1:
        strategies = ", ".join(own)
        raise BadInput(f"These prompts belong to different strategies ({strategies}); choose prompts of one strategy.")
    return next(iter(own), chosen)
