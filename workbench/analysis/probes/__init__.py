"""Probes: questions with exact answers about what a context says, put to it whole, compacted, and not at all."""

from workbench.analysis.probes.asked import FULL, NOTHING, Arm, Exam, sources_of
from workbench.analysis.probes.graded import LOOKED_UP, Given, Probing, graded, looked_up
from workbench.analysis.probes.lookup import sourced
from workbench.analysis.probes.made import MOST, probes_of
from workbench.analysis.probes.probe import Probe, ProbeKind
from workbench.analysis.probes.stored import beside, read_probes, write_probes
from workbench.analysis.probes.summed import Sum

__all__ = [
    "FULL",
    "LOOKED_UP",
    "MOST",
    "NOTHING",
    "Arm",
    "Exam",
    "Given",
    "Probe",
    "ProbeKind",
    "Probing",
    "Sum",
    "beside",
    "graded",
    "looked_up",
    "probes_of",
    "read_probes",
    "sourced",
    "sources_of",
    "write_probes",
]
