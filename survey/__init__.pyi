from survey.notebook import analyse as analyse
from survey.notebook import pool as pool
from survey.notebook import read_bundle as read_bundle
from survey.notebook import replicate as replicate
from survey.notebook import reproduce as reproduce
from survey.notebook import score as score

__version__: str
