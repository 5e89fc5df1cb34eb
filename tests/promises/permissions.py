"""Who may do what: every route, every method, every role, and what is answered.

A route that is not here fails the tests. The columns are those of ``world.ROLES``: nobody
known, a participant of the study, a participant of another study; and signed in, a
researcher without any study, a viewer and an owner of the study, an owner of another one.

One answer alone is everybody's. 200, 400, 401, 403, 404: the status. "in": led to the
sign-in. ">x": led to an address that ends in x; ">entry" to the study's first page, which
is where those are led who are no participant. Where something was refused, the tests see
to it that nothing changed.

HEAD is answered as GET; OPTIONS says which methods there are to those who may look.
"""

from dataclasses import dataclass

from tests.promises.cast import PASSWORD, ROLES

# Addresses hold {names} of things that the study in them has, see ``World.ids``.
TABLE = """
GET  /                                       200
GET  /healthz                                200
GET  /readyz                                 200
GET  /paper/table4                           200
GET  /paper/slips                            200
GET  /paper/study/urbano-2012                200
GET  /paper/study/no-study                   404
GET  /what-is-stored                         200
GET  /help                                   200
GET  /help/recruitment                       200
GET  /help/no-guide                          404
GET  /help/files/screenshots/entry-laptop-light.png  200
GET  /help/files/../../pyproject.toml        404
GET  /static/survey.css                      200
GET  /studies                                200
GET  /studies/my-draft                       404
GET  /studies/my-open                        404
GET  /studies/my-closed                      404
GET  /studies/my-public                      200
GET  /studies/my-public/bundle.zip           200
GET  /studies/my-public/CITATION.cff         200
GET  /studies/my-public/citation.bib         200
GET  /studies/my-public/try                  200
POST /studies/my-public/try                  200
POST /studies/my-open/try                    404
GET  /studies/my-public/pictures/small/no-name.webp  404
GET  /studies/my-public/texts/no-name.html   404
GET  /api/v1/openapi.json                    200
GET  /api/v1/studies                         401
GET  /api/v1/studies/my-public               401
GET  /api/v1/studies/my-public/progress      401
GET  /api/v1/studies/my-public/results       401
GET  /api/v1/studies/my-public/bundle        401

GET  /collections/our-album                  200
POST /collections/our-album                  400
POST /collections/our-album/runs             403
GET  /collections/our-album/files/topics.csv  200
GET  /collections/our-album/files/judgements.txt  200
GET  /collections/our-album/files/secret-judgements.txt  404
GET  /collections/none                       404
POST /collections/none/runs                  404

GET  /research/sign-in                       200
POST /research/sign-in                       >research
POST /research/sign-out                      >sign-in
GET  /research/welcome/{newcomer}            200
POST /research/welcome/{newcomer}            >research
GET  /research/welcome/no-link               404
POST /research/welcome/no-link               404
GET  /research/                              in in in 200 200 200 200
GET  /research/account                       in in in 200 200 200 200
GET  /research/account/confirm               in in in 200 200 200 200
POST /research/account/confirm               401 401 401 >research >research >research >research
POST /research/account/password              401 401 401 >account >account >account >account
GET  /research/account/second-factor         in in in 200 200 200 200
POST /research/account/second-factor         401 401 401 400 400 400 400
POST /research/account/second-factor/remove  401 401 401 >account >account >account >account
POST /research/account/sign-out-everywhere   401 401 401 >sign-in >sign-in >sign-in >sign-in
GET  /research/import                        in in in 200 200 200 200
POST /research/import                        401 401 401 400 400 400 400
GET  /research/new                           in in in 200 200 200 200
POST /research/new                           401 401 401 >plan >plan >plan >plan
POST /research/stage                         401 401 401 400 400 400 400
GET  /research/examples/qrels.txt            in in in 200 200 200 200
GET  /research/examples/no-file              in in in 404 404 404 404
GET  /research/planning                      in in in 200 200 200 200
GET  /research/evaluation                    in in in 200 200 200 200
POST /research/evaluation                    401 401 401 400 400 400 400
GET  /research/pool                          in in in 200 200 200 200
POST /research/pool                          401 401 401 400 400 400 400

GET  /research/studies/my-draft                  in in in 404 200 200 404
GET  /research/studies/my-draft/plan             in in in 404 200 200 404
POST /research/studies/my-draft/plan             401 401 401 404 403 200 404
GET  /research/studies/my-draft/plan.yaml        in in in 404 200 200 404
GET  /research/studies/my-draft/power            in in in 404 200 200 404
GET  /research/studies/my-draft/preregister      in in in 404 200 200 404
POST /research/studies/my-draft/preregister      401 401 401 404 403 >preregister 404
GET  /research/studies/my-draft/registration.zip  in in in 404 404 404 404
GET  /research/studies/my-draft/lists            in in in 404 200 200 404
POST /research/studies/my-draft/lists            401 401 401 404 403 400 404
POST /research/studies/my-draft/lists/trec       401 401 401 404 403 400 404
GET  /research/studies/my-draft/items            in in in 404 200 200 404
POST /research/studies/my-draft/items            401 401 401 404 403 400 404
POST /research/studies/my-draft/items/remove     401 401 401 404 403 >items 404
GET  /research/studies/my-draft/items/no-sum.webp  in in in 404 404 404 404
GET  /research/studies/my-draft/check            in in in 404 200 200 404
GET  /research/studies/my-draft/open             in in in 404 403 200 404
POST /research/studies/my-draft/open             401 401 401 404 403 >my-draft 404
POST /research/studies/my-draft/address          401 401 401 404 403 400 404
POST /research/studies/my-draft/copy             401 401 401 404 403 >fresh 404
GET  /research/studies/my-draft/delete           in in in 404 403 200 404
POST /research/studies/my-draft/delete           401 401 401 404 403 >research 404
GET  /research/studies/my-draft/people           in in in 404 200 200 404
POST /research/studies/my-draft/people           401 401 401 404 403 >people 404
POST /research/studies/my-draft/people/{viewer}/remove  401 401 401 404 403 >people 404
POST /research/studies/my-draft/people/{owner}/remove   401 401 401 404 403 403 404
POST /research/studies/my-draft/people/{none}/remove    401 401 401 404 403 404 404
GET  /research/studies/my-draft/results          in in in 404 200 200 404
GET  /research/studies/my-draft/machines         in in in 404 200 200 404
GET  /research/studies/my-draft/hand-out         in in in 404 403 403 404

GET  /research/studies/my-draft/preview/                      in in in 404 >entry >entry 404
GET  /research/studies/my-draft/preview/pictures/small/no-name.webp  in in in 404 404 404 404
GET  /research/studies/my-draft/preview/texts/no-name.html    in in in 404 404 404 404
GET  /research/studies/my-draft/preview/132/entry             in in in 404 200 200 404
POST /research/studies/my-draft/preview/132/begin             401 401 401 404 >consent >consent 404
GET  /research/studies/my-draft/preview/132/question/1        in in in 404 200 200 404
POST /research/studies/my-draft/preview/132/question/1        401 401 401 404 400 400 404

GET  /research/studies/my-open                   in in in 404 200 200 404
GET  /research/studies/my-open/plan              in in in 404 200 200 404
POST /research/studies/my-open/plan              401 401 401 404 403 403 404
GET  /research/studies/my-open/lists             in in in 404 403 403 404
POST /research/studies/my-open/items             401 401 401 404 403 403 404
POST /research/studies/my-open/items/remove      401 401 401 404 403 403 404
GET  /research/studies/my-open/invite            in in in 404 200 200 404
POST /research/studies/my-open/invite/guests     401 401 401 404 403 >invite 404
POST /research/studies/my-open/invite/guests/{guest}/remove   401 401 401 404 403 >invite 404
GET  /research/studies/my-open/invite/mails      in in in 404 403 200 404
POST /research/studies/my-open/invite/mails      401 401 401 404 403 >mails 404
POST /research/studies/my-open/invite/mails/invitation  401 401 401 404 403 403 404
POST /research/studies/my-open/invite/code       401 401 401 404 403 >invite 404
POST /research/studies/my-open/invite/settings   401 401 401 404 403 >invite 404
GET  /research/studies/my-open/guests.csv        in in in 404 403 200 404
GET  /research/studies/my-open/qr.svg            in in in 404 200 200 404
GET  /research/studies/my-open/progress          in in in 404 200 200 404
GET  /research/studies/my-open/progress/live     in in in 404 200 200 404
GET  /research/studies/my-open/progress/arrivals.svg  in in in 404 200 200 404
POST /research/studies/my-open/participants/{participant}/exclude  401 401 401 404 403 >progress 404
POST /research/studies/my-open/participants/{participant}/restore  401 401 401 404 403 >progress 404
GET  /research/studies/my-open/results           in in in 404 200 200 404
GET  /research/studies/my-open/results/report.html  in in in 404 403 403 404
GET  /research/studies/my-open/results/paper.zip    in in in 404 403 403 404
GET  /research/studies/my-open/results/drawing/shares.svg  in in in 404 403 403 404
GET  /research/studies/my-open/results/parts/shares.csv  in in in 404 403 403 404
GET  /research/studies/my-open/hand-out          in in in 404 403 403 404
GET  /research/studies/my-open/bundle.zip        in in in 404 403 403 404
GET  /research/studies/my-open/files/votes.csv   in in in 404 403 403 404
POST /research/studies/my-open/bundle-with-identities.zip   401 401 401 404 403 403 404
POST /research/studies/my-open/unblind           401 401 401 404 403 >results 404
GET  /research/studies/my-open/close             in in in 404 403 200 404
POST /research/studies/my-open/let-finish        401 401 401 404 403 >my-open 404
POST /research/studies/my-open/close             401 401 401 404 403 >my-open 404
POST /research/studies/my-open/archive           401 401 401 404 403 403 404
POST /research/studies/my-open/delete            401 401 401 404 403 403 404

GET  /research/studies/my-closed/results         in in in 404 200 200 404
GET  /research/studies/my-closed/results/report.html  in in in 404 200 200 404
GET  /research/studies/my-closed/results/paper.zip    in in in 404 200 200 404
GET  /research/studies/my-closed/results/drawing/shares.svg  in in in 404 200 200 404
GET  /research/studies/my-closed/results/parts/shares.csv  in in in 404 200 200 404
POST /research/studies/my-closed/results/ordering-study  401 401 401 404 403 404 404
GET  /research/studies/my-closed/machines        in in in 404 200 200 404
POST /research/studies/my-closed/machines/no-record/remove  401 401 401 404 403 404 404
GET  /research/studies/my-closed/hand-out        in in in 404 200 200 404
GET  /research/studies/my-closed/bundle.zip      in in in 404 200 200 404
GET  /research/studies/my-closed/files/votes.csv in in in 404 200 200 404
GET  /research/studies/my-closed/files/identities.csv  in in in 404 404 404 404
POST /research/studies/my-closed/bundle-with-identities.zip   401 401 401 404 403 200 404
POST /research/studies/my-closed/open            401 401 401 404 403 >my-closed 404
POST /research/studies/my-closed/archive         401 401 401 404 403 >my-closed 404
POST /research/studies/my-closed/bring-back      401 401 401 404 403 >my-closed 404
GET  /research/studies/my-closed/publish         in in in 404 403 200 404
POST /research/studies/my-closed/publish         401 401 401 404 403 400 404
GET  /research/studies/my-public/publish         in in in 404 403 200 404
POST /research/studies/my-public/publish         401 401 401 404 403 >publish 404
POST /research/studies/my-public/publish/doi     401 401 401 404 403 >publish 404
POST /research/studies/my-public/publish/take-back  401 401 401 404 403 >publish 404

GET  /s/my-draft                 404
POST /s/my-draft/begin           404
GET  /s/my-open                  200
GET  /s/my-open?guest={link}&PROLIFIC_PID=x&test=x   200
POST /s/my-open/begin            >consent >review >consent >consent >consent >consent >consent
POST /s/my-open/resume           >review
POST /s/my-open/leave            >entry
GET  /s/my-open/consent          >entry 200 >entry >entry >entry >entry >entry
POST /s/my-open/consent          >entry >review >entry >entry >entry >entry >entry
POST /s/my-open/decline          >entry >review >entry >entry >entry >entry >entry
GET  /s/my-open/declined         >entry >review >entry >entry >entry >entry >entry
GET  /s/my-open/about-you        >entry 200 >entry >entry >entry >entry >entry
POST /s/my-open/about-you        >entry >review >entry >entry >entry >entry >entry
GET  /s/my-open/screened-out     >entry >review >entry >entry >entry >entry >entry
GET  /s/my-open/scenario         >entry 200 >entry >entry >entry >entry >entry
POST /s/my-open/scenario         >entry >review >entry >entry >entry >entry >entry
GET  /s/my-open/practice         >entry 200 >entry >entry >entry >entry >entry
POST /s/my-open/practice         >entry >practice >entry >entry >entry >entry >entry
POST /s/my-open/practice/check   >entry >practice >entry >entry >entry >entry >entry
POST /s/my-open/practice?step=4  >entry >1 >entry >entry >entry >entry >entry
GET  /s/my-open/q/1              >entry 200 >entry >entry >entry >entry >entry
POST /s/my-open/q/1              >entry >review >entry >entry >entry >entry >entry
GET  /s/my-open/pictures/small/no-name.webp  404
GET  /s/my-open/texts/no-name.html           404
GET  /s/my-open/waiting          >entry >review >entry >entry >entry >entry >entry
GET  /s/my-open/closing          >entry >review >entry >entry >entry >entry >entry
POST /s/my-open/closing          >entry >review >entry >entry >entry >entry >entry
GET  /s/my-open/review           >entry 200 >entry >entry >entry >entry >entry
POST /s/my-open/review           >entry >done >entry >entry >entry >entry >entry
GET  /s/my-open/done             >entry >review >entry >entry >entry >entry >entry
GET  /s/my-open/my-data          200
POST /s/my-open/my-data          >my-data
GET  /s/my-open/my-data.json     >my-data 200 >my-data >my-data >my-data >my-data >my-data
POST /s/my-open/stop             >my-data >stopped >my-data >my-data >my-data >my-data >my-data
GET  /s/my-open/stopped          >entry >review >entry >entry >entry >entry >entry
POST /s/my-open/erase            >my-data >erased >my-data >my-data >my-data >my-data >my-data
GET  /s/my-open/erased           200 >my-data 200 200 200 200 200
GET  /s/my-closed                200
POST /s/my-closed/begin          403 >done 403 403 403 403 403
GET  /s/my-closed/done           >entry 200 >entry >entry >entry >entry >entry
POST /s/my-closed/q/1            >entry >done >entry >entry >entry >entry >entry
"""

