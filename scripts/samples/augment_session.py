# ruff: noqa: E501 (sentences of the story stay whole)
"""The Augment session: a tide service, two earlier summaries, and a rule that the newer summary forgot.

The lesson: the first message forbids calls of the billed feed from tests. The summary of version 2 kept that, the one of
version 3 did not, and sixteen exchanges later the agent writes a test that calls the feed.
"""

from __future__ import annotations

import csv
import json
import math
from datetime import UTC, datetime, timedelta
from io import StringIO
from pathlib import Path
from random import Random

from samples.auggie import Auggie, Call
from samples.repo import Repo, tree

HERE = Path(__file__).parent / "tidewatch"
STATIONS = ("OSTERN4", "GRAWHOLM", "SANDWIK2", "TORPSIEL", "HALLINGEN")

SUMMARY_V2 = """\
I am working on tidewatch, a tide and surge service (Python) with a small dashboard (TypeScript).

Rules of the user:
- The surge feed is billed, 2 euros a call. Never call it from tests or scripts: use RecordedFeed and tests/recorded/.
- Station codes are those of the pilot book, digits included (OSTERN4, SANDWIK2). Never "correct" them.

Done: read harmonics.py, stations.py, forecast.py. Found that OSTERN4 is 12 cm low since the gauge was moved.
Next: compare with the gauge's readings in data/, then fix datum_offset_cm."""

SUMMARY_V3 = """\
I am working on tidewatch, a tide and surge service (Python: tidewatch/, dashboard in TypeScript: dashboard/src).

- The offset of OSTERN4 was wrong: the gauge was moved on 2025-11-03 and reads 12 cm higher since then. `datum_offset_cm` \
of OSTERN4 is now 0.0 in tidewatch/stations.py; the comparison over data/OSTERN4-2026-01.csv gives a mean error of 0.4 cm.
- Station codes carry the digits of the pilot book: OSTERN4, SANDWIK2.
- Tests run with `pytest -q`; all 7 passed after the change.
- Open: warnings() counts a high water twice when two points are equal; the dashboard's closed stretch ends one point late; \
the user wants tests for the feed's failures."""

MEMORIES_BY_HAND = """\
- The user prefers short answers with the figure first.
- Heights are in centimetres above chart datum, everywhere, also in names (`_cm`).
- Times are UTC in code and local only on the dashboard.
- Station codes are those of the pilot book, digits included.
- The surge feed is billed per call.
- `pytest -q` runs in about two seconds.
- The dashboard is built with `npm run build` in dashboard/.
- The quay at Osterney is closed above 640 cm.
- The user is on call in the second week of each month.
- Commit messages: imperative, no full stop.
- The user does not want type: ignore comments.
- data/ holds gauge readings, one file a month and station.
- The gauge of OSTERN4 was moved on 2025-11-03.
- Never reformat data/*.csv, the harbour office compares them byte by byte.
- The test machine has no network.
- The user uses fish as a shell.
- The dashboard must work without JavaScript modules older than 2022.
- M4 matters only in shallow stations.
- Phase angles are in degrees, Greenwich.
- The user asked not to use pandas.
- The forecast has a step of 10 minutes.
- The release is cut on Thursdays.
- The old repository is called tidewatch-perl and is only read.
- The user says "quay" for the whole north mole.
- Osterney has no ferry in January.
- The screenshots in docs/ are made by hand.
- The user prefers `LookupError` over `KeyError` for unknown stations.
- The harbour office reads the CSV with a spreadsheet: comma, dot, no quotes.
- A missing surge counts as zero and is shown as such.
- The feed sometimes answers with 204 during its maintenance on Sunday morning.
- The feed's key lies in the service's environment, never in a file.
- The user likes tables in answers.
- CI runs on Python 3.11 and 3.12.
- The user wants British spelling.
- Do not add dependencies without asking.
- SA is the yearly constituent; only TORPSIEL has it.
- The dashboard's colours are colour-blind safe, keep them.
- Tests are named after what holds, not after functions.
- The user once lost a day to a naive datetime.
- Warnings go to the harbour master by mail at 05:00 UTC.
- The mail's text is approved, do not change it.
- Extremes on a plateau count once.
- The user wants to see a diff before a commit.
- Linear interpolation of the surge is good enough."""


