"""`cwb prompts`: every prompt, and one of them as it is sent for a session."""

from __future__ import annotations

import re
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import click

from workbench.analysis.transcript import printable
from workbench.bench import Bench, choose_preset, set_policy
from workbench.cli.loading import on_bench
from workbench.cli.output import write_json, write_table
from workbench.compaction.outcome import Made
from workbench.compaction.preset import default_preset
from workbench.compaction.prompts import Prompt, load_prompt, own_folder
from workbench.errors import BadInput
from workbench.resources import PROMPTS

USED_BY = {
    "exchange-summary": ("exchange-summary", "prompt"),
    "summary-node": ("exchange-summary", "summary_node_request_message_template"),
    "abridged-entry": ("exchange-summary", ""),
    "progressive-rung": ("progressive", "rung_prompt"),
    "progressive-rung-node": ("progressive", ""),
    "progressive-full": ("progressive", "full_prompt"),
    "progressive-full-node": ("progressive", ""),
    "layered-summary": ("layered", "prompt"),
    "message-window": ("message-window", "prompt"),
    "context-reset": ("context-reset", "prompt"),
    "user-messages": ("user-messages", "prompt"),
    "memories-rewrite": ("memories-rewrite", "compression_prompt"),
    "recent-memories": ("memories-rewrite", "recent_memories_subprompt"),
}
"""The strategy that uses a prompt, by the prompt's id, and the field of its policy that may hold another ("": none)."""


@dataclass(frozen=True, slots=True)
class Found:
    """A prompt and its file name. `own`: the user's file stands before the program's."""

    file: str
    prompt: Prompt
    own: bool

    @property
    def id(self) -> str:
        """Its file name without the ending, which, other than the header's id, tells the languages apart."""
        return Path(self.file).stem

    @property
    def strategy(self) -> str:
        return USED_BY.get(self.prompt.id, ("", ""))[0]

    def fields(self) -> dict[str, Any]:
        return {
            "id": self.id,
            "language": self.prompt.language,
            "placeholders": list(self.prompt.placeholders),
            "strategy": self.strategy or None,
            "chars": len(self.prompt.text),
            "file": str((own_folder() if self.own else PROMPTS) / self.file),
            "own": self.own,
        }


@click.group("prompts", invoke_without_command=True)
@click.option("--json", "as_json", is_flag=True, help="One JSON document instead of a table.")
@click.pass_context
def command(ctx: click.Context, as_json: bool) -> None:
    """List the prompts with their languages and placeholders.

    A file of the same name in the user's own folder of prompts (`cwb prompts --json` names it) is used instead of the
    program's; a placeholder in it that nothing fills is an error.
    """
    if ctx.invoked_subcommand is not None:
        return
    every = [_found(file) for file in _files()]
    if as_json:
        write_json({"own_folder": str(own_folder()), "prompts": [one.fields() for one in every]})
        return
    rows = [
        [one.id, one.prompt.language, one.strategy, "yours" if one.own else "", ", ".join(one.prompt.placeholders)]
        for one in every
    ]
    write_table(["prompt", "language", "strategy", "own", "placeholders"], rows)


@command.command("show")
@click.argument("id")
@click.argument("file", required=False, type=click.Path(path_type=Path))
@click.option("--json", "as_json", is_flag=True, help="One JSON document instead of text.")
def show(id: str, file: Path | None, as_json: bool) -> None:
    """Show prompt ID; with FILE, as its strategy would use it for that session: the whole text of what is sent.

    No model is asked: where a summary would stand there is a placeholder of its likely size.
    """
    found = _by_id(id)
    text = rendered(found, on_bench(file, epoch=None, window=None), file) if file else found.prompt.text
    if as_json:
        write_json({**found.fields(), "session": str(file) if file else None, "text": text})
    else:
        click.echo(printable(text))


def rendered(found: Found, bench: Bench, file: Path) -> str:
    """The request, message or memories in which the prompt's words stand. Raises BadInput where there is none."""
    if not found.strategy:
        raise BadInput(f"No strategy uses the prompt {found.id} by itself; a preset may name it.")
    preset = default_preset(found.strategy)
    field = USED_BY[found.prompt.id][1]
    changes = {"language": found.prompt.language, field: found.prompt.text}
    fields = type(preset.policy).model_fields
    chosen = preset.policy.with_(**{name: value for name, value in changes.items() if name in fields})
    bench = set_policy(choose_preset(bench, preset), chosen)
    outcome = bench.plan.outcome
    texts = [piece.message.text for piece in outcome.pieces if isinstance(piece, Made)]
    texts += [request.text for request in bench.plan.requests]
    for text in (*texts, outcome.memories or ""):
        if _made_with(found, text):
            return text
    raise BadInput(
        f"Compacting {file} by {found.strategy} does not use the prompt {found.id} ({outcome.reason}); "
        "choose another session."
    )


def _made_with(found: Found, text: str) -> bool:
    """Whether what stands between the prompt's placeholders stands in `text`; of a template, one of its tags."""
    if found.file.endswith(".jinja"):
        return any(tag in text for tag in re.findall(r"<[a-z]+_[a-z_]+/?>", found.prompt.text))
    return all(piece.strip() in text for piece in re.split(r"\{\w+\}", found.prompt.text))


def _files() -> list[str]:
    folders = [folder for folder in (PROMPTS, own_folder()) if folder.is_dir()]
    return sorted({path.name for folder in folders for path in folder.iterdir() if path.suffix in (".md", ".jinja")})


def _found(file: str) -> Found:
    return Found(file, load_prompt(file), (own_folder() / file).is_file())


def _by_id(id: str) -> Found:
    files = _files()
    for name in (id, f"{id}.md", f"{id}.jinja", f"{id}.en.md"):
        if name in files:
            return _found(name)
    raise BadInput(f"There is no prompt {id!r}; there are {', '.join(Path(file).stem for file in files)}.")
