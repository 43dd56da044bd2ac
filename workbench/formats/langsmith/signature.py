"""Recognise LangSmith runs."""

from __future__ import annotations

from workbench.formats.kit.values import dict_of, list_of
from workbench.formats.look import Look

ID = "langsmith"
KEYS = frozenset(["child_runs", "inputs", "outputs", "parent_run_id", "run_type", "trace_id"])


def recognise(look: Look) -> str:
    document = look.document if look.document is not None else look.first
    candidates = [document, *list_of(document), *list_of(dict_of(document).get("runs"))]
    return (
        "runs with run_type and inputs"
        if any({"run_type", "inputs"} <= dict_of(one).keys() for one in candidates)
        else ""
    )
