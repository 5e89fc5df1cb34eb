"""The catalogues are complete and in step with the source, and carry a participant all the way."""

import gettext
import html
import json
import re
from dataclasses import replace
from pathlib import Path

import pytest
from babel.messages import Catalog
from babel.messages.extract import DEFAULT_KEYWORDS, extract_from_dir
from babel.messages.frontend import parse_mapping_cfg
from babel.messages.mofile import write_mo
from babel.messages.pofile import read_po
from click.testing import CliRunner
from markupsafe import Markup

from survey.cli import survey
from survey.core.measures import MEASURES
from survey.core.studies.plan import text_rules
from survey.errors import SurveyError
from survey.kinds.ordering.plan import OrderingPlan
from survey.services.studies import languages as language_files
from survey.services.studies import lifecycle, plans
from survey.services.studies.languages import TRANSLATIONS_FOLDER, languages
from survey.web import language as page
from tests.builders import SLUG, Visitor, a_plan, an_open_study
from tests.commands import environment_of
from tests.databases import ON_SQLITE

ROOT = Path(__file__).parents[1]
OTHERS = languages()[1:]  # without English, which needs no catalogue
CONTACT = "someone@example.org"
PERCENT, BRACES = re.compile(r"%\((\w+)\)s"), re.compile(r"\{(\w+)\}")


def forms(text):
    """A message's forms: one, or one for each number."""
    return [text] if isinstance(text, str) else list(text)


def catalogue(language):
    with (TRANSLATIONS_FOLDER / language / "LC_MESSAGES" / "messages.po").open("rb") as file:
        return [message for message in read_po(file) if message.id]


@pytest.fixture(scope="module")
def extracted():
    """All that participants read, as ``make translations`` finds it."""
    with (ROOT / "babel.cfg").open() as file:
        methods, options = parse_mapping_cfg(file)
    keywords = {**DEFAULT_KEYWORDS, "lazy_gettext": None, "marked": None}
    found = {
        message
        for folder in ("survey", "templates")
        for _, _, message, _, _ in extract_from_dir(
            ROOT / folder,
            [(pattern.removeprefix(f"{folder}/"), how) for pattern, how in methods],
            options,
            keywords,
        )
    }
    assert len(found) > 200
    return found


def test_there_are_english_and_greek():
    assert languages()[0] == "en"
    assert "el" in languages()


@pytest.mark.slow
@pytest.mark.parametrize("language", OTHERS)
def test_everything_is_translated_and_nothing_is_left_from_before(language, extracted):
    messages = catalogue(language)
    ids = {message.id if isinstance(message.id, str) else tuple(message.id) for message in messages}
    assert ids == extracted, "run `make translations`"
    for message in messages:
        assert not message.fuzzy, message.id
        assert all(form.strip() for form in forms(message.string)), message.id


@pytest.mark.parametrize("language", OTHERS)
def test_the_compiled_catalogue_says_what_its_source_says(language):
    with (TRANSLATIONS_FOLDER / language / "LC_MESSAGES" / "messages.mo").open("rb") as file:
        compiled = gettext.GNUTranslations(file)._catalog
    expected = {}
    for message in catalogue(language):
        if isinstance(message.id, str):
            expected[message.id] = message.string
        else:
            expected |= {(message.id[0], n): text for n, text in enumerate(message.string)}
    compiled.pop("")
    assert compiled == expected, "run `make translations`"


def test_in_greek_a_method_orders_the_systems_and_is_named_as_a_choice():
    strings = {message.id: message.string for message in catalogue("el")}
    task = strings["Which method puts the {lists} systems in the same order as you?"]
    assert task.startswith("Ποια μέθοδος βάζει τα {lists} συστήματα στη σειρά")
    # The name of a method is in the nominative, so inside a sentence it is quoted.
    ticked = strings["You ticked %(methods)s and gave your own order"]
    assert "«%(methods)s»" in ticked


