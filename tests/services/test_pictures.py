"""What people see of a picture is the file: its ground, its colours, its depth and its shape."""

import io
import re
from pathlib import Path

import numpy as np
import pytest
from PIL import Image
from PIL.PngImagePlugin import PngInfo

from survey.core.collections.likeness import picture_vector
from survey.services.collections.pictures import DESCRIBED_SIDE, GROUND, make_picture
from tests.pictured import a_deep_png
from tests.profiled import PRO_PHOTO, colour_profile, grey_profile, ink_profile

GREY_OF_GROUND = int(GROUND[1:3], 16)
SKIN = (201, 120, 92)
SKIN_IN_PRO_PHOTO = (149, 111, 80)
CANNOT = "its colour profile cannot be used; its colours are taken for sRGB"


def file_of(image, form="PNG", **options):
    stream = io.BytesIO()
    image.save(stream, form, **options)
    return stream.getvalue()


def decoded(content):
    return np.asarray(Image.open(io.BytesIO(content)).convert("RGB")).astype(int)


def middle(picture):
    pixels = decoded(picture.larger)
    return pixels[pixels.shape[0] // 2, pixels.shape[1] // 2]


def a_drawing(colour, mode="RGBA"):
    """A square of one colour, 20 pixels from each edge of a transparent picture."""
    image = Image.new("RGBA", (80, 80), (*colour, 0))
    image.paste((*colour, 255), (20, 20, 60, 60))
    return image.convert(mode)


def luminance(grey):
    """Of a grey, by WCAG 2.2."""
    return ((grey / 255 + 0.055) / 1.055) ** 2.4


@pytest.mark.parametrize("form", ["PNG", "WEBP"])
@pytest.mark.parametrize("colour", [(0, 0, 0), (255, 255, 255)])
def test_a_drawing_without_a_ground_can_be_told_from_the_one_it_gets(colour, form):
    picture = make_picture(
        file_of(a_drawing(colour), form, **{"lossless": True} if form == "WEBP" else {})
    )
    for content in (picture.thumbnail, picture.larger):
        assert Image.open(io.BytesIO(content)).mode == "RGB"
        pixels = decoded(content)
        assert abs(pixels[5, 5] - GREY_OF_GROUND).max() <= 2
        assert abs(pixels[40, 40] - colour).max() <= 2
    assert picture.warnings == ()


def test_black_and_white_have_the_contrasts_that_are_said_to_the_ground():
    ground = luminance(GREY_OF_GROUND) + 0.05
    assert round(ground / 0.05, 1) == 13.6
    assert round(1.05 / ground, 1) == 1.5


def test_pages_put_the_same_ground_behind_pictures_in_both_themes():
    sheets = [path.read_text() for path in (Path(__file__).parents[2] / "static").glob("*.css")]
    style = "".join(sheets)
    assert re.findall(r"--picture: (#\w+);", style) == [GROUND]
    of_pictures = re.findall(r"[^{}]*\bimg\b[^{}]*{[^}]*}", style)
    fitted = [rule for rule in of_pictures if "object-fit" in rule]
    assert len(fitted) >= 9
    assert [rule for rule in fitted if "background: var(--picture)" not in rule] == []
    other_ground = re.compile(r"background[^;}]*var\(--(paper|ground)\)")
    assert [rule for rule in of_pictures if other_ground.search(rule)] == []


@pytest.mark.parametrize("mode", ["LA", "P"])
def test_other_ways_to_be_transparent_get_the_same_ground(mode):
    pixels = decoded(make_picture(file_of(a_drawing((0, 0, 0), mode))).larger)
    assert abs(pixels[5, 5] - GREY_OF_GROUND).max() <= 2
    assert pixels[40, 40].max() <= 2


def test_of_deep_grey_only_the_transparent_value_is_transparent():
    values = np.full((40, 40), 100, dtype=np.uint16)  # as dark as 0 in eight bits
    values[:, 20:] = 65_535
    values[:10] = 0
    pixels = decoded(make_picture(a_deep_png(values, transparent=0)).larger)
    assert abs(pixels[4, 10] - GREY_OF_GROUND).max() <= 4
    assert pixels[30, 10].max() <= 4
    assert pixels[30, 30].min() >= 251


@pytest.mark.parametrize("mode", ["RGB", "RGBA"])
def test_a_picture_is_described_as_people_see_it(mode):
    chance = np.random.default_rng(7)
    pixels = chance.integers(0, 256, (DESCRIBED_SIDE, DESCRIBED_SIDE, 4), dtype=np.uint8)
    image = Image.fromarray(pixels).convert(mode)
    on_ground = Image.new("RGB", image.size, GROUND)
    on_ground.paste(image, mask=image.getchannel("A") if mode == "RGBA" else None)
    vector = make_picture(file_of(image)).vector
    assert vector == picture_vector(np.asarray(on_ground))


@pytest.mark.parametrize("form", ["JPEG", "PNG", "WEBP"])
def test_colours_are_those_of_the_profile(form):
    image = Image.new("RGB", (64, 64), SKIN_IN_PRO_PHOTO)
    content = file_of(image, form, icc_profile=colour_profile(PRO_PHOTO, 1.8), quality=100)
    picture = make_picture(content)
    assert abs(middle(picture) - SKIN).max() <= 2
    for size in (picture.thumbnail, picture.larger):
        assert "icc_profile" not in Image.open(io.BytesIO(size)).info


@pytest.mark.parametrize("mode", ["RGBA", "P"])
def test_a_profile_counts_in_transparent_pictures_and_palettes(mode):
    image = a_drawing(SKIN_IN_PRO_PHOTO, mode)
    pixels = decoded(make_picture(file_of(image, icc_profile=colour_profile())).larger)
    assert abs(pixels[40, 40] - SKIN).max() <= 4
    assert abs(pixels[5, 5] - GREY_OF_GROUND).max() <= 2


@pytest.mark.parametrize("mode", ["L", "LA", "I;16"])
def test_greys_are_those_of_the_profile(mode):
    if mode == "I;16":
        image = Image.fromarray(np.full((64, 64), 100 * 256, dtype=np.uint16))
    else:
        image = Image.new(mode, (64, 64), (100, 255)[: len(mode)])
    # By light, 100 of 255 is the grey 168 of sRGB: 1.055 (100 / 255) ^ (1 / 2.4) - 0.055.
    picture = make_picture(file_of(image, icc_profile=grey_profile(1.0)))
    assert abs(middle(picture) - 168).max() <= 1


@pytest.mark.parametrize("mode", ["L", "RGB", "RGBA", "P"])
@pytest.mark.parametrize(
    ("chunks", "grey"),
    [
        ({b"gAMA": 100_000}, 167),  # by light: 255 (100 / 255) ^ (1 / 2.2)
        ({b"gAMA": 55_556}, 119),  # of old Macs, 1.8
        ({b"gAMA": 45_455}, 100),
        ({b"gAMA": 0}, 100),
        ({b"gAMA": 100_000, b"sRGB": 0}, 100),  # which the standard puts before it
    ],
)
def test_the_gamma_of_a_png_is_applied_as_browsers_do(mode, chunks, grey):
    more = PngInfo()
    for name, value in chunks.items():
        more.add(name, value.to_bytes(1 if name == b"sRGB" else 4, "big"))
    image = Image.new("RGB", (64, 64), (100, 100, 100))
    image = image.quantize() if mode == "P" else image.convert(mode)
    picture = make_picture(file_of(image, pnginfo=more))
    assert abs(middle(picture) - grey).max() <= 1


@pytest.mark.parametrize("kind", ["RGB", "LA", "RGBA"])
@pytest.mark.parametrize(("bits", "is_told"), [(12, True), (14, True), (16, False)])
def test_colours_that_use_the_lower_bits_alone_are_warned_of(kind, bits, is_told):
    values = np.random.default_rng(1).integers(0, 1 << bits, (80, 80, len(kind)))
    if kind.endswith("A"):
        values[..., -1] = 65_535
        values[:20, :, -1] = 0  # the ground that is put there is light
    picture = make_picture(a_deep_png(values))
    told = [each for each in picture.warnings if "12 bits are stored in 16" in each]
    assert len(told) == is_told


def test_one_white_pixel_hides_no_black_picture():
    values = np.random.default_rng(1).integers(0, 1 << 12, (300, 300))
    values[0, 0] = 65_535
    assert "nearly one colour" in make_picture(a_deep_png(values)).warnings[0]
    values[:] = 65_535
    values[150] = 0  # a thin line can be seen
    assert make_picture(a_deep_png(values)).warnings == ()


def test_inks_are_those_of_the_profile():
    for cyan, grey in ((255, 118), (0, 255)):  # L* 50 is the grey 118 or 119 of sRGB
        image = Image.new("CMYK", (64, 64), (cyan, 0, 0, 0))
        picture = make_picture(file_of(image, "JPEG", icc_profile=ink_profile(50), quality=100))
        assert abs(middle(picture) - grey).max() <= 2


@pytest.mark.parametrize(
    ("mode", "profile"),
    [
        ("RGB", b"no profile"),
        ("RGB", colour_profile()[:200]),
        ("RGB", grey_profile(1.0)),
        ("CMYK", colour_profile()),
    ],
)
def test_a_profile_that_cannot_be_used_is_left_out_with_a_warning(mode, profile):
    image = Image.linear_gradient("L").convert(mode)
    picture = make_picture(file_of(image, "JPEG", icc_profile=profile))
    assert picture.warnings == (CANNOT,)
    assert picture[1:6] == make_picture(file_of(image, "JPEG"))[1:6]


@pytest.mark.parametrize("depth", [8, 10, 12, 14, 16])
def test_grey_of_few_bits_in_a_deep_picture_is_shown_from_black_to_white(depth):
    most = (1 << depth) - 1
    values = np.tile(np.linspace(0, most, 64).astype(np.uint16), (64, 1))
    picture = make_picture(a_deep_png(values))
    pixels = decoded(picture.larger)[32, :, 0]
    assert abs(pixels - np.linspace(0, 255, 64)).max() <= 4
    expected = (
        f"its largest grey value is {most:,} of 65,535, so it is shown as a picture of {depth} "
        f"bits, in which {most:,} is white"
    )
    assert picture.warnings == (() if depth == 16 else (expected,))


def test_pictures_of_one_device_are_stretched_alike():
    shades = []
    for most in (4_095, 2_000):
        values = np.full((64, 64), 1_600, dtype=np.uint16)
        values[:, :8] = most
        shades.append(middle(make_picture(a_deep_png(values)))[0])
    assert shades[0] == shades[1] == 1_600 >> 4


def test_nearly_one_colour_is_a_warning():
    pale = a_drawing((210, 210, 210))
    plain = Image.new("L", (40, 40), 7)
    contents = [file_of(plain), file_of(pale)]
    seen = ", so people may see nothing in it"
    ground = ", on the light grey that is put behind its transparent parts"
    assert [make_picture(each).warnings for each in contents] == [
        (f"it is nearly one colour{seen}",),
        (f"it is nearly one colour{ground}{seen}",),
    ]


@pytest.mark.parametrize(
    ("given", "larger", "of_png", "thumbnail"),
    [
        ((1000, 750), (640, 480), (1000, 750), (144, 108)),
        ((1000, 500), (640, 320), (1000, 500), (144, 72)),
        ((4000, 1000), (1280, 320), (1280, 320), (288, 72)),
        ((1000, 4000), (1000, 4000), (1000, 4000), (72, 288)),
        ((1600, 2400), (427, 640), (1280, 1920), (96, 144)),
        ((2000, 12000), (1000, 6000), (1000, 6000), (72, 432)),
        ((4000, 200), (2560, 128), (2560, 128), (576, 29)),
        ((900, 100), (900, 100), (900, 100), (576, 64)),  # none is enlarged
    ],
)
def test_a_png_is_a_page_and_of_a_panorama_the_shorter_side_keeps_half_of_what_others_have(
    given, larger, of_png, thumbnail
):
    for form, size in (("PNG", of_png), ("JPEG", larger)):
        picture = make_picture(file_of(Image.linear_gradient("L").resize(given), form))
        assert Image.open(io.BytesIO(picture.larger)).size == size
        assert (picture.width, picture.height) == size
        assert Image.open(io.BytesIO(picture.thumbnail)).size == thumbnail
        assert picture.warnings == ()


@pytest.mark.parametrize(
    ("given", "warning"),
    [
        (
            (6000, 30),
            "its longer side is 200 times its shorter one, so people see only 2,560 × 13 pixels of "
            "it; cut it into parts that can be judged",
        ),
        (
            (40, 4000),
            "its longer side is 100 times its shorter one, so people see only 40 × 4,000 pixels of "
            "it; cut it into parts that can be judged",
        ),
        ((1, 1), "it has 1 × 1 pixels, too few to be judged"),
        ((300, 9), "it has 300 × 9 pixels, too few to be judged"),
    ],
)
def test_a_picture_that_cannot_be_judged_is_taken_with_a_warning(given, warning):
    picture = make_picture(file_of(Image.linear_gradient("L").resize(given)))
    assert picture.warnings == (warning,)
