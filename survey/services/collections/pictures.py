"""Make the two sizes of a picture that people see and that descriptors describe, from a file.

Both are opaque, in sRGB and without metadata, so that all people see the same picture, in the
light and in the dark, and no file of a researcher reaches a participant as it was.
"""

import hashlib
import io
import struct
import warnings
import zlib
from collections.abc import Mapping
from typing import Any, NamedTuple

import numpy as np
from PIL import Image, ImageCms, ImageOps, UnidentifiedImageError

from survey.core.collections.likeness import picture_vector
from survey.core.given_tables import SHOWABLE, media_of

PICTURE_FORMATS = ("JPEG", "PNG", "WEBP", "GIF")
LARGEST_PICTURE_FILE = 40_000_000  # bytes
MOST_PIXELS = 50_000_000
THUMBNAIL, LARGER = 144, 640  # pixels of the longer side; of a panorama's up to PANORAMA times
PANORAMA = 4
# Pixels of width and height of a page: of a PNG, as screenshots are, and of what is TALL.
PAGE = (1_280, 6_000)
TALL = 2  # times as high as wide, at least
LONGEST_SHAPE = 40  # longer side by shorter, above which too few pixels are left to be judged
SMALLEST_SIDE = 16  # pixels, below which a picture cannot be judged
DESCRIBED_SIDE = 96  # pixels of a side, where a picture is described by numbers
QUALITY = 62
ORIENTATION, TURNED = 0x0112, (5, 6, 7, 8)  # of EXIF: by a quarter, so that width becomes height
# Behind transparent parts. On it black has a contrast of 13.6 to 1 and white one of 1.5 to 1, so
# that drawings of both can be seen. static/survey.css has it as --picture.
GROUND = "#d0d0d0"
USUAL_GAMMA = 2.2  # of screens: a PNG with 1 / 2.2 is shown as it is
SEEN_GAMMA = 0.05  # how far from that a picture's product may be; browsers draw no line so fine
DEPTHS = (8, 10, 12, 14, 16)  # bits in which grey is measured
NEARLY_EQUAL = 16  # of 256 values of a colour

# Where a file of another format has which bytes: what it is, and what to do.
EXPORT = "Export it as JPEG or PNG"
FOREIGN_PICTURES = {
    **{
        (4, b"ftyp" + brand): f"this is HEIC, as phones store pictures. {EXPORT}"
        for brand in (b"heic", b"heix", b"hevc", b"heim", b"heis", b"mif1", b"msf1")
    },
    (4, b"ftypavif"): f"this is AVIF. {EXPORT}",
    (0, b"%PDF"): "this is a PDF. Export its page as PNG or JPEG",
    (0, b"II*\0"): f"this is TIFF. {EXPORT}",
    (0, b"MM\0*"): f"this is TIFF. {EXPORT}",
    (0, b"PK\x03\x04"): "this is a zip or a document. Unpack it, or save its pictures",
}

# What Pillow's readers raise for files that are damaged.
DAMAGED = (OSError, SyntaxError, ValueError, EOFError, IndexError, struct.error, zlib.error)


class PictureError(ValueError):
    """A file that is no picture which can be taken; its text says why."""


class Picture(NamedTuple):
    """A picture in two sizes, with the digest of the file that it was made from.

    ``warnings``: what people see otherwise than it is in the file, or can hardly judge.
    """

    sha256: str
    width: int
    height: int
    thumbnail: bytes
    larger: bytes
    vector: bytes
    warnings: tuple[str, ...] = ()

    def columns(self) -> dict[str, object]:
        """Return what the database stores of it."""
        values = self._asdict()
        del values["warnings"]
        return values


def make_picture(content: bytes) -> Picture:
    """Decode a picture within limits and return it in two sizes; raises PictureError.

    The first frame of several; turned as its EXIF data say; colours converted from its profile to
    sRGB; GROUND behind transparent parts.
    """
    check_size(len(content), LARGEST_PICTURE_FILE)
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("error", Image.DecompressionBombWarning)
            warnings.simplefilter("ignore", UserWarning)  # of odd metadata, which is dropped
            with Image.open(io.BytesIO(content), formats=PICTURE_FORMATS) as image:
                return _sizes_of(image, hashlib.sha256(content).hexdigest())
    except (Image.DecompressionBombWarning, Image.DecompressionBombError):
        raise PictureError(f"more than {MOST_PIXELS:,} pixels found; no more are allowed") from None
    except UnidentifiedImageError:
        raise PictureError(_why_unknown(content)) from None
    except PictureError:
        raise
    except DAMAGED:
        raise PictureError("the picture is damaged or cut off") from None


