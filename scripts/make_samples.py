"""Write `sample_sessions/` from the stories in `scripts/samples/`.

    python scripts/make_samples.py [--out FOLDER]

The same stories give the same bytes on every machine; change a story, run this, and commit both. Where a README.md lies
beside the samples, the tokens in its table are written anew, which needs the workbench itself; the rest of the table is
written by hand.
"""

from __future__ import annotations

import argparse
import re
from pathlib import Path

from samples.adk import adk_session
from samples.ai_sdk import ai_sdk_chat
from samples.aider import aider_history
from samples.amp import amp_thread
from samples.anthropic import anthropic_body, anthropic_compacted
from samples.atif import atif_trajectory
from samples.augment_session import augment_session
from samples.bedrock import bedrock_log
from samples.capture import capture_lines
from samples.cline_sdk import cline_session
from samples.codex import codex_rollout
from samples.codex_exec import codex_exec_capture
from samples.copilot import copilot_events
from samples.cursor import cursor_transcript
from samples.data_sets import chat_lines, openai_lines, sharegpt_set
from samples.droid import droid_session
from samples.frameworks import autogen_team, letta_agent, smolagents_steps
from samples.gemini import gemini_session
from samples.gemini_body import gemini_body
from samples.goose import goose_session
from samples.inspect_log import inspect_compacted, inspect_log
from samples.kimi import kimi_journal
from samples.langchain import langchain_messages
from samples.openai_chat import chat_session
from samples.opencode import opencode_session
from samples.openhands import openhands_conversation
from samples.overflow import overflowing_session
from samples.pi import pi_session
from samples.pydantic_ai import pydantic_ai_run
from samples.qwen_code import qwen_code_session
from samples.responses import responses_body
from samples.roo_cline import roo_task
from samples.tau_bench import tau_results
from samples.traces import langfuse_trace, langsmith_runs, otel_trace
from samples.trajectories import mini_trajectory, swe_trajectory
from samples.zed import zed_thread

SAMPLES = {
    "claude-code-overflow.jsonl": overflowing_session,
    "augment-with-summary.json": augment_session,
    "openai-chat-tools.json": chat_session,
    "codex-two-compactions.jsonl": codex_rollout,
    "gemini-rewind-and-compression.jsonl": gemini_session,
    "qwen-code-dyehouse.jsonl": qwen_code_session,
    "pi-branches.jsonl": pi_session,
    "copilot-background-compaction.jsonl": copilot_events,
    "kimi-buoys.jsonl": kimi_journal,
    "droid-anchor.jsonl": droid_session,
    "goose-hidden.json": goose_session,
    "zed-mention.json": zed_thread,
    "cursor-transcript.jsonl": cursor_transcript,
    "opencode-pruned.json": opencode_session,
    "roo-window.json": roo_task,
    "cline-sdk-summary.messages.json": cline_session,
    "mini-swe-agent-one-grep.traj.json": mini_trajectory,
    "swe-agent-demo.traj": swe_trajectory,
    "openhands-forgotten.json": openhands_conversation,
    "openai-responses-compacted.json": responses_body,
    "adk-hidden-hour.json": adk_session,
    "langchain-summary.json": langchain_messages,
    "atif-handover.json": atif_trajectory,
    "inspect-two-samples.json": inspect_log,
    "inspect-compacted.json": inspect_compacted,
    "tau-bench-two-sessions.json": tau_results,
    "amp-bells.json": amp_thread,
    "capture-ferry.jsonl": capture_lines,
    "sharegpt-pass.json": sharegpt_set,
    "openai-examples.jsonl": openai_lines,
    "chat-wind.jsonl": chat_lines,
    "letta-florist.af": letta_agent,
    "smolagents-well.json": smolagents_steps,
    "autogen-cellar.json": autogen_team,
    "aider-two-days.md": aider_history,
    "codex-exec-lamp.jsonl": codex_exec_capture,
    "bedrock-ferry.json": bedrock_log,
    "ai-sdk-hens.json": ai_sdk_chat,
    "pydantic-ai-seeds.json": pydantic_ai_run,
    "gemini-body-tide.json": gemini_body,
    "otel-ferry.json": otel_trace,
    "langfuse-loaf.json": langfuse_trace,
    "langsmith-frost.jsonl": langsmith_runs,
    "anthropic-cut-pair.json": anthropic_body,
    "anthropic-compacted.json": anthropic_compacted,
}

ROW = re.compile(r"(\| `([^`]+)` \|[^|\n]*\|[^|\n]*\|)[^|\n]*(\|[^|\n]*\|)")
"""A row of the README's table: file, format, lesson; tokens; what to try."""


def with_tokens(readme: str, folder: Path) -> str:
    """The README with the tokens of each sample's newest context, as `cwb inspect` gives them."""
    from workbench.base.figures import grouped
    from workbench.bench import open_bench, with_counts
    from workbench.formats.files import load
    from workbench.tokens import Counter

    def row(found: re.Match[str]) -> str:
        session = load(folder / found[2])
        counter = Counter()
        bench = open_bench(session, counter, epoch=len(session.epochs))
        counter.count_all(bench.messages, lambda done, total: None, lambda: False)
        return f"{found[1]} {grouped(with_counts(bench, counter).context.total.tokens)} {found[3]}"

    return ROW.sub(row, readme)


def main() -> None:
    parser = argparse.ArgumentParser(description="Write the sample sessions.")
    parser.add_argument("--out", type=Path, default=Path(__file__).resolve().parent.parent / "sample_sessions")
    out: Path = parser.parse_args().out
    out.mkdir(parents=True, exist_ok=True)
    for name, make in SAMPLES.items():
        text = make()
        (out / name).write_text(text, encoding="utf-8", newline="\n")
        print(f"{out / name}: {len(text.encode()):,} bytes")
    readme = out / "README.md"
    if readme.exists():
        readme.write_text(with_tokens(readme.read_text(encoding="utf-8"), out), encoding="utf-8", newline="\n")


if __name__ == "__main__":
    main()
