"""The request's database session and engine, for views that pass them to services."""

from typing import cast

from flask import current_app
from sqlalchemy import Engine
from sqlalchemy.orm import Session


def session() -> Session:
    """Return the session of this request."""
    return cast(Session, current_app.extensions["sqlalchemy"].session)


def engine() -> Engine:
    """Return the application's engine."""
    return cast(Engine, current_app.extensions["sqlalchemy"].engine)