def count_pixels(content: bytes) -> int:
    """Return the pixels that a picture's header states, 0 of a file that is refused undecoded."""
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            with Image.open(io.BytesIO(content), formats=PICTURE_FORMATS) as image:
                pixels = image.width * image.height
    except (*DAMAGED, Image.DecompressionBombError):
        return 0
    return pixels if pixels <= MOST_PIXELS else 0


def check_size(size: int, largest: int) -> None:
    """Raise PictureError for a file of too many bytes."""
    if size > largest:
        raise PictureError(f"{size:,} bytes found; {largest:,} are allowed")


def _sizes_of(image: Image.Image, sha256: str) -> Picture:
    width, height = image.size
    if width * height > MOST_PIXELS:
        raise PictureError(f"{width} × {height} pixels found; {MOST_PIXELS:,} are allowed")
    found: list[str] = []
    is_deep = _has_deep_colours(image)  # before anything is decoded
    exif, kept = image.getexif(), dict(image.info)
    shown = _larger_size(image.size, image.format, is_turned=exif.get(ORIENTATION, 1) in TURNED)
    image.draft("RGB", shown)  # a JPEG is decoded at a fraction of its size
    picture = _with_eight_bits(image, found)
    picture.thumbnail(shown, Image.Resampling.LANCZOS)
    dark = _dark_for_its_depth(picture) if is_deep else []
    is_transparent = picture.mode.endswith("A") and bool(np.asarray(picture)[..., -1].min() < 255)
    picture = _opaque(picture, kept, found)
    picture.getexif().update(exif)
    picture = ImageOps.exif_transpose(picture)
    picture.info = {}  # profiles and comments would be written as well
    larger, size = _webp(picture), picture.size
    side = _longer_side(size, THUMBNAIL)
    picture.thumbnail((side, side), Image.Resampling.LANCZOS)
    found += (
        _hardly_judged((width, height), size)
        or dark
        or _nearly_one_colour(picture, is_transparent=is_transparent)
    )
    vector = _vector(picture)
    return Picture(sha256, *size, _webp(picture), larger, vector, tuple(found))


def _has_deep_colours(image: Image.Image) -> bool:
    """Return whether a PNG has 16 bits for each colour, of which the upper eight are read."""
    return ";16B" in str(getattr(image, "tile", "")) and not image.mode.startswith("I")


def _dark_for_its_depth(picture: Image.Image) -> list[str]:
    """Return that a picture of 16 bits uses the lower ones alone, as 12 or 14 bits in 16 do."""
    values = np.asarray(picture)
    if picture.mode.endswith("A"):
        values = values[values[..., -1] > 0, :-1]
    most = int(values.max(initial=0))
    if most >= 1 << 7:
        return []
    return [
        f"its largest value is about {most / 255:.0%} of white, as where 12 bits are stored in 16, "
        "so people may see nothing in it; save it with 8 bits for each colour"
    ]


def _larger_size(
    size: tuple[int, int], form: str | None, *, is_turned: bool = False
) -> tuple[int, int]:
    """Return the size of the box that a picture is to fit into, as it is in its file."""
    side = _longer_side(size, LARGER)
    width, height = size[::-1] if is_turned else size
    if form != "PNG" and height <= TALL * width:
        return side, side
    scale = max(side / max(size), min(PAGE[0] / width, PAGE[1] / height))
    return round(size[0] * scale) or 1, round(size[1] * scale) or 1


def _longer_side(size: tuple[int, int], side: int) -> int:
    """Return the most pixels of the longer side, so that the shorter keeps half of ``side``."""
    shape = max(size) / min(size)
    return round(side * min(max(shape / 2, 1), PANORAMA))


def _with_eight_bits(image: Image.Image, found: list[str]) -> Image.Image:
    """Return a picture as L, LA, RGB, RGBA or CMYK.

    Grey of 16 bits is divided by what leaves eight of the DEPTHS that its largest value needs.
    """
    if image.mode.startswith("I"):
        values = np.asarray(image)
        most = int(values.max())
        depth = next(depth for depth in DEPTHS if most < 1 << depth)
        if depth < DEPTHS[-1]:
            found.append(
                f"its largest grey value is {most:,} of 65,535, so it is shown as a picture of "
                f"{depth} bits, in which {(1 << depth) - 1:,} is white"
            )
        grey = Image.fromarray((values >> (depth - 8)).astype(np.uint8))
        if (clear := image.info.get("transparency")) is not None:
            grey.putalpha(Image.fromarray(np.where(values == clear, 0, 255).astype(np.uint8)))
        return grey
    kept = image.mode in ("L", "LA", "CMYK") and "transparency" not in image.info
    return image.convert(image.mode if kept else "RGBA" if image.has_transparency_data else "RGB")


