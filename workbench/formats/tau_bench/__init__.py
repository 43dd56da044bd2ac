"""tau-bench results: a list of `{task_id, reward, info, traj, trial}`, each with an OpenAI chat.

Every entry is a session, opened as a list of that one entry. Call ids repeat within an entry. Kinds are stored next to
a message's own keys, because the benchmark never sends its results again.

No usual place: the benchmark writes to the folder that the user names.
"""

from __future__ import annotations

from workbench.formats.format import Codec, Format
from workbench.formats.kit.values import dict_of
from workbench.formats.look import Look

ID = "tau-bench"
KEYS = frozenset(["info", "reward", "task_id", "traj", "trial"])


def recognise(look: Look) -> str:
    items = look.document
    first = dict_of(items[0]) if isinstance(items, list) and items else {}
    known = "task_id" in first and (isinstance(first.get("traj"), list) or {"reward", "info"} <= first.keys())
    return "a list of task_id and traj" if known else ""


def _codec() -> Codec:
    from workbench.formats.kit.marks import EXPORT_NOTE, in_document
    from workbench.formats.tau_bench import read, rules, write

    return Codec(
        read.Reader.read,
        write.write,
        rules.validate,
        sessions_in=read.Reader.sessions_in,
        read_part=read.Reader.read_part,
        note=in_document(EXPORT_NOTE, (0, "info")),
    )


FORMAT = Format(ID, "tau-bench results", recognise, _codec, api="openai-chat", keys=KEYS)
