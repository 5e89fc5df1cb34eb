"""The same question in oTree: five lists, three columns, one field a page, ten pages."""

from otree.api import (  # type: ignore[import-not-found] # installed for the peers alone
    BaseConstants,
    BaseGroup,
    BasePlayer,
    BaseSubsession,
    Page,
    models,
    widgets,
)


class C(BaseConstants):  # type: ignore[misc] # oTree's types are not here
    """What oTree asks for."""

    NAME_IN_URL = "survey"
    PLAYERS_PER_GROUP = None
    NUM_ROUNDS = 10


class Subsession(BaseSubsession):  # type: ignore[misc]
    """A round."""


class Group(BaseGroup):  # type: ignore[misc]
    """Nobody plays with others."""


class Player(BasePlayer):  # type: ignore[misc]
    """One participant's answer to one question."""

    vote = models.IntegerField(
        label="Which method's ordering matches yours?",
        choices=[[1, "Method 1"], [2, "Method 2"], [3, "Method 3"], [4, "None of these"]],
        widget=widgets.RadioSelect,
    )


class Question(Page):  # type: ignore[misc]
    """Five lists and three columns, and the vote."""

    form_model = "player"
    form_fields = ("vote",)

    @staticmethod
    def vars_for_template(player):  # type: ignore[no-untyped-def]
        """Return the table of this round."""
        number = player.round_number
        rows = [
            {
                "letter": letter,
                "ranks": [number + place * step for step in (1, 3, 7, 11, 17)],
                "numbers": [f"0.{number}{place}4{column}" for column in (1, 2, 3)],
            }
            for place, letter in enumerate("ABCDE", 1)
        ]
        return {"rows": rows}


page_sequence = [Question]