@pytest.mark.parametrize("language", OTHERS)
def test_placeholders_agree(language):
    for message in catalogue(language):
        singular = forms(message.id)[0]
        for number, form in enumerate(forms(message.string)):
            for placeholder in (PERCENT, BRACES):
                expected = [set(placeholder.findall(" ".join(forms(message.id))))]
                if not number:  # "the last one" has no number in English either
                    expected.append(set(placeholder.findall(singular)))
                assert set(placeholder.findall(form)) in expected, form
            assert not re.search(r"[%{}]", BRACES.sub("", PERCENT.sub("", form))), form


@pytest.mark.parametrize("language", OTHERS)
def test_translations_are_sound_html_wherever_they_stand(language):
    for message in catalogue(language):
        for form in forms(message.string):
            opened = re.findall(r"<(\w+)", form)
            assert sorted(opened) == sorted(re.findall(r"</(\w+)>", form)), form
            assert not re.search(r"[<>\"]", re.sub(r"</?\w[^<>]*>", "", form)), form


@pytest.mark.parametrize("language", OTHERS)
def test_no_catalogue_names_a_measure(language):
    messages = catalogue(language)
    said = " ".join(form for one in messages for form in [*forms(one.id), *forms(one.string)])
    for measure in MEASURES.values():
        for name in (measure.name, measure.mean_name, measure.label):
            assert not re.search(rf"\b{name}\b", said, re.IGNORECASE), name


TEXTS = {*text_rules(OrderingPlan)} - {"contact"}


@pytest.mark.parametrize("language", OTHERS)
@pytest.mark.parametrize("preset", plans.PRESETS)
def test_a_preset_is_translated_with_its_placeholders_and_nothing_else_changes(preset, language):
    values = plans.preset_values(preset)
    other = plans.translated(values, language)
    assert other.keys() == values.keys()
    for name, text in values.items():
        if name == "personal_fields":
            for field, changed in zip(text, other[name], strict=True):
                assert changed["name"] == field["name"]
                assert changed["label"] != field["label"]
                assert len(changed.get("options", ())) == len(field.get("options", ()))
        elif isinstance(text, str) and name in TEXTS:
            assert other[name] != text or not text, name
            assert sorted(set(BRACES.findall(other[name]))) == sorted(set(BRACES.findall(text)))
            assert other[name].count("\n\n") == text.strip().count("\n\n")
        else:
            assert other[name] == text, name


def test_english_leaves_a_preset_as_it_is():
    values = plans.preset_values("mnro")
    assert plans.translated(values, "en") == values
    assert "language" not in plans.preset_plan("mnro").content()


def test_a_plan_in_a_language_without_a_catalogue_is_refused():
    with pytest.raises(SurveyError, match=r"no translation into 'xx'; there are en, .*el"):
        a_plan(language="xx")


def test_sentences_of_another_package_are_translated_by_its_catalogue(tmp_path, monkeypatch):
    words = Catalog("el")
    words.add("Pick a word.", "Διαλέξτε μια λέξη.")
    words.add("Back", "Όχι αυτό")
    words.add(("%(num)s star", "%(num)s stars"), ("%(num)s αστέρι", "%(num)s αστέρια"))
    file = tmp_path / "el" / "LC_MESSAGES" / "messages.mo"
    file.parent.mkdir(parents=True)
    with file.open("wb") as opened:
        write_mo(opened, words)
    monkeypatch.setattr(language_files, "OTHER_FOLDERS", {tmp_path: None})
    greek = language_files.catalogue.__wrapped__("el")
    assert greek.gettext("Pick a word.") == "Διαλέξτε μια λέξη."
    assert greek.ngettext("%(num)s star", "%(num)s stars", 2) == "%(num)s αστέρια"
    assert greek.gettext("Back") == "Πίσω"
    assert greek.gettext("Nobody's sentence") == "Nobody's sentence"


@ON_SQLITE
def test_a_text_of_ones_own_goes_before_the_presets(session):
    plan = a_plan(language="el", title="Δοκιμή")
    assert (plan.language, plan.title, plan.list_noun) == ("el", "Δοκιμή", "Σύστημα")


# The participant's way, on one database: what is stored has no language.


