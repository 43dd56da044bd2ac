"""Why a context overflowed: how it grew, who filled it, what of that was waste, and what would have helped."""

from workbench.analysis.why.diagnosis import Diagnosis, diagnose

__all__ = ["Diagnosis", "diagnose"]
