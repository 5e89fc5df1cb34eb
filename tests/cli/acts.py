"""Which command does what a route does that changes data, and how both are done on twins.

A route that is new needs a line in COMMANDS, and then an ``Act`` in ACTS; or a line in EXEMPT.
"""

import io
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

# Endpoint, with the part of the address that names the act where a route has several → command.
COMMANDS = {
    "researcher.new": "survey study new",
    "researcher.import_bundle": "survey import",
    "researcher.copy": "survey study copy",
    "researcher.make_ordering_study": "survey study new --judgements-of",
    "researcher.save_plan": "survey study set",
    "researcher.rename": "survey study rename",
    "researcher.upload_lists": "survey study lists --own-lists",
    "researcher.upload_trec": "survey study lists --qrels --run",
    "researcher.take_items": "survey study items",
    "researcher.remove_items": "survey study items --remove",
    "researcher.act open": "survey study open",
    "researcher.act let-finish": "survey study close --let-finish",
    "researcher.act close": "survey study close",
    "researcher.act archive": "survey study archive",
    "researcher.act bring-back": "survey study unarchive",
    "researcher.delete": "survey study delete",
    "researcher.people": "survey study share",
    "researcher.unshare": "survey study unshare",
    "researcher.add_guests": "survey study invite --guests",
    "researcher.remove_guest": "survey study invite --withdraw",
    "researcher.save_recruitment": "survey study recruit",
    "researcher.save_mails": "survey study recruit --mail-subject --invitation --reminder",
    "researcher.send_mails invitation": "survey study invite --send",
    "researcher.send_mails reminder": "survey study invite --remind",
    "researcher.reveal_code": "survey study code",
    "researcher.exclude": "survey study exclude",
    "researcher.restore": "survey study include",
    "researcher.unblind": "survey study unblind",
    "researcher.bundle_with_identities": "survey export --with-identities",
    "researcher.publish": "survey study publish",
    "researcher.take_back": "survey study unpublish",
    "researcher.store_doi": "survey deposit --doi",
    "researcher.save_registration": "survey study preregister --hypothesis",
    "researcher.remove_machine": "survey judge --remove",
    "account.change_password": "survey researcher link",
    "account.remove_second_factor": "survey researcher reset-second-factor",
    "account.sign_out_everywhere": "survey researcher sign-out",
}
PARTICIPANT = "a participant does it for themselves; `survey simulate` goes through these pages"
SUBMITTED = "groups send their runs by it; `survey collection submit` does so too"
EXEMPT = {
    "researcher.evaluate": "it computes and stores nothing: `survey evaluate`",
    "researcher.pool_studies": "it computes and stores nothing: `survey pool`",
    "researcher.stage_files": "it keeps a chosen file for its form; commands read files in place",
    "preview.page": "it stores nothing: `survey study preview` writes its pages",
    "collections.send": SUBMITTED,
    "collections.take_run": SUBMITTED,
    "published.try_question": "it stores nothing of those who try a public study",
    "account.confirm": "it asks a browser's user for the password again",
    "account.set_up_second_factor": "the secret goes to the telephone of one person alone",
    "auth.sign_in": "a command needs no session",
    "auth.sign_out": "a command needs no session",
    "auth.welcome": "the password is typed by its owner; `survey researcher link` makes the link",
    "participant.begin": PARTICIPANT,
    "participant.resume": PARTICIPANT,
    "participant.leave": PARTICIPANT,
    "participant.consent": PARTICIPANT,
    "participant.decline": PARTICIPANT,
    "participant.about_you": PARTICIPANT,
    "participant.scenario": PARTICIPANT,
    "participant.practice": PARTICIPANT,
    "participant.check": PARTICIPANT,
    "participant.answer_question": PARTICIPANT,
    "participant.closing": PARTICIPANT,
    "participant.review": PARTICIPANT,
    "participant.own_data": "it opens a participant's own data in a browser",
    "participant.stop": f"{PARTICIPANT}; `survey study release` ends it for them",
    "participant.erase": "`survey study erase` does it for those who ask a researcher",
}


