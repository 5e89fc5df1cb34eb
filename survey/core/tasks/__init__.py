"""The pure parts of the survey's own kinds of question: plans, questions, answers."""
