// Sends files to the server as they are chosen, so that a mistake in the form does not cost them, and
// shows below their field what each holds. Without this file they are sent with the form.
"use strict";

for (const form of document.querySelectorAll("form[data-stage]")) {
  form.addEventListener("change", (event) => {
    const control = event.target;
    if (control.type === "file" && control.files.length) stage(form, control);
    if (control.closest(".kept")) {
      form.querySelector(`[type=file][name="${control.name.replace("drop-", "")}"]`).focus();
      control.closest("li").remove();
    }
  });
}

async function stage(form, control) {
  const files = [...control.files];
  const list = document.getElementById(`${control.id}-kept`);
  const content = new FormData();
  content.set("csrf_token", form.elements.csrf_token.value);
  content.set("field", control.name);
  for (const file of files) content.append("files", file, file.webkitRelativePath || file.name);
  list.setAttribute("aria-busy", "true");
  const answer = await fetch(form.dataset.stage, { method: "POST", body: content }).catch(() => null);
  list.removeAttribute("aria-busy");
  const isChosen = files.length === control.files.length && files.every((file, nth) => file === control.files[nth]);
  if (!answer?.ok || answer.redirected || !isChosen) return; // the form sends what is chosen
  const page = new DOMParser().parseFromString(await answer.text(), "text/html");
  const names = new Set(files.map((file) => file.webkitRelativePath || file.name));
  for (const entry of [...list.children]) {
    if (!control.multiple || names.has(entry.querySelector("strong").textContent)) entry.remove();
  }
  list.append(...page.querySelectorAll("li"));
  control.value = "";
}
