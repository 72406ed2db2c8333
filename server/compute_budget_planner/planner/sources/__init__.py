"""The files of a project gathered into the facts and the history of each run."""
