"""oTree's settings, as ``otree startproject`` writes them, for one survey."""

SESSION_CONFIGS = [{"name": "survey", "app_sequence": ["survey"], "num_demo_participants": 1}]
SESSION_CONFIG_DEFAULTS = {"real_world_currency_per_point": 1.00, "participation_fee": 0.00}
LANGUAGE_CODE = "en"
REAL_WORLD_CURRENCY_CODE = "USD"
USE_POINTS = True
ADMIN_USERNAME = "admin"
ADMIN_PASSWORD = ""
SECRET_KEY = "for a benchmark on this machine only"  # noqa: S105 # nosec B105