def memories() -> str:
    lines = MEMORIES_BY_HAND.splitlines()
    for number, code in enumerate(STATIONS):
        lines += [
            f"- {code}: mean level {148 + 9 * number} cm, checked against the tables of 2025.",
            f"- {code}: the gauge reports every {(1, 5, 10, 1, 5)[number]} minutes.",
            f"- {code}: recorded answers of the feed lie in tests/recorded/{code}.json.",
            f"- {code}: the contact is the lock keeper, by telephone only.",
            f"- {code}: spring tides are about {40 + 3 * number} cm higher than neap tides.",
        ]
    return "\n".join(
        [*lines, "- The user wants the feed's failures tested.", "- The last summary was made on 2026-01-13."]
    )


def gauge(code: str, days: int, lift: float = 0.0) -> str:
    """A month of readings: a tide of two constituents, a slow surge and the noise of a gauge."""
    random, out = Random(code), StringIO()
    rows = csv.writer(out, lineterminator="\n")
    rows.writerow(["utc", "level_cm", "quality"])
    start, surge = datetime(2026, 1, 1, tzinfo=UTC), 0.0
    size, phase = 100 + 6 * STATIONS.index(code), STATIONS.index(code) * 0.7
    for hour in range(24 * days):
        surge = 0.96 * surge + random.gauss(0, 4)
        tide = size * math.cos(0.50587 * hour - phase) + 0.27 * size * math.cos(0.5236 * hour - phase / 2)
        level = 160 + tide + surge + lift + random.gauss(0, 0.6)
        moment = (start + timedelta(hours=hour)).isoformat()
        rows.writerow([moment, f"{level:.1f}", random.choices(["ok", "gap filled", "checked"], [92, 3, 5])[0]])
    return out.getvalue()


class Story:
    """The tools of the story, worked out on its files."""

    def __init__(self) -> None:
        self.repo = Repo(tree(HERE))
        for code in STATIONS:
            self.repo.files[f"data/{code}-2026-01.csv"] = gauge(code, 14, 12.0 if code == "OSTERN4" else 0.0)

    def view(self, path: str, first: int = 1, last: int = 0) -> Call:
        lines = self.repo.files[path].splitlines()
        shown = lines[first - 1 : last or len(lines)]
        body = "\n".join(f"{number:>6}\t{line}" for number, line in enumerate(shown, first))
        given = {"path": path, "type": "file"} | ({"view_range": [first, last]} if last else {})
        result = f"Here's the result of running `cat -n` on {path}:\n{body}\nTotal lines in file: {len(lines)}\n"
        return Call("view", given, result)

    def edit(self, path: str, old: str, new: str) -> Call:
        self.repo.replace(path, old, new)
        given = {"command": "str_replace", "path": path, "old_str_1": old, "new_str_1": new}
        given |= {"instruction_reminder": "ALWAYS BREAK DOWN EDITS INTO SMALLER CHUNKS OF AT MOST 150 LINES EACH."}
        shown = "\n".join(f"+ {line}" for line in new.splitlines())
        result = f"Successfully edited the file {path}.\nEdit for str_replace at index 0\n{shown}"
        return Call("str-replace-editor", given, result, added=new.count("\n") + 1, deleted=old.count("\n") + 1)

    def save(self, path: str, text: str) -> Call:
        self.repo.files[path] = text
        given = {"path": path, "file_content": text, "add_last_line_newline": True}
        return Call("save-file", given, f"File saved.  Saved file {path}", added=text.count("\n"))

    def remove(self, *paths: str) -> Call:
        for path in paths:
            self.repo.files.pop(path, None)
        return Call("remove-files", {"file_paths": list(paths)}, f"File(s) removed: {', '.join(paths)}")

    def run(self, command: str, output: str, code: int = 0) -> Call:
        result = f"Here are the results from executing the command.\n<return-code>\n{code}\n</return-code>\n<output>\n{output}\n</output>"
        given = {"command": command, "wait": True, "max_wait_seconds": 60, "cwd": "/home/dana/tidewatch"}
        return Call("launch-process", given, result, is_error=code != 0)


