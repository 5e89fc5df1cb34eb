"""What is measured, a module each with a ``run()`` that returns a ``Part``."""

NAMES = ("measures", "pages", "analysis", "bundle", "pictures", "labelling", "power", "start")
