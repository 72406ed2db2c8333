"""What must not leave a project in a budget or board: places, people, hosts and secrets.

Absolute paths become repo paths or begin with a `$VARIABLE`; users and hosts become `$USER` and
`$HOST`; secrets become `$SECRET`. In doubt it masks. `clean_text` makes a name or line of a file
harmless where it is shown.
"""

import re
import unicodedata
from pathlib import Path

_ANSI = re.compile(r"\x1b(?:\[[0-?]*[ -/]*[@-~]|\][^\x07\x1b]*(?:\x07|\x1b\\)?)")
_DROPPED = frozenset({"Cc", "Cf", "Cs", "Co", "Cn"})
# Letters and marks that show nothing: Hangul fillers, blank Braille, variation selectors.
_INVISIBLE = re.compile("[\u115f\u1160\u3164\uffa0\u2800\ufe00-\ufe0f\U000e0100-\U000e01ef]")

_SECRET_FORMS = re.compile(
    r"-----BEGIN [A-Z ]{0,40}PRIVATE KEY-----.*?(?:-----END [A-Z ]{0,40}PRIVATE KEY-----|\Z)"
    r"|\b(?:sk-(?=[\w-]{0,80}\d)[\w-]{16,}|hf_[A-Za-z0-9]{16,}|A[KS]IA[0-9A-Z]{16}"
    r"|gh[pousr]_[A-Za-z0-9]{20,}|github_pat_\w{20,}|glpat-[\w-]{16,}|xox[abprs]-[\w-]{10,}"
    r"|AIza[\w-]{30,}|eyJ[\w-]{8,}\.[\w-]{8,}(?:\.[\w-]*)?)"
    r"|(?<=Bearer )[\w.~+/=-]{8,}",
    re.DOTALL,
)
# `pad_token`, `sort_key` and the like are words of the field, not secrets.
_SECRET_ASSIGNED = re.compile(
    r"(?<![\w$-])(?P<name>(?:--)?"
    r"(?!(?:pad|eos|bos|unk|mask|cls|sep|sort|text|image|label|metric|per)[_-])"
    r"(?:[A-Za-z0-9]{1,30}[_-]){0,6}(?:api|access|secret|private|auth)?"
    r"(?P<kind>token|key|secret|password|passwd|passphrase|credentials?))"
    r"(?P<to>[\"']?\s{0,4}[=:]\s{0,4}[\"']?|\s{1,4})(?P<value>[^\s\"',;|`]+)",
    re.IGNORECASE,
)
_NUMBER = re.compile(r"[-+]?[\d.,_]+(?:[eE][-+]?\d+)?")
_LONG_TOKEN = re.compile(
    r"(?<![\w/+=.-])(?:[0-9a-fA-F]{32,}"
    r"|(?=(?:[A-Za-z+]*\d){3})(?=[a-z\d+]*[A-Z])(?=[A-Z\d+]*[a-z])[A-Za-z0-9+]{32,})"
    r"={0,2}(?![\w/+-])"
)
_CHECKSUM_BEFORE = re.compile(r"(?:commit|revision|rev|sha\d*|checksum|digest)\W{0,6}\Z", re.I)

