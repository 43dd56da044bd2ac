"""Options that commands share: sessions, policy, and changes to the plan."""

from __future__ import annotations

import os
import shutil
import sys
from collections.abc import Callable
from dataclasses import dataclass, fields, replace
from functools import wraps
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import TYPE_CHECKING, Any, BinaryIO

import click

from workbench.base.errors import BadInput
from workbench.session import EpochChoice

if TYPE_CHECKING:  # slow to import, and not needed by commands without a policy
    from workbench.compaction.preset import Preset


class EpochNumber(click.ParamType[EpochChoice]):
    name = "epoch"

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> EpochChoice:
        if value == "last":
            return "last"
        try:
            return int(value)
        except ValueError:
            self.fail(f"{value!r} is neither the number of an epoch nor `last`.", param, ctx)


@dataclass(frozen=True, slots=True, kw_only=True)
class Selection:
    """Shared options of a command line; an option that the command does not have keeps its default.

    `piped` lists those of `files` that are temporary copies of pipes. Messages (`pins`, `drops`, `shortens`, `split`)
    are references as `load_bench.message_id` reads them.
    """

    files: tuple[Path, ...] = ()
    piped: tuple[Path, ...] = ()
    part: str = ""
    strategies: tuple[str, ...] = ()
    presets: tuple[str, ...] = ()
    params: Path | None = None
    fields: tuple[str, ...] = ()
    pins: tuple[str, ...] = ()
    auto_pin: bool = False
    drops: tuple[str, ...] = ()
    shortens: tuple[str, ...] = ()
    split: str | None = None
    watched: tuple[str, ...] = ()
    epoch: EpochChoice = None
    window: int | None = None
    mask: bool = False

    @property
    def file(self) -> Path:
        """The only FILE. Raises BadInput for several."""
        if len(self.files) != 1:
            raise BadInput(f"This command takes one session; {len(self.files)} FILEs are named.")
        return self.files[0]

    @property
    def whole(self) -> Selection:
        """Selection from the first epoch on, unless --epoch names another."""
        return replace(self, epoch=1) if self.epoch is None else self

    def policy(self, otherwise: str = "") -> Preset:
        """Return the strategy or preset named last, else the one that --params sets, else the preset `otherwise`, with
        changed settings. Raises BadInput, also if nothing is named."""
        from workbench.cli import settings

        strategy = self.strategies[-1] if self.strategies else None
        preset = self.presets[-1] if self.presets else None
        return settings.preset_from_options(strategy, preset, self.params, self.fields, otherwise)

    def policies(self) -> list[Preset]:
        """Return every named policy. Names may be joined by commas, `all` means every preset, and no name means every
        strategy. Raises BadInput."""
        from workbench.compaction.preset import candidates, preset_names

        strategies, presets = _listed(self.strategies), _listed(self.presets)
        if not self.fields:
            return list(candidates(strategies, preset_names() if "all" in presets else presets))
        if len(strategies) + len(presets) != 1 or "all" in presets:
            raise BadInput("--set changes one policy; name just one with --strategy or --preset.")
        return [replace(self, strategies=strategies, presets=presets).policy()]


def _local_file(file: Path) -> Path:
    """Return the file itself; for `-` and pipes a temporary copy, removed when the command ends."""
    if file != _STDIN and not file.is_fifo():
        return file
    folder = TemporaryDirectory(prefix="cwb-")
    click.get_current_context().call_on_close(folder.cleanup)
    local = Path(folder.name, "stdin")
    with local.open("wb") as copy:
        if file == _STDIN:
            shutil.copyfileobj(sys.stdin.buffer, copy)
        else:
            _copy_pipe(file, copy)
    return local


def _copy_pipe(file: Path, copy: BinaryIO) -> None:
    """Copy the content of a pipe. Raises BadInput for a pipe without a writer, which could block forever."""
    with os.fdopen(os.open(file, os.O_RDONLY | os.O_NONBLOCK), "rb") as pipe:
        try:
            first = os.read(pipe.fileno(), 1)
        except BlockingIOError:  # nothing is written yet
            first = b""
        else:
            if not first:
                raise BadInput(f"{file} is a pipe without a writer; start the writer first, or name a file.")
        os.set_blocking(pipe.fileno(), True)
        copy.write(first)
        shutil.copyfileobj(pipe, copy)