def personal_fields():
    fields = plans.translated(plans.preset_values("mnro"), "el")["personal_fields"]
    more = {"label": "Σύνολο, 100 %", "required": False}
    return [
        *fields,
        {"name": "note", "kind": "text", **more},
        *({"name": name, "kind": "number", **more, **bound} for name, bound in BOUNDS.items()),
    ]


BOUNDS = {"any": {}, "least": {"lowest": 2}, "most": {"highest": 2}}


@pytest.fixture
def study(session):
    return an_open_study(session, language="el", contact=CONTACT, personal_fields=personal_fields())


class Reader(Visitor):
    """A visitor who looks for English on every page."""

    def _see(self, response):
        super()._see(response)
        self.read = readable(self.page)
        assert self.page.html["lang"] == "el", self.address
        assert left_in_english(self.read) == [], self.address

    def submit_too_late(self, path):
        """Send a form with a token that is no longer good."""
        self.submit(path, csrf_token="old")
        assert self.status == 400
        assert "Παρακαλούμε στείλτε την ακόμη μία φορά." in self.text


def readable(page):
    """What a page says to eyes, screen readers and its script."""
    attributes = [tag[name] for name in ("aria-label", "title") for tag in page.select(f"[{name}]")]
    said = [json.loads(tag["data-words"]) for tag in page.select("[data-words]")]
    spoken = [attributes, [list(one.values()) for one in said]]
    words = BRACES.sub("", json.dumps(spoken, ensure_ascii=False))
    for code in page.select(".code"):
        code.extract()
    text = " ".join([page.get_text(" ", strip=True), words]).replace(CONTACT, "")
    return re.sub(r"\s+", " ", text)


def left_in_english(text):
    """English messages of the catalogue in a text, and other words in Latin letters."""
    found = [one for one, pattern in ENGLISH if pattern.search(text)]
    words = set(re.findall(r"[A-Za-z]{2,}", text)) - {"cookie"}
    return found + sorted(words)


def english_messages():
    for message in catalogue("el"):
        for form in forms(message.id):
            plain = html.unescape(re.sub(r"<.*?>", "", form))
            parts = [re.escape(part) for part in PERCENT.split(BRACES.sub("%(x)s", plain))[::2]]
            if re.search(r"[A-Za-z]{2}", "".join(parts)):
                yield form, re.compile(r"(?<!\w)" + ".{1,60}?".join(parts).strip() + r"(?!\w)")


ENGLISH = list(english_messages())


@ON_SQLITE
def test_the_search_for_english_finds_it(client, session):
    an_open_study(session)
    visitor = Visitor(client)
    visitor.start()
    found = left_in_english(readable(visitor.page))
    for one in ("Back", "Methods, best first", "%(letter)s first", "Next"):
        assert one in found


@pytest.mark.slow
@ON_SQLITE
def test_a_participant_reads_greek_from_the_entry_to_the_receipt(app, study, session):
    visitor = Reader(app.test_client())
    visitor.open()
    assert visitor.page.h1.text == "Κατάταξη αποτελεσμάτων αναζήτησης"
    assert "Τρεις ερωτήσεις για μικρές λίστες αριθμών" in visitor.text
    assert "Ρωτούν: η ομάδα ανάκτησης του X." in visitor.text
    for code in ("", "AAAAA-BBBBB-CCCC", "x" * 65):
        visitor.submit("/resume", code=code)
        assert visitor.status in (400, 404)
    visitor.submit("/begin")
    visitor.submit("/consent")
    assert visitor.status == 400
    visitor.submit("/consent", agree="y", consent_version="another")
    assert visitor.status == 409
    visitor.submit("/decline")
    assert "Επιλέξατε να μη συμμετάσχετε" in visitor.text
    visitor.open()
    visitor.open("/consent")
    visitor.submit("/consent", agree="y")
    describe_with_mistakes(visitor)
    visitor.submit("/about-you", age="23", education="Πτυχίο")
    assert "Φανταστείτε πέντε συστήματα αναζήτησης: A, B, C, D και E." in visitor.text
    visitor.submit("/scenario")
    practise(visitor)
    answer_with_mistakes(visitor)
    visitor.open("/q/4")
    assert visitor.status == 404
    visitor.open("/review")
    visitor.submit_too_late("/review")
    visitor.open("/q/2")
    assert visitor.page.select_one("button.go:not(.hidden)").text == "Συνέχεια"
    visitor.submit("/q/2", choice=["2", "3"], settle="several")
    assert "Μέθοδοι 2 και 3" in visitor.text
    visitor.submit("/review")
    assert visitor.path == "/done"
    assert visitor.page.h1.text == "Τέλος: οι απαντήσεις σας υποβλήθηκαν"
    visitor.open()


