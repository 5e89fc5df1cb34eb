// Show a progress bar during a download; without this file the browser downloads as usual.
"use strict";

document.querySelectorAll("form.download").forEach((form) =>
  form.addEventListener("submit", async (event) => {
    event.preventDefault();
    const status = form.querySelector("[role=status]");
    const [bar, message] = status.children;
    const button = form.querySelector("button");
    status.hidden = false;
    button.disabled = true;
    message.textContent = "Writing …";
    try {
      const answer = await fetch(`${form.action}?${new URLSearchParams(new FormData(form))}`);
      if (!answer.ok) throw new Error(String(answer.status));
      const chunks = await collect(answer, (share) => (bar.value = share));
      save(new Blob(chunks, { type: "application/zip" }), nameOf(answer));
      bar.value = 1;
      message.textContent = "Downloaded.";
    } catch {
      message.textContent = "The download failed. Try again; the stored data are safe.";
    }
    button.disabled = false;
  }),
);

async function collect(answer, onShare) {
  const expected = Number(answer.headers.get("X-Expected-Bytes")) || 1;
  const reader = answer.body.getReader();
  const chunks = [];
  let received = 0;
  for (;;) {
    const { done, value } = await reader.read();
    if (done) return chunks;
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
