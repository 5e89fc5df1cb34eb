"""What the commands in the README and in the command's help are tried on."""

import gzip

QRELS = "".join(f"t{t} 0 d{d} {1 + d % 2}\n" for t in (1, 2) for d in (1, 2, 3))


def runs_for(folder, names=("a.txt", "b.txt.gz", "base.txt", "new.txt.gz")):
    """The files that documented commands read: judgements, and runs of two topics."""
    (folder / "qrels.txt").write_text(QRELS)
    for turn, name in enumerate(names):
        order = [1 + (d + turn) % 5 for d in range(5)]
        lines = "".join(
            f"t{t} Q0 d{d} {place} {9 - place} run\n"
            for t in (1, 2)
            for place, d in enumerate(order, t)
        )
        packed = gzip.compress(lines.encode()) if name.endswith("gz") else lines.encode()
        (folder / name).write_bytes(packed)
