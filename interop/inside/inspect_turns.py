"""inspect-ai: a log of an evaluation with one sample. None goes on from one; its messages are put to a new sample."""

from __future__ import annotations

import os
import shutil
import tempfile
from collections.abc import Sequence
from pathlib import Path

from inspect_ai import Task, eval
from inspect_ai.agent import react
from inspect_ai.dataset import Sample
from inspect_ai.log import read_eval_log
from inspect_ai.model import ChatMessage, ChatMessageUser, CompactionEdit, CompactionSummary, get_model
from inspect_ai.solver import Solver, generate, use_tools
from inspect_ai.tool import Tool, tool
from turns import main
from turns import read_file as reads

os.environ["INSPECT_DISPLAY"] = "none"
_WAYS = {"summary": CompactionSummary(threshold=3000), "edit": CompactionEdit(threshold=3000, keep_tool_uses=1)}
"""How the agent of a new log compacts, by a word in the file's name."""


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
            way = next((way for word, way in _WAYS.items() if word in file.name), None)
            agent = react(prompt="You keep the notes.", tools=[read_file()], submit=False, compaction=way)
            _evaluate(server, file, prompt, agent)
            continue
        (sample,) = read_eval_log(str(file)).samples or []
        said = [*sample.messages, ChatMessageUser(content=prompt)]
        _evaluate(server, file, said, [use_tools(read_file()), generate()])


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
