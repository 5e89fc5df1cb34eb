"""Descriptors: what of an image is compared. Plain ones, good and bad; none is trained.

Each takes grey-level images (n, 8, 8), 0 for paper to 16 for ink, and returns their
features (n, d). Images are compared by the Euclidean distance of their features, so the
scale of a descriptor does not matter, but the scales within one do.
"""

from collections.abc import Callable, Mapping

import numpy as np
from numpy.random import PCG64, Generator
from numpy.typing import NDArray
from scipy.fft import dctn, rfft2

Images = NDArray[np.float64]
Features = NDArray[np.float64]
Describe = Callable[[Images], Features]

INK = 16  # the darkest grey level
ORIENTATIONS = 8
SEED = 8  # of the two descriptors that draw numbers

# The eight neighbours of a pixel, clockwise from the upper left one.
NEIGHBOURS = ((-1, -1), (-1, 0), (-1, 1), (0, 1), (1, 1), (1, 0), (1, -1), (0, -1))


def pixels(images: Images) -> Features:
    """The 64 grey levels as they are."""
    return np.asarray(images.reshape(len(images), -1))


def black_and_white(images: Images) -> Features:
    """The 64 pixels, 1 where at least half ink, else 0."""
    return np.asarray(pixels(images) >= INK / 2, dtype=np.float64)


def zones(images: Images) -> Features:
    """The 16 means of 2 × 2 pixels."""
    return np.asarray(images.reshape(-1, 4, 2, 4, 2).mean(axis=(2, 4)).reshape(-1, 16))


def projections(images: Images) -> Features:
    """The ink in each of 8 rows and 8 columns."""
    return np.hstack([images.sum(axis=2), images.sum(axis=1)])


def intensities(images: Images) -> Features:
    """How many pixels have each of the 17 grey levels, wherever they are."""
    at_level = np.equal.outer(pixels(images), np.arange(INK + 1))
    return np.asarray(at_level.sum(axis=1), dtype=np.float64)


def ellipse(images: Images) -> Features:
    """Where the ink is: its centre (2), and its spread as the ellipse's axes would tell (3).

    In pixels: the mean row and column, the standard deviations along both, and the signed
    root of the covariance. An image without ink is taken as ink everywhere.
    """
    ink = images + (images.sum(axis=(1, 2), keepdims=True) == 0)
    share = ink / ink.sum(axis=(1, 2), keepdims=True)
    row, column = np.indices(images.shape[1:])
    y, x = ((share * along).sum(axis=(1, 2)) for along in (row, column))
    dy, dx = row - y[:, None, None], column - x[:, None, None]
    yy, xx, xy = ((share * product).sum(axis=(1, 2)) for product in (dy * dy, dx * dx, dy * dx))
    return np.stack([y, x, np.sqrt(yy), np.sqrt(xx), np.sign(xy) * np.sqrt(np.abs(xy))], axis=1)


def gradients_in_cells(images: Images) -> Features:
    """Histograms of gradient orientation in 4 cells of 4 × 4 pixels, 8 directions each (32).

    Each pixel counts with its gradient's length, in the direction nearest to it.
    """
    cells = _oriented(images).reshape(-1, 2, 4, 2, 4, ORIENTATIONS).sum(axis=(2, 4))
    return np.asarray(cells.reshape(-1, 32))


def gradients(images: Images) -> Features:
    """One histogram of gradient orientation over the whole image (8)."""
    return np.asarray(_oriented(images).sum(axis=(1, 2)))


def _oriented(images: Images) -> Features:
    """Each pixel's gradient length under its direction: (n, 8, 8, directions)."""
    down, right = np.gradient(images, axis=(1, 2))
    turn = 2 * np.pi / ORIENTATIONS
    # Directions lie in the middle of their bins: levels are whole numbers, so the commonest
    # angles are multiples of 45°, and would fall on the edges otherwise.
    nearest = np.round(np.arctan2(down, right) / turn).astype(int) % ORIENTATIONS
    length = np.hypot(down, right)
    return np.asarray((nearest[..., None] == np.arange(ORIENTATIONS)) * length[..., None])


def low_frequencies(images: Images) -> Features:
    """The 4 × 4 lowest coefficients of the cosine transform (16)."""
    return np.asarray(dctn(images, axes=(1, 2), norm="ortho")[:, :4, :4].reshape(-1, 16))


def spectrum(images: Images) -> Features:
    """The amplitudes of the Fourier transform (40), blind to where the digit stands."""
    return np.asarray(np.abs(rfft2(images, axes=(1, 2))).reshape(len(images), -1))


def binary_patterns(images: Images) -> Features:
    """How often each of 256 local binary patterns occurs, wherever it does.

    A pixel's pattern says which of its eight neighbours are at least as dark as it. Taken
    at the 36 pixels that have eight.
    """
    inner = images[:, 1:-1, 1:-1]
    codes = np.zeros(inner.shape, dtype=int)
    for bit, (down, right) in enumerate(NEIGHBOURS):
        neighbour = np.roll(images, (-down, -right), axis=(1, 2))[:, 1:-1, 1:-1]
        codes |= (neighbour >= inner).astype(int) << bit
    cells = codes.reshape(len(images), -1) + 256 * np.arange(len(images))[:, None]
    counted = np.bincount(cells.ravel(), minlength=256 * len(images))
    return np.asarray(counted.reshape(-1, 256), dtype=np.float64)


def random_projection(images: Images) -> Features:
    """The pixels seen along 6 directions of the 64-dimensional space, drawn at random."""
    return np.asarray(pixels(images) @ _drawn(64, 6))


def amount_of_ink(images: Images) -> Features:
    """The mean grey level, one number."""
    return np.asarray(pixels(images).mean(axis=1, keepdims=True))


def random_order(images: Images) -> Features:
    """Numbers that have nothing to do with the images: the floor."""
    return _drawn(len(images), 8)


def _drawn(rows: int, columns: int) -> Features:
    return Generator(PCG64(SEED)).normal(size=(rows, columns))


DESCRIPTORS: Mapping[str, Describe] = {
    "pixels": pixels,
    "black and white": black_and_white,
    "zones": zones,
    "projections": projections,
    "low frequencies": low_frequencies,
    "spectrum": spectrum,
    "gradients in cells": gradients_in_cells,
    "gradients": gradients,
    "binary patterns": binary_patterns,
    "ellipse": ellipse,
    "intensities": intensities,
    "amount of ink": amount_of_ink,
    "random projection": random_projection,
    "random order": random_order,
}
FLOOR = "random order"
