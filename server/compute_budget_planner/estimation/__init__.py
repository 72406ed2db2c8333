"""FLOPs, memory, step time, steps, overheads and ranges: pure functions of a workload and the guide."""
