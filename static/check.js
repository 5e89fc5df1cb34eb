// Shows a question as participants see it once it is unfolded; without this file its link does.
"use strict";

async function show(details) {
  const link = details.querySelector("a.show");
  if (!details.open || !link) return;
  const answer = await fetch(link.href, { redirect: "error" });
  if (!answer.ok || !link.isConnected) return;
  const page = new DOMParser().parseFromString(await answer.text(), "text/html");
  const picture = page.getElementById(details.id).querySelector("[inert]");
  const template = picture.querySelector("template");
  picture.attachShadow({ mode: "open" }).append(template.content);
  template.remove();
  link.parentElement.replaceWith(picture);
}

for (const details of document.querySelectorAll(".folded details")) {
  details.addEventListener("toggle", () => show(details).catch(() => {})); // the link stays
}
