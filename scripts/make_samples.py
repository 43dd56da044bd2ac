"""Write `sample_sessions/` from the stories in `scripts/samples/`.

    python scripts/make_samples.py [--out FOLDER]

Needs nothing but Python. The same stories give the same bytes on every machine; change a story, run this, and commit
both. The table of `sample_sessions/README.md` is written by hand.
"""

from __future__ import annotations

import argparse
from pathlib import Path

from samples.augment_session import augment_session
from samples.openai_chat import chat_session
from samples.overflow import overflowing_session

SAMPLES = {
    "claude-code-overflow.jsonl": overflowing_session,
    "augment-with-summary.json": augment_session,
    "openai-chat-tools.json": chat_session,
}


def main() -> None:
    parser = argparse.ArgumentParser(description="Write the sample sessions.")
    parser.add_argument("--out", type=Path, default=Path(__file__).resolve().parent.parent / "sample_sessions")
    out: Path = parser.parse_args().out
    out.mkdir(parents=True, exist_ok=True)
    for name, make in SAMPLES.items():
        text = make()
        (out / name).write_text(text, encoding="utf-8", newline="\n")
        print(f"{out / name}: {len(text.encode()):,} bytes")


if __name__ == "__main__":
    main()
