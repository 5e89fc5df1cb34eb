"""Example files of the cards of “New study”: each works as it is when it is uploaded."""

from collections.abc import Iterator
from importlib.resources import files

from survey.services.exchange.bundle import stream_zip_of_bytes

CLASSES = "classes.zip"  # made of the pictures that the survey comes with
CLASSES_SHOWN, PICTURES_EACH = ("apple", "bird", "boat", "cat"), 5
MEDIA_TYPES = {"zip": "application/zip", "csv": "text/csv", "yaml": "application/yaml"}


def media_type(name: str) -> str:
    """Return the media type of an example by its name."""
    return MEDIA_TYPES.get(name.rpartition(".")[2], "text/plain")


def content_of(name: str) -> bytes | None:
    """Return the content of an example; None where there is no such one."""
    if name == CLASSES:
        return b"".join(stream_zip_of_bytes(_classes()))
    folder = files("survey.services") / "examples"
    names = {each.name for each in folder.iterdir()}
    return (folder / name).read_bytes() if name in names else None


def _classes() -> Iterator[tuple[str, bytes]]:
    albums = files("survey.services.collections.albums") / "collection"
    for group in CLASSES_SHOWN:
        for number in range(1, PICTURES_EACH + 1):
            picture = (albums / f"{group}-{number}.webp").read_bytes()
            yield f"{group}/{number}.webp", picture
