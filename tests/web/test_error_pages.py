"""Pages of what goes wrong: in the reader's language, where no study says which."""

import pytest

from tests.databases import ON_SQLITE


@ON_SQLITE
@pytest.mark.parametrize(
    ("asked", "spoken", "title"),
    [
        ("el", "el", "Δεν υπάρχει τέτοια σελίδα"),
        ("el-GR,el;q=0.9,en;q=0.5", "el", "Δεν υπάρχει τέτοια σελίδα"),
        ("en", "en", "There is no such page"),
        ("fr", "en", "There is no such page"),
    ],
)
@pytest.mark.parametrize("address", ["/nowhere", "/s/no-such-study"])
def test_an_error_speaks_the_language_the_browser_asks_for(client, address, asked, spoken, title):
    answer = client.get(address, headers={"Accept-Language": asked})
    assert answer.status_code == 404
    assert f'<html lang="{spoken}">' in answer.text
    assert title in answer.text
