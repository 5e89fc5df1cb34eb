// Shows a question as participants see it once it is unfolded; without this file its link does.
"use strict";

async function show(details) {
  const link = details.querySelector("a.show");
  if (!details.open || !link) return;
  const answer = await fetch(link.href, { redirect: "error" }).catch(() => null);
  const text = answer?.ok && (await answer.text().catch(() => null));
  if (!text || !link.isConnected) return; // the link stays
  const page = new DOMParser().parseFromString(text, "text/html");
  const picture = page.getElementById(details.id).querySelector("[inert]");
  attach(picture);
  link.parentElement.replaceWith(picture);
}

// Browsers attach templates by themselves, but not those of a page that a script read, nor before 2024.
function attach(picture) {
  const template = picture.querySelector("template");
  if (!template) return;
  picture.attachShadow({ mode: "open" }).append(template.content);
  template.remove();
}

document.querySelectorAll(".folded [inert]").forEach(attach);
for (const details of document.querySelectorAll(".folded details")) {
  details.addEventListener("toggle", () => show(details));
}
