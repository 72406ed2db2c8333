"""Names of models and data sets out of the folders and addresses that hold them."""

import re

_CACHE_FOLDER = re.compile(
    r"(?:^|.*/)(?:models|datasets)--(?P<owner>[\w.-]+?)--(?P<name>[\w.-]+)(?:/.*)?"
)
_BUCKET = re.compile(r"\b(?:s3|gs|gcs|az|r2|hf)://[^/\s]+/(?P<name>[\w.-]+)/")
_GLOB = re.compile(r"(?:.*/)?(?P<folder>[\w.-]+)/[\w.-]*[*{?][^/]*")


def public_name(text: str) -> str:
    """Return the name behind a path of a cache, a bucket or a pattern of shards; else the text.

    `models--org--name` is the folder the Hugging Face cache keeps `org/name` in; a pattern such
    as `data/fineweb10B/train_*.bin` and `s3://bucket/laion5b/{0..9}.tar` are named by the folder.
    """
    if match := _CACHE_FOLDER.fullmatch(text):
        return f"{match['owner']}/{match['name']}"
    if match := _BUCKET.search(text):
        return match["name"]
    if match := _GLOB.fullmatch(text):
        return match["folder"]
    return text
