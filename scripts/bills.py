"""How many recorded bills the contexts shown explain: by file, and by format.

    python scripts/bills.py FOLDER [FOLDER …] [--gaps]

Every session found is read, every epoch of it judged (workbench/analysis/usage_check.py). A share that falls after a
change to a reader says that the change shows other contexts than were sent. `--gaps` names each call at which the bills
cease to be explained.
"""

from __future__ import annotations

import argparse
from collections.abc import Iterator
from pathlib import Path

from workbench.analysis.usage_check import check_usage
from workbench.base import paths
from workbench.base.errors import BadInput
from workbench.formats.files import load, parts_of
from workbench.session import Session
from workbench.tokens import Counter
from workbench.tokens.cache import CountCache


def sessions_in(folder: Path) -> Iterator[tuple[Path, str, Session | None]]:
    """Every file and folder below that is a session, each part of it; None for a file that is refused."""
    for path in sorted(folder.iterdir()) if folder.is_dir() else [folder]:
        try:
            parts = [part.id for part in parts_of(path)] if path.is_file() else []
            for part in parts if len(parts) > 1 else [""]:
                yield path, part, load(path, part=part)
        except BadInput:
            if path.is_dir() and path != folder:
                yield from sessions_in(path)
            else:
                yield path, "", None


def main() -> None:
    asked = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    asked.add_argument("folders", nargs="+", type=Path)
    asked.add_argument("--gaps", action="store_true", help="name each call at which the bills cease to be explained")
    given = asked.parse_args()
    counter = Counter(CountCache(paths.token_counts()))
    formats: dict[str, list[int]] = {}
    refused = []
    for folder in given.folders:
        for path, part, session in sessions_in(folder):
            if session is None:
                refused.append(path)
                continue
            found = check_usage(session, counter)
            figures = (1, len(found.calls), found.judged, found.judged - len(found.unexplained), len(found.gaps))
            sums = formats.get(session.format, [0] * len(figures))
            formats[session.format] = [a + b for a, b in zip(sums, figures, strict=True)]
            if found.judged:
                print(f"{figures[3]:6} of {figures[2]:5}  {path} {part}")
            for gap in found.gaps if given.gaps else ():
                print(f"{'':17}{gap}")
    formats["all"] = [sum(column) for column in zip(*formats.values(), strict=True)] if formats else [0] * 5
    print(f"\n{'format':20} sessions   calls  judged  explained      %  gaps")
    for name, (count, calls, judged, explained, gaps) in sorted(formats.items(), key=lambda one: one[0] == "all"):
        share = f"{100 * explained / judged:.1f}" if judged else ""
        print(f"{name:20} {count:8} {calls:7} {judged:7} {explained:10} {share:>6} {gaps:5}")
    print(f"\nrefused: {len(refused)}", *refused, sep="\n  ")


if __name__ == "__main__":
    main()
