"""The tabs of the screen "Kept": facts, questions, several compactions, rework."""
