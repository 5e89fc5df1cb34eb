// Update the progress page every few seconds; without this file people reload it.
"use strict";

const live = document.getElementById("live");
const liveStatus = document.getElementById("live-status");
const EVERY = 5000;

// An update would take away the focus, or what has been typed and not sent.
const isInUse = () =>
  live.contains(document.activeElement) ||
  [...live.querySelectorAll("input")].some((input) => input.value !== input.defaultValue);

async function refresh() {
  if (document.visibilityState !== "visible" || isInUse()) return;
  try {
    const answer = await fetch(live.dataset.source, { redirect: "error" });
    if (!answer.ok) throw new Error(String(answer.status));
    const fresh = await answer.text();
    if (isInUse()) return;
    const open = new Set([...live.querySelectorAll("details[open]")].map((details) => details.dataset.keep));
    live.innerHTML = fresh;
    live.dispatchEvent(new Event("fresh", { bubbles: true }));
    live.querySelectorAll("details").forEach((details) => (details.open = open.has(details.dataset.keep)));
    liveStatus.textContent = "";
  } catch {
    liveStatus.textContent = "The page could not be updated. It tries again by itself; reload it if this message stays.";
  }
}

setInterval(refresh, EVERY);
