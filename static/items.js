// Send pictures a few at a time, with a progress bar; without this file the form sends all at once.
"use strict";

const MOST_FILES = 2000;
const FILES_AT_ONCE = 8;
const BYTES_AT_ONCE = 20e6;
const MILLISECONDS_BETWEEN_COUNTS = 300;
const MOST_OF_A_CODE = 10; // warnings that are shown of each code
const ITEMS = /^items[.](csv|tsv|jsonl?|xlsx?|ods)([.]gz)?$/i;
const TOPICS = /^topics[.](csv|tsv|jsonl?|xlsx?|ods)([.]gz)?$/i;
const VECTORS = /^features[.](csv|npy|txt)$/;
const JUNK = /^([.].*|thumbs[.]db|ehthumbs[.]db|desktop[.]ini)$/i;
const ZIP = /[.]zip$/i;

// Without a connection, or refused by the server.
class Stopped extends Error {}
const stop = () => {
  throw new Stopped();
};

document.querySelectorAll("form.intake").forEach((form) => {
  form.querySelector(".folder").hidden = false;
  showStopped(form);
  form.addEventListener("submit", (event) => {
    const files = [...form.querySelectorAll("[type=file]")].flatMap((field) => [...field.files]);
    if (!files.length) return;
    event.preventDefault();
    send(form, files.filter((file) => !JUNK.test(file.name)));
  });
  document.querySelector("form.remove")?.addEventListener("submit", () => remember(form, null));
});

// A file's path in the folder that was chosen.
const pathOf = (file) => file.webkitRelativePath.replace(/^[^/]*[/]/, "") || file.name;

async function send(form, files) {
  const status = form.querySelector("[role=status]");
  const [bar, message] = status.children;
  const button = form.querySelector("button.go");
  const tables = files.filter((file) => ITEMS.test(file.name));
  const topics = files.filter((file) => TOPICS.test(file.name));
  const last = [...topics, ...files.filter((file) => VECTORS.test(file.name))];
  const chosen = files.filter((file) => !tables.includes(file) && !last.includes(file));
  const { pictures, refused } = byPath(chosen);
  status.hidden = false;
  form.querySelector(".stopped").hidden = true;
  if (pictures.length > MOST_FILES) {
    message.textContent = `${pictures.length} files chosen; ${MOST_FILES} are allowed at once.`;
    return;
  }
  button.disabled = true;
  const report = reporter(form);
  report.add({ errors: [], refused, repeated: [], warnings: [], codes: [] });
  const what = tables.length ? "rows" : "files";
  let sent = 0;
  try {
    const paths = (some) => some.map(pathOf).join("\n");
    let rows = null;
    let notNeeded = 0;
    if (tables.length || topics.length) {
      // Faults of the tables, before anything is stored.
      const answer = await post(form, [...tables, ...topics], { check: "1", elsewhere: paths(pictures) });
      if (answer.errors.length) {
        report.add({ ...answer, refused: [], repeated: [], warnings: [] });
        message.textContent = "Nothing was taken. Correct the table, then add the files again.";
        button.disabled = false;
        return;
      }
      if (tables.length) {
        notNeeded = answer.files[0].not_needed;
        rows = answer.files[0].rows - notNeeded;
      }
    }
    const sizes = new Map(await Promise.all(pictures.map(async (file) => [file, await filesIn(file)])));
    const total = Math.max(1, rows ?? pictures.reduce((sum, file) => sum + sizes.get(file), 0));
    const tell = (done) => {
      bar.value = Math.min(1, done / total);
      message.textContent = `${Math.min(done, total)} of ${total} ${what}`;
      remember(form, { done: Math.min(done, total), total, what });
    };
    tell(0);
    const batches = batched(pictures, tables.length > 0);
    for (const [nth, batch] of batches.entries()) {
      const others = paths(pictures.filter((file) => !batch.includes(file)));
      const isLong = batch.some((file) => sizes.get(file) > 1) || (rows !== null && nth === 0);
      const stopWatching = isLong ? watch(form, sent, tell) : () => {};
      try {
        const part = { ...(tables.length ? { elsewhere: others } : {}), ...(nth ? { later: "1" } : {}) };
        const answer = await post(form, [...batch, ...tables], { ...part, ...(batches.length > 1 ? { part: "1" } : {}) });
        report.add(answer);
        if (!tables.length) notNeeded += answer.files[0]?.not_needed ?? 0;
      } finally {
        stopWatching();
      }
      sent = rows === null ? sent + batch.reduce((sum, file) => sum + sizes.get(file), 0) : report.items + report.refused;
      tell(sent);
    }
    if (last.length) {
      // Once all items are there; with the pictures that topics name, which need not be items.
      const named = await namedIn(topics, pictures);
      report.add(await post(form, [...last, ...named], { elsewhere: paths(pictures), part: "1" }));
    }
    bar.value = 1;
    const taken = batches.length ? report.items : report.others || 0;
    message.textContent = `Done: ${taken} taken, ${report.refused} not taken${notNeeded ? `, ${notNeeded} not needed` : ""}.`;
    remember(form, null);
  } catch (error) {
    // A file that was moved or changed since it was chosen is a DOMException.
    if (!(error instanceof Stopped || error instanceof DOMException)) console.error(error);
    message.textContent = `Stopped after ${sent} ${what}. What was taken stays; send the rest again.`;
  }
  if (!(await showWhatIsThere(form))) message.textContent += " You are signed out: load this page again to sign in.";
  button.disabled = false;
}