def _opaque(
    picture: Image.Image, metadata: Mapping[str | tuple[int, int], Any], found: list[str]
) -> Image.Image:
    """Return a picture in sRGB, on GROUND; a profile that does not fit it is left out.

    Without a profile, a PNG's gamma is applied, unless the PNG says that it is in sRGB.
    """
    colours = picture.convert(picture.mode.removesuffix("A"))
    gamma = 1 if "srgb" in metadata else metadata.get("gamma", 1 / USUAL_GAMMA) * USUAL_GAMMA
    if profile := metadata.get("icc_profile"):
        try:
            source = ImageCms.ImageCmsProfile(io.BytesIO(profile))
            if source.profile.xcolor_space == "RGB " and colours.mode == "L":
                colours = colours.convert("RGB")
            colours = ImageCms.profileToProfile(  # type: ignore[assignment] # None if in place
                *(colours, source, ImageCms.createProfile("sRGB")),
                renderingIntent=ImageCms.Intent.RELATIVE_COLORIMETRIC,
                outputMode="RGB",
                flags=ImageCms.Flags.BLACKPOINTCOMPENSATION,
            )
        except (ImageCms.PyCMSError, OSError):
            found.append("its colour profile cannot be used; its colours are taken for sRGB")
    elif gamma > 0 and abs(gamma - 1) > SEEN_GAMMA:
        bent = [round(255 * (value / 255) ** (1 / gamma)) for value in range(256)]
        colours = colours.point(bent * len(colours.getbands()))
    opaque = Image.new("RGB", picture.size, GROUND)
    opaque.paste(colours, mask=picture.getchannel("A") if picture.mode.endswith("A") else None)
    return opaque


def _hardly_judged(given: tuple[int, int], shown: tuple[int, int]) -> list[str]:
    """Return why a picture cannot be judged by its size or shape."""
    shape = max(given) / min(given)
    if shape > LONGEST_SHAPE:
        return [
            f"its longer side is {shape:.0f} times its shorter one, so people see only "
            f"{shown[0]:,} × {shown[1]:,} pixels of it; cut it into parts that can be judged"
        ]
    if min(given) < SMALLEST_SIDE:
        return [f"it has {given[0]:,} × {given[1]:,} pixels, too few to be judged"]
    return []


def _nearly_one_colour(picture: Image.Image, *, is_transparent: bool) -> list[str]:
    low, high = np.percentile(np.asarray(picture), (0.1, 99.9), axis=(0, 1))  # not by a few pixels
    if max(high - low) >= NEARLY_EQUAL:
        return []
    ground = ", on the light grey that is put behind its transparent parts" * is_transparent
    return [f"it is nearly one colour{ground}, so people may see nothing in it"]


def _vector(picture: Image.Image) -> bytes:
    """Return what the picture is compared by."""
    square = picture.resize((DESCRIBED_SIDE, DESCRIBED_SIDE), Image.Resampling.BILINEAR)
    return picture_vector(np.asarray(square))


def _webp(picture: Image.Image) -> bytes:
    stream = io.BytesIO()
    picture.save(stream, "WEBP", quality=QUALITY, method=4, exif=b"", icc_profile=b"", xmp=b"")
    return stream.getvalue()


def _why_unknown(content: bytes) -> str:
    allowed = "JPEG, PNG, WebP and GIF are allowed"
    if not content:
        return f"the file is empty; {allowed}"
    top = content[:512].lstrip().lower()
    if top.startswith((b"<!doctype html", b"<html")):
        return "this is a web page. Save the picture itself, not the page that shows it"
    if b"<svg" in content[:2_000].lower():
        return f"an SVG may hold scripts; {allowed}"
    if media := media_of("", content[:16]):
        return f"this is {media}. {SHOWABLE}"
    for (start, mark), reason in FOREIGN_PICTURES.items():
        if content[start:].startswith(mark):
            return reason
    return f"this is no picture that can be read; {allowed}"
