// Update the progress page every few seconds; without this file people reload it.
"use strict";

const live = document.getElementById("live");
const liveStatus = document.getElementById("live-status");
const EVERY = 5000;

// An update would take away the focus, a button that is pressed, or what has been typed and not sent.
const isInUse = () =>
  live.querySelector(":active") !== null ||
  live.contains(document.activeElement) ||
  [...live.querySelectorAll("input")].some((input) => input.value !== input.defaultValue);

async function refresh() {
  if (document.visibilityState !== "visible" || isInUse()) return;
  const answer = await fetch(live.dataset.source, { redirect: "error" }).catch(() => null);
  const fresh = answer?.ok ? await answer.text().catch(() => null) : null;
  if (isInUse()) return;
  if (fresh === null) liveStatus.textContent = "The page could not be updated. It tries again by itself; reload it if this message stays.";
  else {
    const open = new Set([...live.querySelectorAll("details[open]")].map((details) => details.dataset.keep));
    live.innerHTML = fresh;
    live.dispatchEvent(new Event("fresh", { bubbles: true }));
    live.querySelectorAll("details").forEach((details) => (details.open = open.has(details.dataset.keep)));
    liveStatus.textContent = "";
  }
}

setInterval(refresh, EVERY);