# What is sent, by the end of the address; the fields with which an owner, or the participant,
# succeeds. Nothing but the CSRF token where nothing is listed.
FORMS = {
    "/research/sign-in": {"name": "owner", "password": PASSWORD},
    "/welcome/{newcomer}": {"password": f"{PASSWORD} more", "again": f"{PASSWORD} more"},
    "/welcome/no-link": {"password": f"{PASSWORD} more", "again": f"{PASSWORD} more"},
    "/account/confirm": {"password": PASSWORD},
    "/account/password": {"password": f"{PASSWORD} more", "again": f"{PASSWORD} more"},
    "/research/import": {"slug": "fresh"},
    "/research/new": {"start": "mnro", "language": "en", "slug": "fresh"},
    "/plan": {"add": "personal_fields"},
    "/lists/trec": {"topics": "1", "collection_size": "100"},
    "/copy": {"slug": "fresh"},
    "/my-draft/delete": {"slug": "my-draft"},
    "/my-open/delete": {"slug": "my-open"},
    "/people": {"name": "none", "role": "viewer"},
    "/invite/guests": {"names": "Ann"},
    "/invite/code": {"lost": "{participant}"},
    "/invite/settings": {
        "access": "public",
        "id_parameter": "PID",
        "capture": "X",
        "slot_minutes": "60",
    },
    "/exclude": {"reason": "clicked through"},
    "/unblind": {"reason": "to know"},
    "/my-closed/publish": {"title": "A", "authors": "B", "read": "y", "go": "publish"},
    "/my-public/publish": {"title": "A", "authors": "B", "read": "y", "go": "publish"},
    "/try": {"choice": "1", "submission_key": ""},
    "/resume": {"code": "{code}"},
    "/my-data": {"code": "{code}"},
    "/erase": {"sure": "y"},
    "/consent": {"agree": "y", "consent_version": "{consent}"},
    "/about-you": {"remark": "another"},
    "/practice/check": {"better": "1"},
    "/q/1": {"choice": "1", "submission_key": "{key1}"},
}