def _listed(names: tuple[str, ...]) -> tuple[str, ...]:
    return tuple(name.strip() for text in names for name in text.split(",") if name.strip())


_STDIN = Path("-")
_PATH = click.Path(path_type=Path)
_SEVERAL = {"multiple": True, "metavar": "ID"}
_NAMES = tuple(field.name for field in fields(Selection))

# fmt: off
_OPTIONS: dict[str, tuple[tuple[str, ...], dict[str, Any], str]] = {
    "part": (("--part",), {"default": "", "metavar": "ID"},
             "One of several sessions or branches in FILE; `cwb audit --quick FILE` lists them."),
    "strategy": (("--strategy", "strategies"), _SEVERAL, "How to compact; `cwb list strategies` lists them."),
    "strategies": (("--strategies", "--strategy", "strategies"), {"multiple": True, "metavar": "ID,…"},
                   "Strategies, each with its first preset. Default: all."),
    "preset": (("--preset", "presets"), {"multiple": True, "metavar": "NAME"}, "Settings and prompt to start from."),
    "presets": (("--presets", "--preset", "presets"), {"multiple": True, "metavar": "NAME,…"},
                "Presets, `all` for every one."),
    "params": (("--params",), {"type": _PATH, "metavar": "FILE"},
               "A product's own parameters, as JSON: the object, or its feature flags."),
    "set": (("--set", "fields"), {"multiple": True, "metavar": "FIELD=VALUE"}, "Change a setting."),
    "pin": (("--pin", "pins"), _SEVERAL, "Keep a message verbatim."),
    "auto_pin": (("--auto-pin",), {"is_flag": True},
                 "Pin the user's rules and answers; `cwb rules FILE` lists them."),
    "drop": (("--drop", "drops"), _SEVERAL, "Drop a message, with its tool calls and results."),
    "shorten": (("--shorten", "shortens"), _SEVERAL,
                "Shorten a message's long texts and results in the middle. Pins take precedence."),
    "split_at": (("--split-at", "split"), {"metavar": "ID"}, "First message kept verbatim after the summary."),
    "watch": (("--watch", "watched"), {"multiple": True, "metavar": "TEXT"},
              "Track a sentence, or the rules of CLAUDE.md: verbatim, paraphrased, contradicted or gone. Repeatable."),
    "epoch": (("--epoch",), {"type": EpochNumber(), "metavar": "N|last"},
              "The epoch, from 1, or `last`. Default: the newest that overflowed or was compacted."),
    "window": (("--window",), {"type": click.IntRange(1), "metavar": "N"}, "The context window, in tokens."),
    "mask": (("--mask",), {"is_flag": True},
             "Remove FILE's secrets on reading: none is sent, summarized or written."),
}
# fmt: on
"""Flags, attributes and default help text of each option, in the order of `--help`."""


EPOCH = "An epoch is the part of a session between two compactions."


def selection(
    *usual: str, nargs: int = 1, required: bool = True, **worded: str
) -> Callable[[Callable[..., None]], Callable[..., None]]:
    """Add FILE and the named options to a command; `worded` ones get a help text of their own.

    The command is called with a `Selection` before its own options.
    """

    def decorate(command: Callable[..., None]) -> Callable[..., None]:
        @wraps(command)
        def selected(**options: Any) -> None:
            files = options.pop("files")
            named = {name: options.pop(name) for name in _NAMES if name in options}
            several = files if nargs < 0 else (files,) if files else ()
            local = tuple(map(_local_file, several))
            piped = tuple(there for there, file in zip(local, several, strict=True) if there is not file)
            command(Selection(files=local, piped=piped, **named), **options)

        offering: Callable[..., None] = selected
        for name in reversed([name for name in _OPTIONS if name in usual or name in worded]):
            flags, attributes, words = _OPTIONS[name]
            help = f"{worded.get(name, words)} {EPOCH}" if name == "epoch" else worded.get(name, words)
            offering = click.option(*flags, **attributes, help=help)(offering)
        metavar = "FILE..." if nargs < 0 else "FILE" if required else "[FILE]"
        return click.argument("files", nargs=nargs, required=required, metavar=metavar, type=_PATH)(offering)

    return decorate
