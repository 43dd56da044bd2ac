"""Probes: questions with exact answers about a context, answered from the full context, from each compaction of it, and
without a context."""

from workbench.analysis.probes.exam import FULL, NOTHING, Arm, Exam, arm_contexts
from workbench.analysis.probes.generation import MOST, probes_of
from workbench.analysis.probes.lookup import with_sources
from workbench.analysis.probes.probe import Probe, ProbeKind, probes_path, read_probes, write_probes
from workbench.analysis.probes.results import LOOKED_UP, ProbeAnswer, ProbeResults, ProbeTotals, graded, looked_up

__all__ = [
    "FULL",
    "LOOKED_UP",
    "MOST",
    "NOTHING",
    "Arm",
    "Exam",
    "Probe",
    "ProbeAnswer",
    "ProbeKind",
    "ProbeResults",
    "ProbeTotals",
    "arm_contexts",
    "graded",
    "looked_up",
    "probes_of",
    "probes_path",
    "read_probes",
    "with_sources",
    "write_probes",
]
