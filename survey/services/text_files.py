"""Text files, gzipped or not."""

import gzip
import zlib
from pathlib import Path

from survey.errors import SurveyError

GZIPPED = b"\x1f\x8b"  # the first bytes of a gzip file


def read_text(path: Path) -> str:
    """Return the text of a file in UTF-8, decompressed if its first bytes are gzip's.

    Raises SurveyError with the reason why it cannot be read.
    """
    try:
        content = path.read_bytes()
        unpacked = gzip.decompress(content) if content.startswith(GZIPPED) else content
        return unpacked.decode("utf-8-sig")
    except UnicodeDecodeError as error:
        line = error.object[: error.start].count(b"\n") + 1
        raise SurveyError(f"{path}, line {line}: this is no text in UTF-8.") from None
    except (EOFError, zlib.error, gzip.BadGzipFile):
        raise SurveyError(f"{path} begins like a gzip file, but is none, or is cut off.") from None
    except OSError as error:
        raise SurveyError(f"{path} cannot be read: {error.strerror}.") from None
