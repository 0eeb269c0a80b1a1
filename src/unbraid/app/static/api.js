// Questions to the server, and the rule by which a slider asks them: one at a time, always for the newest position.

const message = document.getElementById("message");

export function announce(text) {
  message.textContent = text;
}

async function checked(response) {
  if (response.ok) return response;
  const info = await response.json().catch(() => ({ error: `the server answered ${response.status}.` }));
  throw new Error(info.error);
}

export async function ask(name, question) {
  const body = question instanceof Blob ? question : JSON.stringify(question);
  const options = question === undefined ? {} : { method: "POST", body };
  return checked(await fetch(name, options));
}

// Pictures come as one sheet in a grid of ceil(sqrt(n)) columns, curves as lists of numbers.
export async function askRows(name, question, n) {
  const response = await ask(name, question);
  if (response.status === 204) return null;
  if (!response.headers.get("content-type").startsWith("image/")) return (await response.json()).curves;
  const sheet = await createImageBitmap(await response.blob());
  const columns = Math.ceil(Math.sqrt(n));
  const width = sheet.width / columns;
  const height = sheet.height / Math.ceil(n / columns);
  return Array.from({ length: n }, (_, i) => ({
    sheet, width, height, left: (i % columns) * width, top: Math.floor(i / columns) * height,
  }));
}

// Runs work() now, or once more after the work that is under way: what was asked for in between is passed over.
export function newest(work) {
  let busy = false;
  let again = false;
  return async function start() {
    if (busy) {
      again = true;
      return;
    }
    busy = true;
    try {
      do {
        again = false;
        await work();
      } while (again);
    } catch (error) {
      announce(error.message);
    } finally {
      busy = false;
    }
  };
}

export function afterwards(work, milliseconds) {
  let timer = 0;
  return () => {
    clearTimeout(timer);
    timer = setTimeout(work, milliseconds);
  };
}

export function download(blob, name) {
  const link = document.createElement("a");
  link.href = URL.createObjectURL(blob);
  link.download = name;
  link.click();
  setTimeout(() => URL.revokeObjectURL(link.href), 1000);
}
