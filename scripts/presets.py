"""Whether each tool's preset does what the tool did: every recorded compaction beside the preset's own.

    python scripts/presets.py FOLDER [FOLDER …]

A compaction agrees where the preset fires at the same call, or the one beside it, and keeps just the messages that the
agent kept (workbench/analysis/preset_check.py). What a person asked for is judged by what is kept alone. One that does
not agree is explained where the file, or what is known of the version that wrote it, gives the reason.
"""

from __future__ import annotations

import argparse
from collections import Counter as Tally
from pathlib import Path
from typing import get_args

from bills import sessions_in

from workbench.analysis.course import course_messages
from workbench.analysis.preset_check import PresetCheck, PresetVerdict, check_preset
from workbench.base import paths
from workbench.base.tables import Row, Table, columns
from workbench.cli.output import write_tables
from workbench.compaction.preset import agent_preset_id, load_preset, preset_for_version
from workbench.tokens import Counter
from workbench.tokens.cache import CountCache

SPEC = "file preset epoch:count compacted at_call:count fires:count kept:count preset_keeps:count verdict because"


def main() -> None:
    asked = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    asked.add_argument("folders", nargs="+", type=Path)
    counter = Counter(CountCache(paths.token_counts()))
    rows, found = [], []
    for folder in asked.parse_args().folders:
        for path, _, session in sessions_in(folder):
            name = session and agent_preset_id(session)
            if not session or not name or len(session.epochs) == 1:
                continue
            counter.count_all(course_messages(session), lambda done, total: None, lambda: False)
            judged = list(check_preset(session, counter, load_preset(name)))
            preset = preset_for_version(load_preset(name), session).name
            rows += [row(path, preset, one) for one in judged]
            found += judged
    write_tables([Table("presets", "", columns(SPEC), tuple(rows))])
    unasked = [one.same_call for one in found if one.cause != "manual"]
    print(f"\nfires at the recorded call: {sum(unasked)} of {len(unasked)} not asked for by hand")
    print(f"keeps the recorded messages: {sum(one.same_messages for one in found)} of {len(found)}")
    verdicts = Tally(one.verdict for one in found)
    print(", ".join(f"{verdict}: {verdicts[verdict]}" for verdict in get_args(PresetVerdict)), f"of {len(found)}")


def row(path: Path, preset: str, one: PresetCheck) -> Row:
    because = one.reason if one.verdict == "explained" else one.difference
    figures = (one.call, one.fires, len(one.kept_by_agent), len(one.kept_by_preset), one.verdict, because)
    return Row((path.name, preset, one.epoch, one.cause, *figures))


if __name__ == "__main__":
    main()
