"""Table 1: five lists, three measures, values and ranks."""

from survey.core.measures import Setting
from survey.core.stimuli.questions import Question, build_question
from survey.services.paper.printed import MEASURES, Comparison, printed


def table1() -> tuple[Question, list[Comparison]]:
    """Recompute Table 1: five lists, three measures, values and ranks."""
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