@dataclass(frozen=True)
class Act:
    """An act, done in the browser on one study and by a command on its twin.

    Texts hold {slug} of the study, {person}, its participant, {file} and {folder} of ``files``,
    {bob}, a researcher's row. ``study``: how the twins are made; ``page``: where the form is;
    ``posts``: its address below the study's, or from "/" on; ``form``: what is typed;
    ``files``: name of a field → name of a file and its content; ``command``: after `survey`.
    ``new_slug``: the address of another study that the act makes. ``unlike``: columns that chance
    or the act's own defaults decide.
    """

    study: str
    page: str
    posts: str
    command: str
    form: Mapping[str, str | None] = field(default_factory=dict)
    files: Mapping[str, Mapping[str, str | None]] = field(default_factory=dict)
    new_slug: str = "{slug}"
    unlike: tuple[str, ...] = ()

    def write(self, folder: Path) -> None:
        """Write the files; one without a content is there already."""
        for files in self.files.values():
            for file, text in files.items():
                if text is not None:
                    (folder / file).write_text(text)

    def uploads(self, folder: Path) -> dict[str, Any]:
        """Return the written files as a browser sends them."""
        return {
            name: [(io.BytesIO((folder / file).read_bytes()), file) for file in files]
            for name, files in self.files.items()
            if name != ONLY_OF_THE_COMMAND
        }


ONLY_OF_THE_COMMAND = ""  # in place of a field's name
JUDGED = "t1 0 d1 1\nt2 0 d1 1\n"
RUNS = {
    "run1.txt": "".join(f"t{t} Q0 d1 1 9 r\nt{t} Q0 d2 2 8 r\n" for t in (1, 2)),
    "run2.txt": "".join(f"t{t} Q0 d2 1 9 r\nt{t} Q0 d1 2 8 r\n" for t in (1, 2)),
}
LISTS = "question,list,ranks,collection_size\n1,A,1 2 3,100\n1,B,2 5 9,100\n"
OWN_RUNS = {
    f"run{n}.txt": f"like-red Q0 red-{n} 1 2 x\nlike-red Q0 red-{n + 1} 2 1 x\n" for n in (1, 2)
}
INVITE, MAILS = "/invite", "/invite/mails"

