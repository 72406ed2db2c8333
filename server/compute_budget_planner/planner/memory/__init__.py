"""The memory boards: what is on them, and which rows a budget adds."""