_URL = re.compile(
    r"(?P<scheme>\b[a-z][a-z0-9+.-]{0,30})?://(?P<host>[^\s/\"'`|<>]*)(?P<path>[^\s\"'`|<>]*)",
    re.IGNORECASE,
)
_USER_AT_HOST = re.compile(
    r"(?<![\w.+$-])\$?[A-Za-z0-9][\w.+-]{0,63}"
    r"(?:@(?!sha\d)[A-Za-z][A-Za-z0-9-]{2,62}(?:\.[A-Za-z0-9-]+)*)+"
)
_NAMED = re.compile(
    r"(?<![\w$-])(?P<name>(?:--)?(?:(?P<user>user(?:name)?|mail[-_]user|login)"
    r"|host(?:name)?|node(?:list|name)?|login_node|ssh_alias|master_addr|server))"
    r"(?P<to>[\"']?\s{0,4}[=:]\s{0,4}[\"']?)(?P<value>[^\s\"',;|`]+)",
    re.IGNORECASE,
)
_HOST = re.compile(
    r"(?<![\w./$-])(?:(?:[a-z0-9-]{1,63}\.){1,6}"
    r"(?:edu|com|org|net|gov|mil|local|lan|internal|cluster|hpc)"
    r"|(?:[a-z0-9-]{1,63}\.){2,6}(?:de|fr|ch|uk|nl|es|jp|cn|kr|sg|sa|au|ca|eu|dk|fi|pl|in|tw)"
    r"|(?:\d{1,3}\.){3}\d{1,3})(?![\w-]|\.\w)",
    re.IGNORECASE,
)
_PUBLIC_HOSTS = (
    "arxiv.org", "doi.org", "github.com", "huggingface.co", "nvidia.com", "openreview.net",
    "pytorch.org", "aclanthology.org",
)  # fmt: skip

_STEP = r"[^\s/\\\"'`|<>;,(){}\[\]:*?=&]+"
_POSIX_PATH = re.compile(rf"(?<![\w.$}}/~-])(?:/|(?<!:)/+){_STEP}(?:/+{_STEP})*/*")
_TILDE_PATH = re.compile(r"(?<![\w/])~[A-Za-z][\w.-]*(?=/|\b)")
_WINDOWS_PATH = re.compile(r"(?<!\w)(?:[A-Za-z]:[\\/](?!/)|\\\\(?=\w))[^\s\"'`|<>;,*?]+")
_HOME_FOLDERS = frozenset({"home", "homes", "user", "users", "Users"})
_DATA_FOLDERS = frozenset({"data", "datasets", "dataset"})
_BARE_FOLDERS = frozenset({"root", "tmp", "scratch"})
_SYSTEM_FOLDERS = frozenset({"bin", "sbin", "usr", "opt", "lib", "lib64", "etc"})
_SHARED_FOLDERS = frozenset({"lustre", "gpfs", "beegfs", "work", "workspace", "fsx", "mnt", "nfs"})


def clean_text(text: str, limit: int = 200) -> str:
    """Return `text` as one line of at most `limit` characters, `…` standing for what is cut.

    Control, bidirectional, zero-width and unassigned characters and terminal colours are removed;
    white space is folded.
    """
    # What lies beyond could be shown only if most before it were invisible.
    looked_at = text[: 20 * limit + 1000]
    visible = _INVISIBLE.sub("", _ANSI.sub("", looked_at))
    spaced = (" " if c.isspace() else c for c in visible)
    line = " ".join("".join(c for c in spaced if unicodedata.category(c) not in _DROPPED).split())
    if len(line) <= limit and len(looked_at) == len(text):
        return line
    return line[: max(limit - 1, 0)].rstrip() + "…"


def private_paths(text: str, root: Path) -> str:
    """Return `text` without absolute paths, users, hosts and secrets.

    Paths inside `root` (resolved) become relative to it; others keep at most their last part
    behind `$HOME`, `$SCRATCH`, `$DATA`, `$TMPDIR` or `$EXTERNAL` (all that follows the user's
    folder behind `$HOME`). Commit ids and checksums that are called so are kept.
    """
    text = _SECRET_FORMS.sub("$SECRET", text)
    text = _SECRET_ASSIGNED.sub(_masked_secret, text)
    text = _URL.sub(lambda m: _masked_url(m, root), text)
    text = _USER_AT_HOST.sub(_masked_address, text)
    text = _NAMED.sub(_masked_name, text)
    # A root may hold spaces, which end a path elsewhere.
    text = re.sub(rf"(?<![\w.$}}/~-]){re.escape(root.as_posix())}/(?=\w)", "", text)
    text = _WINDOWS_PATH.sub(lambda m: _windows_place(m[0]), text)
    text = _POSIX_PATH.sub(lambda m: _place(m[0], root), text)
    text = _TILDE_PATH.sub("$HOME", text)
    text = _HOST.sub(lambda m: m[0] if _public(m[0]) else "$HOST", text)
    return _LONG_TOKEN.sub(
        lambda m: (
            m[0]
            if _CHECKSUM_BEFORE.search(m.string[max(0, m.start() - 20) : m.start()])
            else "$SECRET"
        ),
        text,
    )


