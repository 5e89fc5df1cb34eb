"""The heart of the survey, free of web and database.

measures → stimuli → agreement: score ranked lists, draw and blind the
questions, credit the votes.
"""
