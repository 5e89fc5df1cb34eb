// Send pictures a few at a time, with a progress bar; without this file the form sends all at once.
"use strict";

const MOST_FILES = 2000;
const FILES_AT_ONCE = 8;
const BYTES_AT_ONCE = 20e6;

document.querySelectorAll("form.intake").forEach((form) => {
  form.querySelector(".folder").hidden = false;
  form.addEventListener("submit", (event) => {
    const files = [...form.querySelectorAll("[type=file]")].flatMap((field) => [...field.files]);
    if (!files.length) return;
    event.preventDefault();
    send(form, files.filter((file) => !file.name.startsWith(".")));
  });
});

async function send(form, files) {
  const status = form.querySelector("[role=status]");
  const [bar, message] = status.children;
  const button = form.querySelector("button.go");
  const tables = files.filter((file) => file.name === "items.csv");
  const last = files.filter((file) => /^(topics[.]csv|features[.](csv|npy|txt))$/.test(file.name));
  const pictures = files.filter((file) => !tables.includes(file) && !last.includes(file));
  status.hidden = false;
  if (pictures.length > MOST_FILES) {
    message.textContent = `${pictures.length} files chosen; ${MOST_FILES} are allowed at once.`;
    return;
  }
  button.disabled = true;
  const counts = { items: 0, refused: 0 };
  let done = 0;
  try {
    const batches = batched(pictures);
    for (const [index, batch] of batches.entries()) {
      const isLast = index === batches.length - 1;
      const others = pictures.filter((file) => !batch.includes(file)).map((file) => file.name);
      const answer = await post(form, [...batch, ...tables, ...(isLast ? last : [])], tables.length ? others : []);
      counts.items += answer.items;
      counts.refused += show(form, answer);
      done += batch.length;
      bar.value = done / Math.max(1, pictures.length);
      message.textContent = `${done} of ${pictures.length} files`;
    }
    bar.value = 1;
    message.textContent = `Done: ${counts.items} taken, ${counts.refused} not taken. Load the page again to see them.`;
  } catch {
    message.textContent = `Stopped after ${done} of ${pictures.length} files. What was taken stays; send the rest again.`;
  }
  button.disabled = false;
}

function batched(files) {
  const batches = [[]];
  let bytes = 0;
  for (const file of files) {
    const batch = batches[batches.length - 1];
    if (batch.length && (batch.length === FILES_AT_ONCE || bytes + file.size > BYTES_AT_ONCE)) {
      batches.push([file]);
      bytes = file.size;
    } else {
      batch.push(file);
      bytes += file.size;
    }
  }
  return batches;
}

async function post(form, files, elsewhere) {
  const content = new FormData();
  content.set("csrf_token", form.elements.csrf_token.value);
  content.set("elsewhere", elsewhere.join("\n"));
  files.forEach((file) => content.append("files", file, file.name));
  const answer = await fetch(form.action, { method: "POST", body: content, headers: { Accept: "application/json" } });
  if (!answer.ok) throw new Error(String(answer.status));
  return answer.json();
}

function show(form, answer) {
  const list = form.querySelector(".refused");
  for (const sentence of [...answer.errors, ...answer.refused]) {
    const entry = document.createElement("li");
    entry.textContent = sentence;
    list.append(entry);
    list.hidden = false;
  }
  return answer.errors.length + answer.refused.length;
}
