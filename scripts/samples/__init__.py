"""The stories behind `sample_sessions/`: everything in them is invented for this project."""
