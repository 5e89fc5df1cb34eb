"""Colour profiles of ICC, version 2, made of numbers, and pictures that have them."""

import struct

D50 = (0.9642, 1.0, 0.8249)
# X, Y and Z of red, green and blue, adapted to D50: ROMM RGB (ProPhoto), ANSI/I3A IT10.7666.
PRO_PHOTO = ((0.7977, 0.2880, 0.0), (0.1352, 0.7119, 0.0), (0.0313, 0.0001, 0.8249))


def colour_profile(primaries=PRO_PHOTO, gamma=1.8):
    """Return the profile of a space of red, green and blue."""
    names = ("rXYZ", "gXYZ", "bXYZ")
    tags = {name: _xyz(*values) for name, values in zip(names, primaries, strict=True)}
    return _profile("RGB ", tags | dict.fromkeys(("rTRC", "gTRC", "bTRC"), _gamma(gamma)))


def grey_profile(gamma):
    """Return the profile of greys."""
    return _profile("GRAY", {"kTRC": _gamma(gamma)})


def ink_profile(lightness):
    """Return a profile in which cyan is a grey of this lightness, 0 to 100, and no ink is white."""
    corners = [(round(lightness * 2.55) if corner & 8 else 255, 128, 128) for corner in range(16)]
    line = bytes(range(256))
    unit = struct.pack(">9i", *map(_fixed, (1, 0, 0, 0, 1, 0, 0, 0, 1)))
    table = b"\4\3\2\0" + unit + 4 * line + b"".join(map(bytes, corners)) + 3 * line
    return _profile("CMYK", {"A2B0": _tag("mft1", table)})


def _profile(space, tags):
    tags = {"desc": _tag("desc", struct.pack(">I5s", 5, b"test") + bytes(78)), **tags}
    tags["wtpt"] = _xyz(*D50)
    start = 128 + 4 + 12 * len(tags)
    table, data = struct.pack(">I", len(tags)), b""
    for name, content in tags.items():
        table += struct.pack(">4sII", name.encode(), start + len(data), len(content))
        data += content + bytes(-len(content) % 4)
    device, connection = (b"prtr", b"Lab ") if space == "CMYK" else (b"mntr", b"XYZ ")
    header = struct.pack(">II4s4s4s", 0, 0x02400000, device, space.encode(), connection)
    header += bytes(12) + b"acsp" + bytes(28) + struct.pack(">3i", *map(_fixed, D50)) + bytes(48)
    return struct.pack(">I", start + len(data)) + header + table + data


def _tag(kind, content):
    return kind.encode() + bytes(4) + content


def _xyz(*values):
    return _tag("XYZ ", struct.pack(">3i", *map(_fixed, values)))


def _gamma(gamma):
    return _tag("curv", struct.pack(">IH", 1, round(gamma * 256)))


def _fixed(number):
    return round(number * 65_536)
