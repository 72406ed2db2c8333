"""FLOPs, memory, time, overheads and ranges: pure functions of a workload and the guide."""
