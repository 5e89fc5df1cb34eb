"""Machines that judge a study's questions: their records, made without a network."""

import json

import numpy as np

from survey.core.kinds import KINDS
from survey.services.exchange.bundle import content_of
from survey.services.machines import stored
from survey.services.machines.endpoint import Reply
from survey.services.machines.fake_endpoint import NOTHING_SHOWN
from survey.services.machines.judging import Judging, Settings, usual_orders


def a_record(content, reply=None, samples=1, orders=None, pool=None, simulated="", model="gpt-x"):
    """The record of a machine that replies ``reply(question)``: an object, or text; None refuses.

    By default it replies as the survey's simulated machine.
    """
    orders = orders or usual_orders(content)
    judging = Judging(content, Settings(model, samples, orders, pool or {}, simulated), {})
    reply = reply or _simulated(judging)
    replies = {}
    for question, request in judging.questions():
        if (request.digest, question.sample) in replies:
            continue  # questions that show the same are one request
        made = reply(question)
        text = made if made is None or isinstance(made, str) else json.dumps(made)
        replies[request.digest, question.sample] = {
            **{"request": request.digest, "sample": question.sample, "tries": 1, "status": ""},
            **Reply(text, refused=text is None, ended="stop", model="gpt-x-1")._asdict(),
        }
    return judging.record(replies)


def _simulated(judging):
    kind, chance = KINDS[judging.plan.kind], np.random.default_rng(7)
    prefers = kind.preference(judging.plan, None, NOTHING_SHOWN)
    return lambda asked: kind.simulated_reply(judging.plan, asked.asked, prefers, chance)


def judge(session, study, reply=None, **settings):
    """Store a machine's record with a study, and return it."""
    content = content_of(session, study, include_test=True)
    record = a_record(content, reply, **settings)
    stored.store(session, study, record, "Ada")
    session.commit()
    return record
