// Send pictures a few at a time, with a progress bar; without this file the form sends all at once.
"use strict";

const MOST_FILES = 2000;
const FILES_AT_ONCE = 8;
const BYTES_AT_ONCE = 20e6;

// Without a connection, or refused by the server.
class Stopped extends Error {}
const stop = () => {
  throw new Stopped();
};

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
  const chosen = files.filter((file) => !tables.includes(file) && !last.includes(file));
  const { pictures, refused } = byName(chosen, tables.length > 0);
  status.hidden = false;
  if (pictures.length > MOST_FILES) {
    message.textContent = `${pictures.length} files chosen; ${MOST_FILES} are allowed at once.`;
    return;
  }
  button.disabled = true;
  const counts = { items: 0, refused: show(form, { errors: [], refused, repeated: [], warnings: [] }) };
  let sent = 0;
  try {
    const sizes = new Map(await Promise.all(pictures.map(async (file) => [file, await filesIn(file)])));
    const total = Math.max(1, pictures.reduce((sum, file) => sum + sizes.get(file), 0));
    const tell = (done) => {
      bar.value = Math.min(1, done / total);
      message.textContent = `${Math.min(done, total)} of ${total} files`;
    };
    tell(0);
    const names = (files) => files.map((file) => file.name);
    for (const batch of batched(pictures)) {
      const others = names(pictures.filter((file) => !batch.includes(file)));
      const stopWatching = batch.some((file) => sizes.get(file) > 1) ? await watch(form, sent, tell) : () => {};
      try {
        const answer = await post(form, [...batch, ...tables], tables.length ? others : [], sent > 0);
        counts.items += answer.items;
        counts.refused += show(form, answer);
      } finally {
        stopWatching();
      }
      sent += batch.reduce((sum, file) => sum + sizes.get(file), 0);
      tell(sent);
    }
    if (last.length) {
      // Once all items are there; with the pictures that topics name, which need not be items.
      const texts = (await Promise.all(last.map((file) => file.text()))).join("\n");
      const named = pictures.filter((file) => texts.includes(file.name));
      counts.refused += show(form, await post(form, [...last, ...named], names(pictures)));
    }
    bar.value = 1;
    message.textContent = `Done: ${counts.items} taken, ${counts.refused} not taken.`;
  } catch (error) {
    // A file that was moved or changed since it was chosen is a DOMException.
    if (!(error instanceof Stopped || error instanceof DOMException)) console.error(error);
    message.textContent = `Stopped after ${sent} files. What was taken stays; send the rest again.`;
  }
  if (!(await showWhatIsThere(form))) message.textContent += " You are signed out: load this page again to sign in.";
  button.disabled = false;
}

// Split off files, as of folders within the folder, whose document or name an earlier path has.
function byName(files, withTable) {
  const first = new Map();
  const refused = [];
  const path = (file) => file.webkitRelativePath || file.name;
  for (const file of [...files].sort((a, b) => (path(a) < path(b) ? -1 : 1))) {
    const isNamed = withTable || /[.]zip$/i.test(file.name);
    const name = isNamed ? file.name : file.name.replace(/(.)[.][^.]*$/, "$1");
    if (first.has(name)) refused.push(`${path(file)}: ${path(first.get(name))} is taken as ${name} already`);
    else first.set(name, file);
  }
  return { pictures: [...first.values()], refused };
}

// How many files a file holds: those of a zip by the last 22 bytes of its table of contents.
async function filesIn(file) {
  if (!/[.]zip$/i.test(file.name)) return 1;
  const end = new DataView(await file.slice(-22).arrayBuffer());
  const isEnd = end.byteLength === 22 && end.getUint32(0, true) === 0x06054b50;
  return isEnd ? Math.max(1, end.getUint16(10, true)) : 1;
}

// While a zip is taken in, ask each second how many items there are by now.
async function watch(form, sent, tell) {
  const before = await count(form);
  let isOver = false;
  const timer = setInterval(async () => {
    const now = await count(form).catch(() => before);
    if (!isOver) tell(sent + now - before);
  }, 1000);
  return () => {
    isOver = true;
    clearInterval(timer);
  };
}

async function count(form) {
  const answer = await fetch(form.action, { headers: { Accept: "application/json" } }).catch(stop);
  return (await answer.json().catch(stop)).items;
}

// False where the server leads to its sign-in page.
async function showWhatIsThere(form) {
  const answer = await fetch(form.action).catch(() => null);
  if (answer?.redirected) return false;
  if (!answer?.ok) return true;
  const page = new DOMParser().parseFromString(await answer.text(), "text/html");
  document.getElementById("there").replaceWith(page.getElementById("there"));
  return true;
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

// Rows of items.csv without a file go with the first request alone.
async function post(form, files, elsewhere, isLater = false) {
  const content = new FormData();
  content.set("csrf_token", form.elements.csrf_token.value);
  content.set("elsewhere", elsewhere.join("\n"));
  if (isLater) content.set("later", "1");
  files.forEach((file) => content.append("files", file, file.name));
  const answer = await fetch(form.action, { method: "POST", body: content, headers: { Accept: "application/json" } }).catch(stop);
  return answer.ok ? answer.json().catch(stop) : stop();
}

function show(form, answer) {
  const add = (list, sentence) => {
    const entry = document.createElement("li");
    entry.textContent = sentence;
    list.append(entry);
    list.hidden = false;
  };
  [...answer.errors, ...answer.refused].forEach((each) => add(form.querySelector(".refused"), each));
  answer.repeated.forEach((each) => add(form.querySelector(".repeated"), `${each}; taken all the same`));
  answer.warnings.forEach((each) => add(form.querySelector(".warnings"), `Taken, but look at it: ${each}`));
  return answer.errors.length + answer.refused.length;
}
