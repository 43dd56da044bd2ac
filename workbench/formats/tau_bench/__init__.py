"""tau-bench results: a list of `{task_id, reward, info, traj, trial}`, each with an OpenAI chat (formats.md §1).

Every entry is a session, opened as a list of that one entry. Call ids repeat within one (formats.md §2.5). Kinds are
noted beside a message's own keys: the benchmark reads its results, and never sends them again.
"""

from __future__ import annotations

from workbench.formats.format import Format
from workbench.formats.tau_bench.read import ID, read, read_part, recognise, sessions_in, write
from workbench.formats.tau_bench.rules import validate

FORMAT = Format(ID, "tau-bench results", recognise, read, write, validate, sessions_in=sessions_in, read_part=read_part)
