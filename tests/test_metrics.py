"""What Prometheus reads: counts over all processes, and gauges."""

import re
import socket
import time
from contextlib import closing

import pytest
import requests

from survey.metrics import BUCKETS, Metrics, RequestCounts
from tests.builders import SLUG, Visitor
from tests.serving import OverHttp, Server, free_port

LINE = re.compile(r'(\w+)(?:\{((?:\w+="[^"\\]*",?)+)\})? ([0-9.e+-]+)')


def parsed(text):
    """Return the samples of a text in Prometheus' format, (name, labels) → value; check it."""
    samples, types = {}, {}
    assert text.endswith("\n")
    for line in text.splitlines():
        if line.startswith("# TYPE "):
            _, _, name, kind = line.split()
            assert name not in types
            types[name] = kind
        elif not line.startswith("# HELP "):
            match = LINE.fullmatch(line)
            assert match, line
            name, labels, value = match.groups()
            assert types.get(name) or types[re.sub("_(bucket|sum|count)$", "", name)] == "histogram"
            assert (name, labels) not in samples
            samples[name, labels] = float(value)
    return samples


def a_request(method="GET", route="/s/<slug>"):
    return {"REQUEST_METHOD": method, "survey.route": route}


def of(counts):
    return parsed(Metrics(None, counts, dict).text())


def answered(samples):
    return {labels: n for (name, labels), n in samples.items() if name == "survey_requests_total"}


def test_requests_are_counted_by_route_method_and_status_over_all_processes():
    counts = RequestCounts(["/s/<slug>", "/healthz"], workers=3)
    for worker in (0, 1, 1, 2):
        counts.add(worker, a_request(), "200", 0.004)
    counts.add(2, a_request("POST"), "303", 0.2)
    counts.add(2, {"REQUEST_METHOD": "BREW"}, "418", 100)
    counts.add(0, a_request("GET", "/unknown"), "200", 0.1)
    samples = of(counts)
    assert {
        labels: n for (name, labels), n in samples.items() if name == "survey_requests_total"
    } == {
        'route="/s/<slug>",method="GET",status="200"': 4,
        'route="/s/<slug>",method="POST",status="303"': 1,
        'route="other",method="GET",status="200"': 1,
        'route="other",method="other",status="other"': 1,
    }


def test_a_request_is_in_each_bucket_that_it_does_not_exceed():
    counts = RequestCounts(["/s/<slug>"], workers=1)
    for seconds in (0.0, 0.005, 0.3, 11.0):
        counts.add(0, a_request(), "200", seconds)
    samples, labels = of(counts), 'route="/s/<slug>",method="GET"'
    within = {
        bucket: samples["survey_request_seconds_bucket", f'{labels},le="{bucket:g}"']
        for bucket in BUCKETS
    }
    assert within == {bucket: 2 if bucket < 0.3 else 3 for bucket in BUCKETS}
    assert samples["survey_request_seconds_bucket", f'{labels},le="+Inf"'] == 4
    assert samples["survey_request_seconds_count", labels] == 4
    assert samples["survey_request_seconds_sum", labels] == pytest.approx(11.305)


@pytest.fixture(scope="module")
def server(tmp_path_factory):
    port = free_port()
    folder = tmp_path_factory.mktemp("metrics")
    running = Server(folder, free_port(), options=("--metrics", str(port)), workers=2)
    running.open_study(SLUG)
    running.start()
    running.metrics = f"http://127.0.0.1:{port}/metrics"
    yield running
    running.kill()


def scraped(server):
    reply = requests.get(server.metrics, timeout=30)
    assert reply.headers["Content-Type"].startswith("text/plain; version=0.0.4")
    return parsed(reply.text)


@pytest.mark.slow
def test_a_survey_shows_its_answers_requests_and_size_and_no_ids(server):
    visitor = Visitor(OverHttp(server.address), SLUG)
    visitor.take_part()
    for _ in range(40):  # so that both processes answer some
        requests.get(f"{server.address}/healthz", timeout=30)
    samples = scraped(server)
    counts = answered(samples)
    assert counts['route="/healthz",method="GET",status="200"'] == 40
    assert counts['route="/s/<slug>/begin",method="POST",status="303"'] == 1
    assert 'route="/s/<slug>/q/<position>",method="POST",status="303"' in counts
    assert samples["survey_answers_stored", None] > 0
    size = (server.instance / "survey.sqlite3").stat().st_size
    assert samples["survey_database_bytes", None] >= size
    assert samples["survey_background_work_late_seconds", None] == 0
    assert SLUG not in "".join(str(labels) for _, labels in samples)


@pytest.mark.slow
def test_only_the_port_of_the_metrics_shows_them_and_one_who_is_silent_holds_up_nobody(server):
    assert requests.get(f"{server.address}/metrics", timeout=30).status_code == 404
    assert requests.get(server.metrics.replace("metrics", "other"), timeout=30).status_code == 404
    port = int(server.metrics.split(":")[2].split("/")[0])
    with closing(socket.create_connection(("127.0.0.1", port))):
        began = time.monotonic()
        assert scraped(server)
        assert time.monotonic() - began < 20
