"""`cwb prompts`: list prompts, show one as it is sent for a session, and copy one to edit it."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import click

from workbench.analysis.prompt_use import StoredPrompt, prompt_by_id, prompt_warnings, render_prompt, stored_prompt
from workbench.base import paths
from workbench.base.errors import BadInput
from workbench.base.printable import printable
from workbench.base.tables import Row, Table, columns
from workbench.cli.load_bench import on_bench
from workbench.cli.output import csv_option, json_option, only, plain, warn, write_csv, write_json, write_tables
from workbench.cli.selection import Selection, selection
from workbench.compaction.language import language_of
from workbench.compaction.preset import has_prompt
from workbench.compaction.prompts import ENDINGS, adopted_name, load_prompt, prompt_files, write_own
from workbench.compaction.prompts import adopt as write_adopted
from workbench.finding.agent_prompts import AgentPrompt, installed_prompts, program_of, prompts_in, searched_folders


@plain.register
def _(one: StoredPrompt) -> dict[str, Any]:
    return {
        "id": one.id,
        **only(one.prompt, "language", "placeholders"),
        "strategy": one.strategy or None,
        "setting": one.field or None,
        "chars": len(one.prompt.text),
        "file": one.path,
        "is_own": one.own,
        "prompt_problems": prompt_warnings(one),
    }


@click.group("prompts", invoke_without_command=True)
@json_option
@csv_option("prompts")
@click.pass_context
def command(ctx: click.Context, as_json: bool, as_csv: str | None) -> None:
    """List the prompts with their languages and placeholders: the names in braces that are filled in.

    A file of the same name in your folder of prompts (`cwb prompts copy` makes one) replaces the program's prompt. An
    unknown placeholder in it is an error.
    """
    if ctx.invoked_subcommand is None:
        _list(as_json, as_csv)


@command.command("list")
@json_option
@csv_option("prompts")
def list_(as_json: bool, as_csv: str | None) -> None:
    """List the prompts; the same as `cwb prompts`."""
    _list(as_json, as_csv)


def _list(as_json: bool, as_csv: str | None) -> None:
    every = [stored_prompt(file) for file in prompt_files()]
    rows = (
        Row((one.id, one.prompt.language, one.strategy, one.own or None, ", ".join(one.prompt.placeholders)))
        for one in every
    )
    table = Table("prompts", "", columns("id:text:prompt language strategy is_own:flag:own placeholders"), tuple(rows))
    if as_csv:
        write_csv({"prompts": table}, as_csv)
    elif as_json:
        write_json({"folder": paths.prompts(), "prompts": every})
    else:
        write_tables([table])
        for one in every:
            _warn_of_problems(one)


def _warn_of_problems(one: StoredPrompt) -> None:
    for sentence in prompt_warnings(one):
        warn(f"{one.id}: {sentence}")


@command.command("show")
@click.argument("id")
@selection("part", required=False)
@json_option
def show(chosen: Selection, id: str, as_json: bool) -> None:
    """Show prompt ID; with FILE, the complete text that its strategy would send for that session.

    No model is asked: filler of the likely size replaces each summary.
    """
    _show(id, chosen, as_json)


@command.command("render")
@click.argument("id")
@selection("part")
@json_option
def render(chosen: Selection, id: str, as_json: bool) -> None:
    """Show prompt ID as its strategy would use it for the session FILE."""
    _show(id, chosen, as_json)


def _show(id: str, chosen: Selection, as_json: bool) -> None:
    one = prompt_by_id(id)
    text = one.prompt.text
    if chosen.files:
        text = render_prompt(one, on_bench(chosen).context)
    if as_json:
        write_json(one, {"session_file": chosen.file if chosen.files else None, "text": text})
    else:
        click.echo(printable(text))
        _warn_of_problems(one)


@command.command("copy")
@click.argument("id")
@click.option("--as", "name", metavar="NAME", help="Another name, so that `cwb compare` can compare both prompts.")
@json_option
def copy(id: str, name: str | None, as_json: bool) -> None:
    """Copy prompt ID into your folder of prompts, to edit it there. An existing file is not replaced."""
    one = prompt_by_id(id)
    target = one.file if name is None else name if Path(name).suffix in ENDINGS else name + Path(one.file).suffix
    if (paths.prompts() / target).exists():
        raise BadInput(f"{paths.prompts() / target} exists; edit it, or give another name with --as.")
    path = write_own(target, one.path.read_text("utf-8"), overwrite=False)
    if as_json:
        write_json({"id": path.stem, "copied_from": one.id, "file": path})
    else:
        click.echo(str(path))


@command.command("adopt")
@click.argument("preset")
@click.argument("sources", nargs=-1, type=click.Path(path_type=Path), metavar="[FROM]...")
@click.option("--force", is_flag=True, help="Replace an adopted prompt.")
@json_option
@csv_option("found")
def adopt(preset: str, sources: tuple[Path, ...], force: bool, as_json: bool, as_csv: str | None) -> None:
    """Copy the prompt of PRESET's agent into your folder of prompts. From then on the preset uses it.

    FROM is a capture of the agent's requests (HAR, claude-trace), the body of a request for a summary, a session whose
    agent records its requests, a text (.md, .txt) with the prompt, the agent's program, or a folder with such files or
    the agent's package. Without FROM, the package or program of the command on PATH and .claude-trace in this folder
    are searched. The prompt is not printed; `cwb prompts show` prints it.
    """
    if not has_prompt(preset):
        raise BadInput(f"The preset {preset} has no replaceable prompt; choose a product's preset.")
    trace = Path(".claude-trace")
    named = sources or ((trace,) if preset == "claude-code" and trace.is_dir() else ())
    found = [one for source in named for one in prompts_in(preset, source)] or (
        [] if sources else installed_prompts(preset)
    )
    if not found:
        raise BadInput(_nothing(preset, sources))
    text, name = found[0].text, adopted_name(preset)
    path = paths.prompts() / name
    if path.is_file() and not force and load_prompt(name).text != text:
        raise BadInput(f"{path} exists with other text; --force replaces it.")
    path = write_adopted(preset, text, language_of(text) or "en")
    if as_json:
        write_json({"id": path.stem, "preset": preset, "file": path, "found": found})
        return
    rows = tuple(Row((str(one.file), one.place, len(one.text), ", ".join(one.left_out))) for one in found)
    spec = columns("file:text:found_in location:text:where chars:count:characters filled_in_when_sent")
    table = Table("found", "", spec, rows)
    if as_csv:
        write_csv({"found": table}, as_csv)
        return
    write_tables([table])
    click.echo(f"the first is saved as {path}; the preset {preset} uses it from now on")


@plain.register
def _(one: AgentPrompt) -> dict[str, Any]:
    return {**only(one, "file", "location=place", "filled_in_when_sent=left_out"), "chars": len(one.text)}


def _nothing(preset: str, sources: tuple[Path, ...]) -> str:
    where = ", ".join(map(str, sources)) or searched_folders(preset)
    program = program_of(preset)
    sealed = f": {program.sealed}, and its prompt has no markers" if program and program.sealed else ""
    seen = f"in {where}{sealed}" if where else f"on this machine{sealed or ': no package of it is known'}"
    ways = "a capture of its requests (HAR, claude-trace) in which it compacted, or a text (.md, .txt) with the prompt"
    return f"No prompt of {preset} was found {seen}; name {ways}{'' if sealed else ', or the folder of its package'}."