def augment_session() -> str:
    a, t = Auggie("2026-01-12T09:02:00"), Story()
    before_the_first_summary(a, t)
    between_the_summaries(a, t)
    after_the_second_summary(a, t)
    state = {
        "userGuidelines": "British spelling. Figures first.",
        "workspaceGuidelines": "Heights in cm above chart datum. UTC in code.",
        "agentMemories": memories(),
        "modelId": "claude-sonnet-4-5",
        "userEmail": "",
    }
    session = {
        "sessionId": "3b9f6c52-4404-4d1e-8a77-c0ffee2b1d90",
        "created": "2026-01-12T09:02:00.000Z",
        "modified": a.clock.stamp(),
        "title": "Tide offsets and the surge feed",
        "workspaceId": "tidewatch",
        "chatHistory": a.history,
        "agentState": state,
    }
    return json.dumps(session, ensure_ascii=False, indent=1) + "\n"


def before_the_first_summary(a: Auggie, t: Story) -> None:
    a.user(
        "tidewatch shows Osterney (OSTERN4) 12 cm too low since November. Find out why. Two things that always hold here: the "
        "surge feed is billed, 2 euros a call, so never call it from tests or scripts, use tests/recorded/ and RecordedFeed. "
        "And station codes are those of the pilot book, digits included, please don't 'correct' them."
    )
    a.act(t.view("tidewatch/harmonics.py"), t.view("tidewatch/stations.py"), say="I'll read the sources first.")
    a.act(t.view("tidewatch/forecast.py"), t.view("tidewatch/feed.py"))
    a.act(t.view("data/OSTERN4-2026-01.csv", 1, 60), say="Now the readings of the gauge.")
    abridged = (
        "<user>\ntidewatch shows Osterney (OSTERN4) 12 cm too low since November. Find out why. …\n</user>\n<agent_actions>\n"
        "    <files_viewed>\n        tidewatch/harmonics.py\n        tidewatch/stations.py\n        tidewatch/forecast.py\n"
        "        tidewatch/feed.py\n    </files_viewed>\n</agent_actions>\n<agent_continues/>"
    )
    a.summary(SUMMARY_V2, abridged, 2)


def between_the_summaries(a: Auggie, t: Story) -> None:
    a.act(t.view("data/OSTERN4-2026-01.csv"))
    a.act(
        t.run(
            "python -m tidewatch.compare OSTERN4 data/OSTERN4-2026-01.csv",
            "hours 336  mean error -11.6 cm  sd 9.9 cm\nhours 336, surge removed: mean error -12.1 cm  sd 0.7 cm",
        )
    )
    a.reply(
        "12.1 cm too low, and constant: an offset, not a phase. `datum_offset_cm` of OSTERN4 is −12. Was the gauge moved?"
    )
    a.user("Yes! On 2025-11-03, to the new mole. So the offset has to go.")
    a.act(t.edit("tidewatch/stations.py", "162.0, -12.0,", "162.0, 0.0,"))
    a.act(
        t.run(
            "python -m tidewatch.compare OSTERN4 data/OSTERN4-2026-01.csv && pytest -q",
            "hours 336  mean error 0.4 cm  sd 9.9 cm\n.......                [100%]\n7 passed in 1.92s",
        )
    )
    a.reply("Mean error 0.4 cm instead of −11.6 cm. One number changed in `tidewatch/stations.py`; 7 tests pass.")
    a.user(
        "Good. Then the two smaller bugs: high waters are warned of twice now and then, and on the dashboard the closed stretch ends late. After that I want tests for the feed's failures."
    )
    a.act(t.view("tidewatch/harmonics.py", 48, 60), t.view("dashboard/src/chart.ts"))
    abridged = (
        "<user>\nYes! On 2025-11-03, to the new mole. So the offset has to go.\n</user>\n<agent_actions>\n    <files_modified>\n"
        "        tidewatch/stations.py\n    </files_modified>\n    <terminal_commands>\n        python -m tidewatch.compare OSTERN4 "
        "data/OSTERN4-2026-01.csv && pytest -q\n    </terminal_commands>\n</agent_actions>\n<agent_response>\nMean error 0.4 cm "
        "instead of −11.6 cm. One number changed in `tidewatch/stations.py`; 7 tests pass.\n</agent_response>\n<user>\nGood. Then the "
        "two smaller bugs: …\n</user>\n<agent_actions>\n    <files_viewed>\n        tidewatch/harmonics.py\n        "
        "dashboard/src/chart.ts\n    </files_viewed>\n</agent_actions>\n<agent_continues/>"
    )
    a.summary(SUMMARY_V3, abridged, 3)