def _masked_secret(match: re.Match[str]) -> str:
    value, kind, to = match["value"], match["kind"].lower(), match["to"]
    if value.startswith("$") or _NUMBER.fullmatch(value):
        return match[0]
    if to.isspace() and not match["name"].startswith("--"):
        return match[0]  # prose: "the key insight"
    if kind in ("token", "key") and ":" in to and not re.search(r"\d", value):
        return match[0]  # "key: throughput"
    return f"{match['name']}{to}$SECRET"


def _masked_name(match: re.Match[str]) -> str:
    value = match["value"]
    if value.startswith("$") or _NUMBER.fullmatch(value):
        return match[0]
    return f"{match['name']}{match['to']}{'$USER' if match['user'] else '$HOST'}"


def _masked_url(match: re.Match[str], root: Path) -> str:
    scheme, host, path = match["scheme"] or "", match["host"], match["path"]
    if scheme.lower() == "file":
        return _POSIX_PATH.sub(lambda m: _place(m[0], root), path)
    if "@" not in host and _public(host):
        return f"{scheme}://{host}{path.partition('?')[0]}"
    return f"{scheme}://$HOST"


def _masked_address(match: re.Match[str]) -> str:
    # `org/model@main` is a revision.
    revision = (
        match.string[match.start() - 1 : match.start()] == "/"
        and "." not in match[0].partition("@")[2]
    )
    return match[0] if revision else "$USER@$HOST"


def _public(host: str) -> bool:
    name = host.lower()
    return any(name == known or name.endswith(f".{known}") for known in _PUBLIC_HOSTS)


def _place(path: str, root: Path) -> str:
    whole = re.sub(r"/+", "/", path).rstrip("/")
    if whole == root.as_posix():
        return "."
    if whole.startswith(f"{root.as_posix()}/"):
        return whole.removeprefix(f"{root.as_posix()}/")
    steps = whole.strip("/").split("/")
    if whole == "/dev/null" or (len(steps) == 1 and steps[0] not in _BARE_FOLDERS):
        return path  # "/s" is a unit, "/dev/null" nobody's
    if steps[0] in _SYSTEM_FOLDERS:
        return steps[-1]
    return _variable_place(steps)


def _variable_place(steps: list[str]) -> str:
    home = next((i for i, step in enumerate(steps[:3]) if step in _HOME_FOLDERS), None)
    if any(step.startswith("scratch") for step in steps[:3]) or steps[0] in _SHARED_FOLDERS:
        variable = "$SCRATCH"
    elif home is not None:
        return "/".join(("$HOME", *steps[home + 2 :]))
    elif steps[0] == "root":
        return "/".join(("$HOME", *steps[1:]))
    elif steps[0] in _DATA_FOLDERS:
        variable = "$DATA"
    else:
        variable = "$TMPDIR" if steps[0] == "tmp" else "$EXTERNAL"
    # The last part of a short path, or the one below `users`, may be a person.
    personal = (len(steps) <= 2 and variable != "$DATA") or home == len(steps) - 2
    return variable if personal else f"{variable}/{steps[-1]}"


def _windows_place(path: str) -> str:
    steps = [step for step in re.split(r"[\\/]+", path) if step]
    if path.startswith("\\\\"):
        return f"$HOST/{steps[-1]}"
    if len(steps) > 2 and steps[1].lower() == "users":
        return "/".join(("$HOME", *steps[3:]))
    return f"$EXTERNAL/{steps[-1]}"
