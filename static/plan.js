// Saves the plan whenever a field has changed, and then shows beside it what participants would see
// and what the plan can find. Without this file a step is saved when its reader moves on.
"use strict";

const plan = document.getElementById("plan");
const saved = plan.querySelector(".saved");
const frame = document.querySelector("iframe[name=preview]");
const pages = document.querySelector(".pages");

let running = null; // the saves under way
let waiting = false; // whether something has changed since the last one began
let unsaved = false;
let asking = null; // ends the last question for the power

async function save() {
  while (waiting) {
    waiting = false;
    saved.textContent = "Saving …";
    try {
      saved.textContent = await send();
    } catch (fault) {
      saved.textContent = "Not saved yet. Move on to another step to save it.";
      throw fault;
    }
  }
}

// Returns what to say of it.
async function send() {
  unsaved = true;
  const sent = await read(post());
  if (!sent) return "Not saved yet, because the server cannot be reached.";
  const { answer, page } = sent;
  const problem = page.querySelector("#problems a");
  if (answer.status === 409) return "Not saved: someone else saved another version. Move on to another step to see both.";
  if ([403, 404].includes(answer.status)) return "Not saved: you can no longer change this plan, because the study was opened or deleted, or your role has changed. Copy what you typed.";
  if (problem) return `Not saved yet: ${problem.textContent}`;
  if (!answer.ok || !page.getElementById("plan")) return "Not saved yet. Move on to another step to see why.";
  unsaved = false;
  plan.elements.version.value = page.querySelector("#plan [name=version]").value;
  document.querySelectorAll("#problems, #plan .wrong").forEach((element) => element.remove());
  plan.querySelectorAll("[aria-invalid]").forEach((element) => element.removeAttribute("aria-invalid"));
  showPreview(page);
  showPower();
  return "Everything on this page is saved.";
}

// Returns an answer and its page, null without a connection.
async function read(request) {
  const answer = await request.catch(() => null);
  const text = answer && (await answer.text().catch(() => null));
  return text === null ? null : { answer, page: new DOMParser().parseFromString(text, "text/html") };
}

function post(options) {
  const body = new URLSearchParams(new FormData(plan));
  body.append("go", plan.elements.step.value);
  return fetch(plan.action, { method: "POST", body, ...options });
}

// With another number of measures the pages have other addresses.
function showPreview(page) {
  for (const link of pages.querySelectorAll("a")) {
    const fresh = [...page.querySelectorAll(".pages a")].find((other) => other.dataset.page === link.dataset.page);
    if (fresh) link.setAttribute("href", fresh.getAttribute("href"));
  }
  const at = frame.contentWindow.scrollY;
  frame.addEventListener("load", () => frame.contentWindow.scrollTo(0, at), { once: true });
  frame.src = pages.querySelector("[aria-current]").href;
}

async function showPower() {
  const note = [...document.querySelectorAll(".power")].find((each) => each.getClientRects().length);
  if (!note) return;
  asking?.abort();
  asking = new AbortController();
  const link = note.querySelector("a");
  const { signal } = asking;
  note.replaceChildren("Simulating what these participants and questions can find … ", link);
  const answer = await read(fetch(note.dataset.source, { signal }));
  if (signal.aborted) return;
  const power = answer?.page.getElementById("power");
  if (power) link.textContent = "Other differences";
  note.replaceChildren(power ? `${power.textContent} ` : "", link);
}

pages.addEventListener("click", (event) => {
  const link = event.target.closest("a");
  if (!link) return;
  pages.querySelector("[aria-current]").removeAttribute("aria-current");
  link.setAttribute("aria-current", "true");
});

// Beside another version, nothing is replaced before its reader says so.
if (!document.getElementById("conflict")) {
  plan.addEventListener("change", () => {
    waiting = true;
    running ??= save().finally(() => (running = null));
  });
}

let pressed = null; // the button that sends the plan; also Enter clicks one
plan.addEventListener("click", (event) => (pressed = event.target.closest("button") ?? pressed));

// A save that is under way changes the version that this form has to name.
plan.addEventListener("submit", (event) => {
  if (running) {
    event.preventDefault();
    running.then(() => pressed.click());
  } else unsaved = false;
});

// The browser ends a save that is under way when its reader follows a link; it may finish this one.
addEventListener("pagehide", () => {
  if (running) post({ keepalive: true }).catch(() => {});
});

addEventListener("beforeunload", (event) => {
  if (unsaved && !running) event.preventDefault();
});

showPower();