@dataclass(frozen=True)
class Row:
    """A route with a method: what each role is answered, and what is sent."""

    method: str
    address: str
    answers: dict[str, str]

    @property
    def slug(self) -> str:
        """The address of the study that the row is about; empty where it is about none."""
        parts = self.address.partition("?")[0].split("/")
        return next((part for part in parts if part.startswith(("my-", "their-"))), "")

    @property
    def form(self) -> dict[str, str]:
        """The fields that are sent, names of things still in braces."""
        path = self.address.partition("?")[0]
        return max(
            ((end, form) for end, form in FORMS.items() if path.endswith(end)),
            key=lambda found: len(found[0]),
            default=("", {}),
        )[1]

    def refuses(self, role: str) -> bool:
        """Whether that role is told no, or led away without having changed anything."""
        answer = self.answers[role]
        is_led_away = answer == ">entry" and not self.address.endswith("/leave")
        return answer in ("in", "401", "403", "404") or is_led_away


def rows_of(table: str) -> list[Row]:
    """Read the table."""
    rows = []
    for method, address, *answers in (line.split() for line in table.splitlines() if line):
        each = answers * len(ROLES) if len(answers) == 1 else answers
        rows.append(Row(method, address, dict(zip(ROLES, each, strict=True))))
    return rows


ROWS = rows_of(TABLE)
