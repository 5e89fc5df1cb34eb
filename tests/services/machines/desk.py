"""Studies of each kind, from frozen bundles, and pictures for them."""

import io
from collections import defaultdict

from PIL import Image

from survey.services.exchange.bundle_reader import read_bundle
from survey.services.exchange.input_files import open_files
from survey.services.machines.endpoint import Endpoint
from survey.services.machines.fake_endpoint import FakeEndpoint, planted, serving
from survey.services.machines.judging import Budget, Judging, ReplyCache, Settings
from tests.freeze import RELEASED

STUDIES = ("ordering", "of-runs", "preference", "labelling", "grouping")
PREFERENCES = {
    "ordering": "MNRO=1",
    "labelling": "10:0",
    "grouping": "2:0",
}


FREE = Budget()


class Colours(defaultdict):
    """A picture of its own colour for each SHA-256."""

    def __missing__(self, sha256):
        target = io.BytesIO()
        colour = tuple(bytes.fromhex(sha256[:6]))
        Image.new("RGB", (8, 6), colour).save(target, "WEBP", lossless=True)
        self[sha256] = target.getvalue()
        return self[sha256]

    def __contains__(self, sha256):
        return True


def content_named(name):
    path = next(RELEASED.glob(f"*/{name}.zip"))
    return read_bundle(open_files(path, path.name))[0]


def judging_of(name, **settings):
    return Judging(content_named(name), Settings("a model", **settings), Colours())


class Asked:
    """A judging that a fake endpoint answers through HTTP; ``waits``: seconds between tries."""

    def __init__(self, judging, folder, *, preference=None, budget=FREE, **faults):
        self.judging, self.waits, self.cache = judging, [], ReplyCache(folder / "replies.jsonl")
        self.fake = FakeEndpoint(planted(judging, preference), **faults)
        with serving(self.fake) as url:
            self.endpoint = Endpoint(url, judging.schema, wait=self.waits.append)
            self.ended = judging.ask(self.endpoint, self.cache, budget, lambda _: None)

    @property
    def record(self):
        return self.judging.record(self.cache)