ACTS = {
    "researcher.new": Act(
        "none",
        "/research/new?start=mnro",
        "/research/new",
        "study new {slug} --owner Ada",
        {"start": "mnro", "slug": "{slug}", "asked_by": "", "contact": ""},
        unlike=("content",),
    ),
    "researcher.import_bundle": Act(
        "bundle",
        "/research/import",
        "/research/import",
        "import {folder}/done.zip --as {slug} --owner Ada",
        {"slug": "{slug}"},
        {"bundle": {"done.zip": None}},
    ),
    "researcher.copy": Act(
        "draft",
        "",
        "/copy",
        "study copy {slug} {slug}-2 --owner Ada",
        {"slug": "{slug}-2"},
        {},
        "{slug}-2",
    ),
    "researcher.make_ordering_study": Act(
        "labelled",
        "/research/studies/done/results",
        "/research/studies/done/results/ordering-study",
        "study new {slug} --judgements-of done --owner Ada --run {folder}/run1.txt"
        " {folder}/run2.txt",
        {"slug": "{slug}"},
        {"runs": OWN_RUNS},
        unlike=("content",),
    ),
    "researcher.save_plan": Act(
        "draft",
        "/plan?step=texts",
        "/plan",
        "study set {slug} minutes=40 title=Order practice=no",
        {"minutes": "40", "title": "Order", "practice": None},
    ),
    "researcher.rename": Act(
        "draft",
        "",
        "/address",
        "study rename {slug} {slug}-2",
        {"address": "{slug}-2"},
        {},
        "{slug}-2",
    ),
    "researcher.upload_lists": Act(
        "draft",
        "/lists",
        "/lists",
        "study lists {slug} --own-lists {folder}/lists.csv",
        files={"lists": {"lists.csv": LISTS}},
    ),
    "researcher.upload_trec": Act(
        "draft",
        "/lists",
        "/lists/trec",
        "study lists {slug} --qrels {folder}/qrels.txt --run {folder}/run1.txt {folder}/run2.txt"
        " --collection-size 100",
        {"collection_size": "100"},
        {"qrels": {"qrels.txt": JUDGED}, "runs": RUNS},
    ),
    "researcher.take_items": Act(
        "draft",
        "/items",
        "/items",
        "study items {slug} {folder}/items.csv",
        files={"files": {"items.csv": "document,title,text\nd1,One,words\n"}},
    ),
    "researcher.remove_items": Act(
        "items", "/items", "/items/remove", "study items {slug} --remove"
    ),
    "researcher.act open": Act(
        "draft", "/open", "/open", "study open {slug} --anyway pilot", {"anyway": "pilot"}
    ),
    "researcher.act let-finish": Act(
        "begun", "/close", "/let-finish", "study close {slug} --let-finish"
    ),
    "researcher.act close": Act("open", "/close", "/close", "study close {slug}"),
    "researcher.act archive": Act("closed", "", "/archive", "study archive {slug}"),
    "researcher.act bring-back": Act("archived", "", "/bring-back", "study unarchive {slug}"),
    "researcher.delete": Act(
        "closed", "/delete", "/delete", "study delete {slug} --yes {slug}", {"slug": "{slug}"}
    ),
    "researcher.people": Act(
        "draft",
        "/people",
        "/people",
        "study share {slug} bob --role viewer",
        {"name": "bob", "role": "viewer"},
    ),
    "researcher.unshare": Act(
        "shared", "/people", "/people/{bob}/remove", "study unshare {slug} bob --yes"
    ),
    "researcher.add_guests": Act(
        "open",
        INVITE,
        "/invite/guests",
        "study invite {slug} --guests {folder}/guests.csv",
        files={"guests": {"guests.csv": "name,e-mail\nAnn,ann@example.org\n"}},
    ),
    "researcher.remove_guest": Act(
        "guests",
        INVITE,
        "/invite/guests/{guest}/remove",
        "study invite {slug} --withdraw Ann --yes",
    ),
    "researcher.save_recruitment": Act(
        "open",
        INVITE,
        "/invite/settings",
        "study recruit {slug} --code C1 --code-declined C2 --slot-minutes 60 --capture A,B"
        " --access personal --id-required --id-parameter PID --return-url https://x.org/?c={{code}}",
        {
            **{"code_complete": "C1", "code_declined": "C2", "slot_minutes": "60"},
            **{"capture": "A B", "access": "personal", "id_required": "y", "id_parameter": "PID"},
            "return_url": "https://x.org/?c={{code}}",
        },
    ),
    "researcher.save_mails": Act(
        "open",
        MAILS,
        MAILS,
        "study recruit {slug} --mail-subject Join --invitation {folder}/invitation.txt",
        {"mail_subject": "Join", "invitation": "Come: {{link}}"},
        {ONLY_OF_THE_COMMAND: {"invitation.txt": "Come: {link}"}},
    ),
    "researcher.send_mails invitation": Act(
        "guests", MAILS, f"{MAILS}/invitation", "study invite {slug} --send --yes"
    ),
    "researcher.send_mails reminder": Act(
        "invited", MAILS, f"{MAILS}/reminder", "study invite {slug} --remind --yes"
    ),
    "researcher.reveal_code": Act(
        "begun", INVITE, "/invite/code", "study code {slug} {person}", {"lost": "{person}"}
    ),
    "researcher.exclude": Act(
        "begun",
        "/progress",
        "/participants/{person}/exclude",
        "study exclude {slug} {person} --reason random",
        {"reason": "random"},
    ),
    "researcher.restore": Act(
        "excluded", "/progress", "/participants/{person}/restore", "study include {slug} {person}"
    ),
    "researcher.unblind": Act(
        "begun",
        "/results",
        "/unblind",
        "study unblind {slug} --reason pilot --yes",
        {"reason": "pilot"},
    ),
    "researcher.bundle_with_identities": Act(
        "finished",
        "/hand-out",
        "/bundle-with-identities.zip",
        "export {slug} --with-identities --to {folder}/out.zip",
    ),
    "researcher.publish": Act(
        "finished",
        "/publish",
        "/publish",
        "study publish {slug} --author Lovelace,Ada --licence CC0-1.0 --yes",
        {"authors": "Lovelace,Ada", "licence": "CC0-1.0", "read": "y"},
    ),
    "researcher.take_back": Act(
        "public", "/publish", "/publish/take-back", "study unpublish {slug}"
    ),
    "researcher.store_doi": Act(
        "public",
        "/publish",
        "/publish/doi",
        "deposit {slug} --doi 10.5281/zenodo.1234567",
        {"doi": "10.5281/zenodo.1234567"},
    ),
    "researcher.save_registration": Act(
        "draft",
        "/preregister",
        "/preregister",
        "study preregister {slug} --to {folder}/registration --hypothesis MNRO",
        {"hypothesis": "MNRO"},
        unlike=("registration", "detail"),  # both hold the study's address, or its sum
    ),
    "researcher.remove_machine": Act(
        "judged",
        "/machines",
        "/machines/{machine}/remove",
        "judge {slug} --remove {machine} --yes",
    ),
}
