"""`measure`: what one machine really reaches, written as a lab page of the guide's tables.

The measuring itself knows a device only as `backend.Backend`; `torch_backend` makes one of the
PyTorch that is installed beside the planner.
"""
