"""Table 1: five lists, three measures, values and ranks."""

from survey.core.measures import Setting
from survey.core.stimuli.questions import Question, build_question
from survey.services.paper.printed import MEASURES, Comparison, printed
from survey.services.paper.reproduction import Reproduction
from survey.services.reporting.sheets import Sheet


def table1() -> Reproduction:
    """Recompute Table 1 beside its print."""
    question, comparisons = recompute_table1()
    orders = {name: str(ranking) for name, ranking in question.rankings.items()}
    return Reproduction(
        "table1",
        {"rankings": orders},
        (
            Sheet(
                "orders",
                "Table 1. Orders of the five lists, best first",
                ("measure", "order"),
                tuple(orders.items()),
            ),
        ),
        tuple(comparisons),
    )


def recompute_table1() -> tuple[Question, list[Comparison]]:
    """Score the five lists of Table 1: the question they make, and its values and ranks."""
    rows = printed("table1")
    lists = [[int(row[f"rank{k}"]) for k in range(1, 6)] for row in rows]
    question = build_question(1, lists, MEASURES, Setting(int(rows[0]["collection_size"])))
    comparisons = []
    for index, row in enumerate(rows):
        for name in MEASURES:
            column = question.columns[name]
            value, rank = column.values[index], column.ranking.places[row["list"]]
            comparisons += [
                Comparison(row["list"], name, f"{value:.4f}", row[name.lower()]),
                Comparison(row["list"], f"{name} rank", str(rank), row[f"{name.lower()}_rank"]),
            ]
    return question, comparisons
