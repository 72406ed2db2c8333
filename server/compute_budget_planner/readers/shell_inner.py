"""Text inside a command that a shell runs: behind `bash -c` and `eval`."""

SHELLS = ("bash", "sh", "zsh", "dash")


def inner_text(words: tuple[str, ...]) -> tuple[tuple[str, ...], str, tuple[str, ...]] | None:
    """Return what stands before a shell, the text it runs, and the words behind the text."""
    if words[0] == "eval":
        return (), " ".join(words[1:]), ()
    for index, word in enumerate(words):
        if word.rsplit("/", maxsplit=1)[-1] in SHELLS:
            rest = words[index + 1 :]
            while rest and rest[0].startswith("-"):
                if not rest[0].startswith("--") and rest[0].endswith("c") and len(rest) > 1:
                    return words[:index], rest[1], rest[2:]
                rest = rest[1:]
    return None
