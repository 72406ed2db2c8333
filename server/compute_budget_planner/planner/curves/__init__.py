"""The curves of runs: read from logs, diagnosed, drawn."""
