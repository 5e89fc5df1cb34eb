"""Descriptors of pictures: vectors by which pictures are compared. Plain ones; none is trained.

Each takes a picture (rows, columns, 3), red, green and blue from 0 to 255, whose sides are
multiples of GRID, and returns a vector (float64) of length 1, or of zeros where the picture has
nothing of what is described. ``likeness`` compares two such vectors.
"""

from collections.abc import Callable, Mapping

import numpy as np
from numpy.typing import NDArray

Picture = NDArray[np.uint8]
Vector = NDArray[np.float64]

GRID = 8  # cells to a side
LUMA = (0.299, 0.587, 0.114)  # of red, green and blue, ITU-R BT.601
COLOUR_LEVELS = 4  # of each colour
GREY_LEVELS = 32
DIRECTIONS = 8
# The eight neighbours of a pixel, clockwise from the upper left one.
NEIGHBOURS = ((-1, -1), (-1, 0), (-1, 1), (0, 1), (1, 1), (1, 0), (1, -1), (0, -1))


def likeness(queries: NDArray[np.floating], pictures: NDArray[np.floating]) -> NDArray[np.floating]:
    """Return the cosines (queries, pictures) of vectors (…, d): 1 for the same direction.

    Of two square roots of histograms this is Bhattacharyya's coefficient, from 0 to 1.
    """
    return queries @ pictures.T


def colour_histogram(picture: Picture) -> Vector:
    """Return the square roots of the shares of LEVELS³ = 64 colours among the pixels.

    Source: Swain & Ballard, Color indexing, IJCV 7 (1991).
    """
    red, green, blue = np.moveaxis(picture.astype(np.int64) * COLOUR_LEVELS // 256, 2, 0)
    return _root_shares((red * COLOUR_LEVELS + green) * COLOUR_LEVELS + blue, COLOUR_LEVELS**3)


def grey_histogram(picture: Picture) -> Vector:
    """Return the square roots of the shares of GREY_LEVELS levels among the pixels."""
    levels = (_grey(picture) * GREY_LEVELS / 256).astype(np.int64)
    return _root_shares(levels, GREY_LEVELS)


def edge_orientations(picture: Picture) -> Vector:
    """Return histograms of edge directions in 4 × 4 cells: 16 × DIRECTIONS = 128 values.

    A pixel counts with the length of its gradient, in the nearest of DIRECTIONS directions from 0
    to 180°; dark to light is not distinguished from light to dark.

    Source: Dalal & Triggs, Histograms of oriented gradients, CVPR 2005, without its blocks.
    """
    down, right = np.gradient(_grey(picture))
    nearest = np.round(np.arctan2(down, right) * DIRECTIONS / np.pi).astype(np.int64) % DIRECTIONS
    lengths = np.hypot(down, right)
    layers = [np.where(nearest == each, lengths, 0) for each in range(DIRECTIONS)]
    return _unit(np.stack([_cells(layer, 4) for layer in layers]))


def tiny_grey(picture: Picture) -> Vector:
    """Return the mean greys of GRID × GRID = 64 cells, less their mean.

    Source: Torralba, Fergus & Freeman, 80 million tiny images, PAMI 30 (2008), smaller.
    """
    cells = _cells(_grey(picture), GRID)
    return _unit(cells - cells.mean())


def binary_patterns(picture: Picture) -> Vector:
    """Return the square roots of the shares of 256 local binary patterns.

    A pixel's pattern says which of its eight neighbours are at least as light as it; pixels of the
    border have none.

    Source: Ojala, Pietikäinen & Harwood, Pattern Recognition 29 (1996).
    """
    grey = _grey(picture).astype(np.int64)
    rows, columns = grey.shape
    codes = np.zeros((rows - 2, columns - 2), dtype=np.int64)
    for bit, (down, right) in enumerate(NEIGHBOURS):
        neighbour = grey[1 + down : rows - 1 + down, 1 + right : columns - 1 + right]
        codes |= (neighbour >= grey[1:-1, 1:-1]).astype(np.int64) << bit
    return _root_shares(codes, 256)


DESCRIPTORS: Mapping[str, Callable[[Picture], Vector]] = {
    "colour-histogram": colour_histogram,
    "grey-histogram": grey_histogram,
    "edge-orientations": edge_orientations,
    "tiny-grey": tiny_grey,
    "binary-patterns": binary_patterns,
}


def _grey(picture: Picture) -> Vector:
    rows, columns, _ = picture.shape
    if rows % GRID or columns % GRID:
        raise ValueError(f"a picture of {columns} × {rows} found; multiples of {GRID} are needed")
    # Rounded, so that the grey of a grey pixel is its level exactly.
    return np.asarray((picture @ np.array(LUMA)).round(6))


def _cells(values: Vector, side: int) -> Vector:
    """Return the means (side, side) of equal cells."""
    rows, columns = values.shape
    cells = values.reshape(side, rows // side, side, columns // side)
    return np.asarray(cells.mean(axis=(1, 3)))


def _root_shares(bins: NDArray[np.int64], count: int) -> Vector:
    return np.asarray(np.sqrt(np.bincount(bins.ravel(), minlength=count) / bins.size))


def _unit(values: Vector) -> Vector:
    length = float(np.linalg.norm(values))
    return np.asarray(values.ravel() / length if length else values.ravel())
