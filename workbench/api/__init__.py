"""The workbench as Python calls. Names, units and errors are documented in docs/api.md; `workbench` itself offers them.

sources.py      the caller's sessions and messages as input, and results as the same kinds of objects
summarize.py    the caller's function that summarizes
results.py      types of the results
compacting.py   compact, sync or async; should_compact
sessions.py     load, compare, assess, save and repair sessions; audit all of this machine
"""

from workbench.analysis.probes import Probe, ProbeResults
from workbench.analysis.replay import Replay
from workbench.analysis.retention import Retention
from workbench.analysis.rework import Rework
from workbench.analysis.suggested_pins import SuggestedPin
from workbench.analysis.why.diagnosis import Diagnosis
from workbench.api.compacting import acompact, compact, context, should_compact, summary
from workbench.api.results import Compacted, Due, Report
from workbench.api.sessions import (
    audit,
    compare,
    load,
    probe,
    repair,
    replay,
    retention,
    rework,
    save,
    suggest_pins,
    watch,
    why,
)
from workbench.auditing.audit import Audit
from workbench.auditing.rows import CompactionRow, SessionRow
from workbench.base.errors import BadInput
from workbench.bench import RuleState
from workbench.bench.assessment import Assessment
from workbench.compaction.context import Context
from workbench.formats.fixes import Branch, Fault, Fix
from workbench.repairs.engine import Repair
from workbench.session import Session

__all__ = [
    "Assessment",
    "Audit",
    "BadInput",
    "Branch",
    "Compacted",
    "CompactionRow",
    "Context",
    "Diagnosis",
    "Due",
    "Fault",
    "Fix",
    "Probe",
    "ProbeResults",
    "Repair",
    "Replay",
    "Report",
    "Retention",
    "Rework",
    "RuleState",
    "Session",
    "SessionRow",
    "SuggestedPin",
    "acompact",
    "audit",
    "compact",
    "compare",
    "context",
    "load",
    "probe",
    "repair",
    "replay",
    "retention",
    "rework",
    "save",
    "should_compact",
    "suggest_pins",
    "summary",
    "watch",
    "why",
]