// What the browser keeps of an upload until it is over: how much of it is in.
function remember(form, upload) {
  try {
    if (upload) localStorage.setItem(`intake ${form.action}`, JSON.stringify(upload));
    else localStorage.removeItem(`intake ${form.action}`);
  } catch {
    return; // a browser that keeps nothing
  }
}

function showStopped(form) {
  try {
    const upload = JSON.parse(localStorage.getItem(`intake ${form.action}`) ?? "null");
    if (!upload) return;
    const { done, total, what } = upload;
    const stopped = form.querySelector(".stopped");
    stopped.textContent = `The last upload stopped: ${done} of ${total} ${what} are in. Choose the same files again to add the rest.`;
    stopped.hidden = false;
  } catch {
    return; // a browser that keeps nothing
  }
}

// The pictures that tables of topics name, by path or name, with or without ending.
async function namedIn(topics, pictures) {
  const plain = (text) => text.normalize("NFC").toLowerCase().replace(/[.](jpe?g|png|webp|gif|heic|heif|avif|tiff?|bmp|svg)$/, "");
  const texts = await Promise.all(topics.map((file) => file.text()));
  const cells = new Set(texts.flatMap((text) => text.split(/[,;\t"\r\n]+/)).map((cell) => plain(cell.trim().split("/").pop())));
  return pictures.filter((file) => cells.has(plain(file.name)));
}

// Split off files whose path an earlier file has, as where a folder and its files are chosen.
function byPath(files) {
  const first = new Map();
  const refused = [];
  const path = (file) => file.webkitRelativePath || file.name;
  for (const file of [...files].sort((a, b) => (path(a) < path(b) ? -1 : 1))) {
    const name = pathOf(file);
    if (first.has(name)) refused.push(`${path(file)}: ${path(first.get(name))} is taken as ${name} already`);
    else first.set(name, file);
  }
  return { pictures: [...first.values()], refused };
}

// How many files a file holds: those of a zip by the last 22 bytes of its table of contents.
async function filesIn(file) {
  if (!ZIP.test(file.name)) return 1;
  const end = new DataView(await file.slice(-22).arrayBuffer());
  const isEnd = end.byteLength === 22 && end.getUint32(0, true) === 0x06054b50;
  return isEnd ? Math.max(1, end.getUint16(10, true)) : 1;
}

// While a zip or a table is taken in, ask again and again how many of its items are taken in.
function watch(form, sent, tell) {
  let done = 0;
  let isOver = false;
  let isAsking = false;
  const timer = setInterval(async () => {
    if (isAsking) return;
    isAsking = true;
    done = Math.max(done, await taken(form).catch(() => 0));
    isAsking = false;
    if (!isOver) tell(sent + done);
  }, MILLISECONDS_BETWEEN_COUNTS);
  return () => {
    isOver = true;
    clearInterval(timer);
  };
}

async function taken(form) {
  const answer = await fetch(form.action, { headers: { Accept: "application/json" } }).catch(stop);
  return (await answer.json().catch(stop)).taking;
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

// Lists of files for one request each; a table alone goes with an empty one. Files that differ in
// their endings alone stay together, since the server takes one of them and names the other.
function batched(files, withTable) {
  const batches = withTable ? [[]] : [];
  const stem = (file) => pathOf(file).replace(/([^/])[.][^./]*$/, "$1");
  let bytes = 0;
  for (const file of files) {
    const batch = batches[batches.length - 1];
    const isFull = batch?.length && (batch.length >= FILES_AT_ONCE || bytes + file.size > BYTES_AT_ONCE);
    if (!batch || (isFull && stem(file) !== stem(batch[batch.length - 1]))) {
      batches.push([file]);
      bytes = file.size;
    } else {
      batch.push(file);
      bytes += file.size;
    }
  }
  return batches;
}

// Rows of a table of items without a file go with the first request alone.
async function post(form, files, fields) {
  const content = new FormData();
  content.set("csrf_token", form.elements.csrf_token.value);
  for (const [name, value] of Object.entries(fields)) content.set(name, value);
  files.forEach((file) => content.append("files", file, pathOf(file)));
  const answer = await fetch(form.action, { method: "POST", body: content, headers: { Accept: "application/json" } }).catch(stop);
  return answer.ok ? answer.json().catch(stop) : stop();
}

// Adds the answers of requests up and lists what they say.
function reporter(form) {
  const counts = new Map(); // of warnings, by their codes
  const list = (name) => form.querySelector(`.${name}`);
  const add = (list, sentence) => {
    const entry = document.createElement("li");
    entry.textContent = sentence;
    list.append(entry);
    list.hidden = false;
    return entry;
  };
  return {
    items: 0,
    refused: 0,
    others: "",
    add(answer) {
      [...answer.errors, ...answer.refused].forEach((each) => add(list("refused"), each));
      answer.repeated.forEach((each) => add(list("repeated"), `${each}; taken all the same`));
      answer.warnings.forEach((each, nth) => {
        const counted = counts.get(answer.codes[nth]) ?? { count: 0, rest: null };
        counts.set(answer.codes[nth], counted);
        counted.count += 1;
        if (counted.count <= MOST_OF_A_CODE) counted.last = add(list("warnings"), `Taken, but look at it: ${each}`);
        else {
          if (!counted.rest) counted.last.after((counted.rest = add(list("warnings"), "")));
          counted.rest.textContent = `and ${counted.count - MOST_OF_A_CODE} more`;
        }
      });
      this.items += answer.items ?? 0;
      this.refused += answer.errors.length + answer.refused.length;
      const others = [["topic", answer.topics], ["vector", answer.vectors]].filter(([, count]) => count);
      this.others = others.map(([noun, count]) => `${count} ${noun}${count > 1 ? "s" : ""}`).join(" and ");
    },
  };
}
