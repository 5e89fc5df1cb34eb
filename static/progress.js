// The progress page, kept up to date by itself; without this file it is reloaded by hand.
"use strict";

const live = document.getElementById("live");
const told = document.getElementById("live-status");
const EVERY = 5000;

// While someone is there with the keyboard, or types a reason, the page stays as it is under their hands.
const isInUse = () => live.contains(document.activeElement);

async function refresh() {
  if (document.visibilityState !== "visible" || isInUse()) return;
  try {
    const answer = await fetch(live.dataset.source, { redirect: "error" });
    if (!answer.ok) throw new Error(String(answer.status));
    const fresh = await answer.text();
    if (isInUse()) return;
    const open = new Set([...live.querySelectorAll("details[open]")].map((one) => one.dataset.keep));
    live.innerHTML = fresh;
    live.dispatchEvent(new Event("fresh", { bubbles: true }));
    live.querySelectorAll("details").forEach((one) => (one.open = open.has(one.dataset.keep)));
    told.textContent = "";
  } catch {
    told.textContent = "The page could not be brought up to date. It tries again; reload it if this stays.";
  }
}

setInterval(refresh, EVERY);
