"""Models, queries and migrations; the only place that knows SQL."""

from flask_sqlalchemy import SQLAlchemy

from survey.db.models import Base

db = SQLAlchemy(model_class=Base, disable_autonaming=True)
