"""What groups come by that send runs to a collection with secret judgements."""

from collections.abc import Iterator
from pathlib import Path
from tempfile import TemporaryDirectory

from survey.services.collections import secret
from tests.accessibility.sights import House, Sight
from tests.secret_album import NAME, a_run, publish_album
from tests.web.desk import Reader, a_file

PAGE = f"/collections/{NAME}"


def sending_runs(house: House, _: str) -> Iterator[Sight]:
    """The page of a collection: as a group finds it, after a run, and at the end."""
    with TemporaryDirectory() as folder:
        album = publish_album(house.session, Path(folder), title="Our album")
    token = secret.add_group(house.session, album, "University of Example")
    house.session.rollback()
    group = Reader(house.app)
    group.open(PAGE)
    yield house.seen("Secret judgements", "as it is", group)
    group.send(PAGE, token="no token", run=a_file(a_run(1.0), "run.txt"))
    yield house.seen("Secret judgements", "error: token", group)
    group.open(PAGE)
    group.send(PAGE, token=token, run=a_file("t1 Q0 d1 1 high tag\n", "run.txt"))
    yield house.seen("Secret judgements", "error: run", group)
    group.send(PAGE, token=token, run=a_file(a_run(1.0), "run.txt"))
    yield house.seen("Secret judgements", "a run is scored", group)
    secret.close(house.session, album)
    secret.reveal(house.session, album)
    house.session.rollback()
    group.open(PAGE)
    yield house.seen("Secret judgements", "final scores, revealed", group)
