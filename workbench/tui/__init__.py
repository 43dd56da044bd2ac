"""The screen: draws a `Bench` and turns keys into the steps of `workbench.bench`. Holds no rule of compaction."""
