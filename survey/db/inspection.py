"""What a database says of itself: settings, damage, and how much it holds."""

from sqlalchemy import Connection, MetaData, Table, func, inspect, text

from survey.db.migration import VERSION_TABLE


def table_names(connection: Connection) -> list[str]:
    """Return the names of the tables that hold data, sorted."""
    return sorted(set(inspect(connection).get_table_names()) - {VERSION_TABLE})


def row_counts(connection: Connection) -> dict[str, int]:
    """Count the rows of every table."""
    tables = [Table(name, MetaData()) for name in table_names(connection)]
    counted = {
        table.name: table.select().with_only_columns(func.count()).select_from(table)
        for table in tables
    }
    return {name: connection.execute(rows).scalar_one() for name, rows in counted.items()}


def damage(connection: Connection, *, thorough: bool = True) -> list[str]:
    """Return what SQLite finds damaged in its file, nothing for PostgreSQL.

    ``thorough`` compares indexes with their tables too.
    """
    if connection.dialect.name != "sqlite":
        return []
    check = "integrity_check" if thorough else "quick_check"
    found = connection.exec_driver_sql(f"PRAGMA {check}(5)").scalars().all()
    return [line for line in found if line != "ok"]


def broken_references(connection: Connection) -> list[str]:
    """Return the tables with rows that refer to what is not there; PostgreSQL allows none."""
    if connection.dialect.name != "sqlite":
        return []
    rows = connection.exec_driver_sql("PRAGMA foreign_key_check").all()
    return sorted({str(row[0]) for row in rows})


def settings_of(connection: Connection) -> dict[str, str]:
    """Return the settings on which it depends whether an acknowledged answer survives."""
    if connection.dialect.name == "sqlite":
        settings = {
            name: str(connection.exec_driver_sql(f"PRAGMA {name}").scalar())
            for name in ("journal_mode", "synchronous", "foreign_keys")
        }
        version = connection.execute(text("SELECT sqlite_version()")).scalar_one()
        return {**settings, "library": str(version)}
    return {
        name: str(connection.execute(text(f"SHOW {name}")).scalar())
        for name in ("fsync", "synchronous_commit", "full_page_writes")
    }