def describe_with_mistakes(visitor):
    for fields, problem in (
        ({}, "Παρακαλούμε συμπληρώστε το πεδίο «Η ηλικία σας σε έτη»."),
        ({"age": "22.5"}, "Γράψτε την ηλικία σας με ψηφία, για παράδειγμα 20."),
        ({"age": "7"}, "ένας ακέραιος αριθμός από 10 έως 110, παρακαλούμε."),
        ({"education": "42"}, "επιλέξτε μία από τις δυνατές απαντήσεις."),
        ({"note": "1" * 501}, "Σύνολο, 100 %: έως 500 χαρακτήρες, παρακαλούμε."),
        ({"least": "1"}, "Σύνολο, 100 %: ένας ακέραιος αριθμός από 2 και πάνω, παρακαλούμε."),
        ({"most": "3"}, "Σύνολο, 100 %: ένας ακέραιος αριθμός έως 2, παρακαλούμε."),
    ):
        visitor.submit("/about-you", **fields)
        assert visitor.status == 400
        assert problem in visitor.text


def practise(visitor):
    visitor.submit("/practice/check", better="0")
    assert "Ένας μικρός αριθμός σημαίνει ότι βρέθηκε νωρίς." in visitor.text
    visitor.submit("/practice/check", better="1")
    assert "Σωστά." in visitor.text
    for step in (1, 2, 3):
        assert f"Εξάσκηση {step} από 3" in visitor.text
        visitor.submit("/practice")
    assert visitor.path == "/q/1"


RANKS = [f"rank_{letter}" for letter in "ABCDE"]
NOT_COMPLETE = "Η σειρά σας δεν είναι πλήρης· "
OWN = {"choice": "own", "rank_A": "2", "rank_B": "1", "rank_C": "2", "rank_D": "5", "rank_E": "4"}


def answer_with_mistakes(visitor):
    assert visitor.page.select_one("progress").text == "0 από 3"
    first = visitor.page
    for fields, problem in (
        ({}, "Επιλέξτε μια μέθοδο ή δώστε τη δική σας σειρά."),
        ({"choice": ["1", "own"]}, "Επιλέξατε τη δική σας σειρά και μια μέθοδο."),
        ({"rank_A": "1"}, NOT_COMPLETE + "λείπουν οι θέσεις των B, C, D και E."),
        ({"choice": "4"}, "Επιλέχθηκε κάτι που δεν υπάρχει σε αυτή τη σελίδα."),
        ({"choice": "own", "rank_A": "6"}, "Η θέση που δίνετε στο A: ένας αριθμός από 1 έως 5"),
        (
            {"choice": "own", "rank_A": "1", "rank_C": "2"},
            NOT_COMPLETE + "λείπουν οι θέσεις των B, D και E.",
        ),
        (OWN | {"rank_D": ""}, NOT_COMPLETE + "λείπει η θέση του D."),
        ({"choice": "1", "submission_key": "x"}, "Παρακαλούμε ελέγξτε τις επιλογές σας"),
    ):
        visitor.submit("/q/1", **fields)
        assert visitor.status in (400, 409)
        assert problem in visitor.text
    visitor.submit("/q/1", **OWN)
    assert "το ίδιο νωρίς ή νωρίτερα" in visitor.text
    visitor.submit("/q/1", **OWN)
    visitor.open("/q/1")
    assert (
        "Η σειρά σας: B πρώτο· A και C ισοβαθμούν στη δεύτερη θέση· E τέταρτο· D πέμπτο."
        in visitor.text
    )
    visitor.page = first
    visitor.submit("/q/1", choice="1")
    assert visitor.status == 409
    assert "Εκεί αποθηκεύτηκε: η δική σας σειρά, B > A = C > E > D." in visitor.text
    visitor.submit("/q/1", choice="1")
    visitor.open("/q/1")
    visitor.submit_too_late("/q/1")
    visitor.open("/q/2")
    visitor.submit("/q/2", choice="2")
    assert visitor.page.select_one("progress").text == "2 από 3"
    visitor.submit("/q/3", choice="own", **dict.fromkeys(RANKS, "1"))
    assert "Η δική σας σειρά" in visitor.text