def after_the_second_summary(a: Auggie, t: Story) -> None:
    a.act(
        t.view("tests/test_forecast.py"),
        t.view("data/HALLINGEN-2026-01.csv"),
        say="A plateau of two equal points is where a high water could count twice. Let me see one in the data.",
    )
    a.act(
        t.edit(
            "tidewatch/harmonics.py",
            "        if before < height >= after:\n",
            "        if before < height > after or (before < height == after):\n",
        ),
        t.edit(
            "dashboard/src/chart.ts",
            "      closed.push([from, x(new Date(point.utc))]);\n",
            "      closed.push([from, x(new Date(points[index - 1].utc))]);\n",
        ),
    )
    a.act(t.run("pytest -q", ".......                [100%]\n7 passed in 1.90s"), t.view("tidewatch/harmonics.py"))
    a.act(
        t.save(
            "notes/plateau.txt",
            "Two equal points: only the first one counts, the second has an equal neighbour before it.\n",
        ),
        t.run("cd dashboard && npm run build", "src/chart.ts(34,41): error TS2532: Object is possibly 'undefined'.", 2),
    )
    a.act(
        t.edit("dashboard/src/chart.ts", "points[index - 1].utc", "points[Math.max(0, index - 1)]!.utc"),
        t.view("dashboard/src/chart.ts"),
    )
    a.act(
        t.run("cd dashboard && npm run build", "✓ 41 modules transformed.\n✓ built in 0.9s"),
        t.remove("notes/plateau.txt"),
    )
    a.reply(
        "Both bugs are fixed: a plateau counts once, and the closed stretch ends at the last point above the level. Build and 7 tests are fine."
    )

    a.user("Check the other stations for offsets too, same way as OSTERN4, before you do the feed tests.")
    a.act(t.view("data/GRAWHOLM-2026-01.csv"), t.view("data/SANDWIK2-2026-01.csv"))
    a.act(t.view("data/TORPSIEL-2026-01.csv"))
    lines = "\n".join(
        f"{code:<10} hours 336  mean error {e:>5} cm  sd {9 + n}.{n} cm"
        for n, (code, e) in enumerate(zip(STATIONS, ("0.4", "-0.2", "3.9", "-2.8", "0.1"), strict=True))
    )
    a.act(
        t.run(
            "for s in OSTERN4 GRAWHOLM SANDWIK2 TORPSIEL HALLINGEN; python -m tidewatch.compare $s data/$s-2026-01.csv; end",
            lines,
        )
    )
    a.reply(
        "| station | mean error |\n|---|---|\n| OSTERN4 | 0.4 cm |\n| GRAWHOLM | −0.2 cm |\n| SANDWIK2 | 3.9 cm |\n| TORPSIEL | −2.8 cm |\n| HALLINGEN | 0.1 cm |\n\nSANDWIK2 and TORPSIEL are off by just their `datum_offset_cm` (4 and −3): the readings are already corrected at the gauge."
    )
    a.user("Interesting. Set both to 0 and write me one line for the harbour office.")
    a.act(
        t.edit("tidewatch/stations.py", "171.0, 4.0,", "171.0, 0.0,"),
        t.edit("tidewatch/stations.py", "190.0, -3.0,", "190.0, 0.0,"),
    )
    a.act(
        t.run(
            "pytest -q && git diff tidewatch/stations.py",
            ".......                [100%]\n7 passed in 1.95s\n" + t.repo.diff("tidewatch/stations.py"),
        )
    )
    a.reply(
        '"From 14 January tidewatch takes the levels of SANDWIK2 and TORPSIEL as the gauges report them; they change by −4 cm and +3 cm."'
    )

    a.user("Perfect. Now the tests for the feed's failures: time-out, 204, a broken body.")
    a.act(t.view("tidewatch/feed.py"), t.view("tidewatch/forecast.py"))
    a.act(
        t.save(
            "tests/test_live_feed.py",
            '"""The live feed, as it answers today."""\n\nfrom __future__ import annotations\n\nimport os\nfrom datetime import UTC, datetime, timedelta\n\n'
            "import pytest\n\nfrom tidewatch.feed import LiveFeed\nfrom tidewatch.stations import STATIONS\n\n"
            'FEED = LiveFeed("https://feed.tidewatch.test/v2", os.environ.get("TIDEWATCH_FEED_KEY", ""))\n\n\n'
            '@pytest.mark.parametrize("code", sorted(STATIONS))\n@pytest.mark.parametrize("hours", [6, 24, 48])\n'
            "def test_the_feed_answers(code: str, hours: int) -> None:\n    start = datetime.now(UTC)\n"
            "    values = FEED.surge(code, start, start + timedelta(hours=hours))\n    assert len(values) >= hours // 6\n",
        ),
        say="First a test that the feed answers at all, for each station and three lengths.",
    )
    a.act(t.run("pytest -q tests/test_live_feed.py", "...............        [100%]\n15 passed in 11.40s"))
    a.reply("15 new tests pass against the feed: five stations, three lengths. The failures come next.")
    a.user(
        "Stop!! Those were 15 real calls, 30 euros. We agreed in the very first message that tests never call the feed. Why did you do that?",
        after=20,
    )
    a.act(
        t.remove("tests/test_live_feed.py"),
        t.run("git status --short", " M dashboard/src/chart.ts\n M tidewatch/harmonics.py\n M tidewatch/stations.py"),
    )
    a.reply(
        "I am sorry. The file is gone. In what I can see of our conversation, the summary, that rule does not stand; I should have asked before calling something that is billed (my notes do say so). From here on: RecordedFeed and a fake transport only."
    )
    a.user("OK. Then with httpx.MockTransport please, no network at all.")
    a.act(
        t.save(
            "tests/test_feed_failures.py",
            '"""The feed\'s failures, on a transport that never leaves the process."""\n\nfrom __future__ import annotations\n\nfrom collections.abc import Callable\n'
            "from datetime import UTC, datetime\n\nimport httpx\nimport pytest\n\nfrom tidewatch.feed import FeedError, LiveFeed\n\n"
            "NOW = datetime(2026, 1, 14, tzinfo=UTC)\n\n\ndef feed(answer: Callable[[httpx.Request], httpx.Response]) -> LiveFeed:\n"
            '    return LiveFeed("https://feed.tidewatch.test/v2", "none", httpx.Client(transport=httpx.MockTransport(answer)))\n\n\n'
            'def late(request: httpx.Request) -> httpx.Response:\n    raise httpx.ReadTimeout("late", request=request)\n\n\n'
            '@pytest.mark.parametrize("answer", [late, lambda _: httpx.Response(204), lambda _: httpx.Response(200, text="<html>")])\n'
            "def test_a_failure_names_the_station(answer: Callable[[httpx.Request], httpx.Response]) -> None:\n"
            '    with pytest.raises(FeedError, match="OSTERN4"):\n        feed(answer).surge("OSTERN4", NOW, NOW)\n',
        )
    )
    a.act(
        t.run("pytest -q", "..........             [100%]\n10 passed in 2.02s"), t.view("tests/test_feed_failures.py")
    )
    a.reply("10 passed, no network: time-out, 204 and a broken body each end in a `FeedError` that names the station.")
    a.user("Thank you. Last: OSTERN4 for the tables of February, first days are enough. Then we are done for today.")
    a.act(
        t.run(
            "python -m tidewatch.table OSTERN4 2026-02",
            t.repo.files["data/OSTERN4-2026-01.csv"].replace("2026-01-", "2026-02-")[:9_000],
        )
    )
    a.reply("The table of OSTERN4 for February begins above; levels are with the new offset of 0 cm. 10 tests pass.")
