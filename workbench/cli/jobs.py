"""A command with several jobs. The first job is the default; an option selects each other job."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any

import click
from click.core import ParameterSource
from msgspec import Struct


def _never(values: Mapping[str, Any]) -> bool:
    return False


class Job(Struct, frozen=True):
    """A job of a command. `option`: the option that selects it, as shown to the user; "" for the default job.

    `takes`: names of the parameters that the job uses, separated by spaces. `flags`: names of those that select it if
    true. `selects`: further rule that selects it, from the values by parameter name.
    """

    option: str
    takes: str
    flags: str = ""
    selects: Callable[[Mapping[str, Any]], bool] = _never

    @property
    def parameters(self) -> set[str]:
        return {*self.takes.split(), *self.flags.split()}

    def is_selected(self, values: Mapping[str, Any]) -> bool:
        return any(values[flag] for flag in self.flags.split()) or self.selects(values)


class Jobs(click.Command):
    """Command with several jobs, the default first. Its function receives the parameters of the selected job and all
    `flags`. Other options on the command line raise UsageError. Help has a section per job for the options of that job
    alone."""

    def __init__(self, *args: Any, jobs: Sequence[Job], **more: Any) -> None:
        super().__init__(*args, **more)
        self.usual, *self.others = jobs
        self.flags = {flag for one in jobs for flag in one.flags.split()}

    def invoke(self, ctx: click.Context) -> Any:
        job = next((one for one in self.others if one.is_selected(ctx.params)), self.usual)
        for param in self._options(ctx):
            if param.name is None or param.name in job.parameters:
                continue
            if ctx.get_parameter_source(param.name) is ParameterSource.COMMANDLINE:
                raise click.UsageError(self._refusal(param, job), ctx)
            if param.name not in self.flags:
                ctx.params.pop(param.name, None)
        return super().invoke(ctx)

    def _refusal(self, param: click.Option, job: Job) -> str:
        name = max(param.opts, key=len)
        options = [one.option for one in self.others if param.name in one.parameters]
        if not options or param.name in self.flags:
            return f"{name} cannot be combined with {job.option}; leave one out."
        asking = " or ".join(options)
        if job is self.usual:
            return f"{name} needs {asking}; add that, or leave {name} out."
        return f"{name} needs {asking} and cannot be combined with {job.option}; leave one out."

    def format_options(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        sections: dict[str, list[tuple[str, str]]] = {"Options": []}
        for param in self._options(ctx):
            if record := param.get_help_record(ctx):
                sections.setdefault(self._section(param), []).append(record)
        for title, records in sections.items():
            with formatter.section(title):
                formatter.write_dl(records)

    def _section(self, param: click.Option) -> str:
        jobs = [one for one in (self.usual, *self.others) if param.name in one.parameters]
        alone = len(jobs) == 1 and jobs[0] is not self.usual and param.name not in self.flags
        return f"With {jobs[0].option}" if alone else "Options"

    def _options(self, ctx: click.Context) -> list[click.Option]:
        return [param for param in self.get_params(ctx) if isinstance(param, click.Option)]
