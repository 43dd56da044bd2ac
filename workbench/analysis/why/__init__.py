"""Why a context overflowed: how it grew, who filled it, what of that was waste, and what would have helped."""
