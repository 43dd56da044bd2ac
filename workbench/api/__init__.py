"""The workbench as Python calls. Names, units and errors are documented in docs/api.md; `workbench` itself offers them.

given.py        messages in whatever objects an agent has them, and the same objects back
pydantic_ai.py  those of pydantic-ai, which no format writes
asking.py       the caller's function that summarizes, and what it may give
results.py      what the calls give
compacting.py   compacting, awaited or not, and whether it is due
repairing.py    a repaired copy of a damaged session
audits.py       every session at once
sessions.py     looking at sessions, comparing, writing what was made
"""

from workbench.analysis.probes import Probe, Probing
from workbench.analysis.replay import Replay
from workbench.analysis.retention import Retention
from workbench.analysis.rework import Rework
from workbench.analysis.suggested_pins import SuggestedPin
from workbench.analysis.why.diagnosis import Diagnosis
from workbench.api.audits import audit
from workbench.api.compacting import acompact, compact, context, should_compact, summary
from workbench.api.repairing import repair
from workbench.api.results import Compacted, Due, Report
from workbench.api.sessions import compare, load, probe, replay, retention, rework, save, suggest_pins, watch, why
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
    "Probing",
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
