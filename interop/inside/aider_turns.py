"""aider: what `aider --restore-chat-history --message PROMPT` does, for many histories in one process."""

from __future__ import annotations

import os
from collections.abc import Sequence
from pathlib import Path

from aider.coders import Coder
from aider.io import InputOutput
from aider.models import Model
from turns import main


def _turns(server: str, file: Path, prompts: Sequence[str]) -> None:
    os.environ["OPENAI_API_BASE"] = f"{server}/v1"
    model = Model("openai/gpt-4o")
    model.max_chat_history_tokens = 10_000_000  # nothing is summarised before it is sent
    io = InputOutput(yes=True, pretty=False, fancy_input=False, chat_history_file=str(file))
    coder = Coder.create(main_model=model, io=io, use_git=False, stream=False, map_tokens=0, restore_chat_history=True)
    for prompt in prompts:
        coder.run(with_message=prompt, preproc=False)


if __name__ == "__main__":
    main(_turns)
