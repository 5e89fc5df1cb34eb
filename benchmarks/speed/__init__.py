"""Side-by-side speed runs: peers and limits in the same run, as ratios; ``make bench``.

Each module of ``parts`` measures one thing and returns a ``Part``. Its figures are kept in
``results/``, and ``pages`` quotes them in README.md and docs/speed.md.
"""
