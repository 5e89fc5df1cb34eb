"""The base of the stylesheets is what its makers released."""

from hashlib import sha256
from pathlib import Path

STATIC = Path(__file__).parents[1] / "static"


def test_bootstraps_reboot_is_as_it_was_released_with_its_licence():
    content = (STATIC / "bootstrap-reboot.min.css").read_bytes()
    assert b"Bootstrap Reboot v5.3.9" in content
    assert sha256(content).hexdigest() == (
        "d6c4460973c13a2debdc9ebfeb4c4cfe1c2175a693b37aa5903ad510df6ab200"
    )
    assert "The MIT License" in (STATIC / "bootstrap-LICENSE.txt").read_text()
