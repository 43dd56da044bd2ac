"""inspect-ai: a log of an evaluation with one sample. None goes on from one; its messages are put to a new sample.

Of a run that compacted, these are what its last call was sent and answered, which its events tell; where an export says
that the events are those of the run before, they are the sample's.
"""

from __future__ import annotations

import os
import shutil
import tempfile
from collections.abc import Sequence
from pathlib import Path

from inspect_ai import Task, eval
from inspect_ai.agent import react
from inspect_ai.dataset import Sample
from inspect_ai.event import CompactionEvent, ModelEvent
from inspect_ai.log import EvalSample, read_eval_log
from inspect_ai.model import ChatMessage, ChatMessageUser, CompactionEdit, CompactionSummary, get_model
from inspect_ai.solver import Solver, generate, use_tools
from inspect_ai.tool import Tool, tool
from turns import main
from turns import read_file as reads

os.environ["INSPECT_DISPLAY"] = "none"
_WAYS = {"summary": CompactionSummary(threshold=3000), "edit": CompactionEdit(threshold=3000, keep_tool_uses=0)}
"""How the agent of a new log compacts, by what $COMPACT says."""
_SPENT = "workbench_spent"


@tool
def read_file() -> Tool:
    async def execute(path: str) -> str:
        """Reads a file.

        Args:
            path: The file's name.
        """
        return reads(path)

    return execute


def _turns(server: str, file: Path, prompts: Sequence[str]) -> None:
    for prompt in prompts:
        if not file.exists():
            way = _WAYS.get(os.environ.get("COMPACT", ""))
            agent = react(prompt="You keep the notes.", tools=[read_file()], submit=False, compaction=way)
            _evaluate(server, file, prompt, agent)
            continue
        (sample,) = read_eval_log(str(file), resolve_attachments=True).samples or []
        said = [*_messages(sample), ChatMessageUser(content=prompt)]
        _evaluate(server, file, said, [use_tools(read_file()), generate()])


def _messages(sample: EvalSample) -> list[ChatMessage]:
    calls = [event for event in sample.events if isinstance(event, ModelEvent)]
    compacted = any(isinstance(event, CompactionEvent) for event in sample.events)
    if not compacted or _SPENT in sample.metadata or not calls[-1].output.choices:
        return sample.messages
    return [*calls[-1].input, calls[-1].output.message]


def _evaluate(server: str, file: Path, given: str | list[ChatMessage], solver: Solver | list[Solver]) -> None:
    """Writes the log of one sample, in the form that the file's suffix names."""
    model = get_model("anthropic/claude-sonnet-4-5", base_url=server, api_key="dummy", memoize=False)
    with tempfile.TemporaryDirectory() as folder:
        form = "eval" if file.suffix == ".eval" else "json"
        task = Task(dataset=[Sample(input=given, target="8443")], solver=solver, message_limit=100_000)
        log = eval(task, model=model, log_format=form, log_dir=folder, display="none")[0]
        if log.error:
            raise RuntimeError(log.error.message)
        shutil.copyfile(log.location, file)


if __name__ == "__main__":
    main(_turns)