@ON_SQLITE
def test_a_closed_study_says_so_in_greek(app, study, session):
    halfway, late = (Reader(app.test_client()) for _ in range(2))
    halfway.open()
    halfway.submit("/begin")
    halfway.submit("/consent", agree="y")
    page = halfway.page
    lifecycle.close_study(session, session.merge(study))
    halfway.open("/about-you")
    assert halfway.page.h1.text == "Αυτή η έρευνα έχει κλείσει"
    halfway.page = page
    halfway.submit("/about-you", age="23", education="Πτυχίο")
    assert halfway.status == 403
    halfway.open()
    assert "Αυτή η έρευνα έχει κλείσει." in halfway.text
    late.open()
    assert "Αυτή η έρευνα έχει κλείσει." in late.text


@ON_SQLITE
def test_other_pages_stay_english(client, study, session):
    an_open_study(session, "english")
    Reader(client).open()
    visitor = Visitor(client, "english")
    for path in ("", "/nothing"):
        visitor.open(path)
        assert visitor.page.html["lang"] == "en"
    assert "There is no such page" in visitor.text
    home = client.get("/").get_data(as_text=True)
    assert '<html lang="en">' in home


@ON_SQLITE
def test_a_study_in_a_language_without_a_catalogue_has_english_pages(client, session):
    made = lifecycle.create_study(session, SLUG, replace(a_plan(), language="xx"))
    lifecycle.open_study(session, made)
    visitor = Visitor(client)
    visitor.start()
    assert visitor.page.html["lang"] == "en"
    assert "Methods, best first" in visitor.text


@pytest.mark.slow
@ON_SQLITE
def test_simulated_participants_find_their_way_in_greek(app, study, session):
    session.rollback()
    for command in (["simulate", SLUG, "--participants", "2"], ["analyse", SLUG, "--include-test"]):
        done = CliRunner().invoke(survey, command, env=environment_of(app))
        assert done.exit_code == 0, done.output


@pytest.mark.parametrize(
    ("count", "said"),
    [
        (1, "Μία ερώτηση για δύο λίστες αποτελεσμάτων"),
        (3, "Τρεις ερωτήσεις για δύο λίστες αποτελεσμάτων"),
        (9, "Εννέα ερωτήσεις για δύο λίστες αποτελεσμάτων"),
        (10, "10 ερωτήσεις για δύο λίστες αποτελεσμάτων"),
    ],
)
def test_a_number_below_ten_is_a_word_that_agrees_with_what_is_counted(app, count, said):
    both = (
        "%(count)s question about two lists of search results",
        "%(count)s questions about two lists of search results",
    )
    with app.test_request_context():
        page.set_language("el")
        assert page.ngettext(*both, count, count=count) == said
        shown = app.jinja_env.globals["ngettext"](*both, count, count=count)
    assert (shown, type(shown)) == (said, Markup)


def test_agreeing_numbers_leave_what_is_filled_in_escaped(app):
    with app.test_request_context():
        page.set_language("el")
        shown = app.jinja_env.globals["gettext"]("Your order: %(ordering)s.", ordering="<b>3 ‹f›")
    assert shown == "Η σειρά σας: &lt;b&gt;3 ‹f›."


def test_every_number_that_is_to_agree_has_its_place_in_a_pattern():
    for code in OTHERS:
        for message in catalogue(code):
            for text in forms(message.string):
                assert text.count("‹") == len(re.findall(r"%\(\w+\)s‹[fn]›", text)), text
