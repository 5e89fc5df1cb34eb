// Show a progress bar during a download; without this file the browser downloads as usual.
"use strict";

document.querySelectorAll("form.download").forEach((form) =>
  form.addEventListener("submit", async (event) => {
    event.preventDefault();
    const bar = form.querySelector("progress");
    const status = bar.parentElement; // not the first one: “Copy as text” has one too
    const message = status.querySelector("span");
    const button = form.querySelector("button");
    status.hidden = false;
    button.disabled = true;
    message.textContent = "Writing …";
    const answer = await fetch(`${form.action}?${new URLSearchParams(new FormData(form))}`).catch(() => null);
    const chunks = answer?.ok ? await collect(answer, (share) => (bar.value = share)) : null;
    button.disabled = false;
    if (chunks) {
      save(new Blob(chunks, { type: "application/zip" }), nameOf(answer));
      bar.value = 1;
      message.textContent = "Downloaded.";
    } else message.textContent = "The download failed. Try again; the stored data are safe.";
  }),
);

// Returns what has arrived, null where the connection was lost on the way.
async function collect(answer, onShare) {
  const expected = Number(answer.headers.get("X-Expected-Bytes")) || 1;
  const reader = answer.body.getReader();
  const chunks = [];
  let received = 0;
  for (;;) {
    const { done, value } = await reader.read().catch(() => ({ done: true, value: null }));
    if (done) return value === null ? null : chunks;
    chunks.push(value);
    received += value.length;
    onShare(Math.min(0.99, received / expected));
  }
}

const nameOf = (answer) => /filename="([^"]+)"/.exec(answer.headers.get("Content-Disposition"))?.[1] ?? "bundle.zip";

function save(blob, name) {
  const link = document.createElement("a");
  link.href = URL.createObjectURL(blob);
  link.download = name;
  link.click();
  setTimeout(() => URL.revokeObjectURL(link.href), 60000);
}
