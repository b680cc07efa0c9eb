// What all views share: elements, calls to the service, tables, CSV, messages.

export const by = (id) => document.getElementById(id);

/** An element with attributes and children; texts are never read as HTML. */
export function el(name, attributes = {}, ...children) {
  const made = document.createElement(name);
  for (const [key, value] of Object.entries(attributes)) {
    if (value === undefined || value === null || value === false) continue;
    if (key.startsWith("on")) made.addEventListener(key.slice(2), value);
    else made.setAttribute(key, value === true ? "" : value);
  }
  made.append(...children.flat().filter((child) => child !== null && child !== undefined));
  return made;
}

export const number = (value, digits = 2) =>
  value === null || value === undefined || Number.isNaN(value)
    ? "–"
    : Number(value).toLocaleString("en", { minimumFractionDigits: digits, maximumFractionDigits: digits });
export const percent = (value, digits = 1) =>
  value === null || value === undefined ? "–" : `${number(100 * value, digits)}%`;
export const signed = (value, digits = 2) => (value > 0 ? "+" : value < 0 ? "−" : "") + number(Math.abs(value), digits);
export const words = (name) => String(name).replaceAll("_", " ");

/** What the service said was wrong. */
export class Refused extends Error {
  constructor(status, error) {
    super(error.hint ? `${error.message}. ${error.hint}` : error.message);
    Object.assign(this, { status, code: error.code, row: error.row, column: error.column });
  }
}

export async function call(path, content, method) {
  const headers = {};
  const token = sessionStorage.getItem("token");
  if (token) headers.Authorization = `Bearer ${token}`;
  const options = { method: method || (content === undefined ? "GET" : "POST"), headers };
  if (content !== undefined) {
    headers["Content-Type"] = "application/json";
    options.body = JSON.stringify(content);
  }
  let reply;
  try {
    reply = await fetch(path, options);
  } catch {
    throw new Refused(0, { code: "unreachable", message: "The service does not answer. Is it still running?" });
  }
  const found = await reply
    .json()
    .catch(() => ({ error: { code: "bad_reply", message: "The answer cannot be read." } }));
  if (reply.status === 401) document.dispatchEvent(new CustomEvent("token-needed"));
  if (!reply.ok)
    throw new Refused(reply.status, found.error || { code: "unknown", message: "The request was refused." });
  return found;
}

export function show(id, message) {
  const place = by(id);
  place.textContent = message || "";
  place.hidden = !message;
}

let fading;
export function say(message) {
  const place = by("said");
  place.textContent = message;
  place.classList.add("on");
  clearTimeout(fading);
  fading = setTimeout(() => place.classList.remove("on"), 2200);
}

// CSV

const quoted = (value) => {
  if (value === null || value === undefined) return "";
  let text = String(value);
  if (typeof value === "string" && /^[=+\-@\t\r]/.test(text)) text = `'${text}`; // no formulas in somebody's spreadsheet
  return /[",\n\r;]/.test(text) ? `"${text.replaceAll('"', '""')}"` : text;
};

export const csv = (names, rows) => [names, ...rows].map((row) => `${row.map(quoted).join(",")}\r\n`).join("");

export function download(name, text) {
  const link = el("a", {
    href: URL.createObjectURL(new Blob([text], { type: "text/csv;charset=utf-8" })),
    download: name,
  });
  document.body.append(link);
  link.click();
  link.remove();
  setTimeout(() => URL.revokeObjectURL(link.href), 10000);
}

export async function copy(text) {
  try {
    await navigator.clipboard.writeText(text);
    say("Copied");
  } catch {
    const area = el("textarea", { class: "visually-hidden" });
    area.value = text;
    document.body.append(area);
    area.select();
    document.execCommand("copy");
    area.remove();
    say("Copied");
  }
}

/** A table that can be copied and downloaded; columns: {name, get, show, number, hidden}; hidden ones only there. */
export function dataTable(title, file, columns, rows, note) {
  const values = () => rows.map((row) => columns.map((column) => column.get(row)));
  const text = () =>
    csv(
      columns.map((column) => column.name),
      values(),
    );
  const shown = columns.filter((column) => !column.hidden);
  const head = el(
    "tr",
    {},
    shown.map((column) => el("th", { class: column.number ? "n" : null, scope: "col" }, column.label || column.name)),
  );
  const body = rows.map((row) =>
    el(
      "tr",
      {},
      shown.map((column) => {
        const value = column.get(row);
        return el(
          "td",
          { class: column.number ? "n" : null },
          column.show ? column.show(value, row) : value === null || value === undefined ? "–" : String(value),
        );
      }),
    ),
  );
  return el(
    "div",
    { class: "card" },
    el(
      "div",
      { class: "tabletop" },
      el("h2", {}, title),
      el(
        "div",
        { class: "row" },
        el("button", { type: "button", onclick: () => copy(text()) }, "Copy"),
        el("button", { type: "button", onclick: () => download(file, text()) }, "Download CSV"),
      ),
    ),
    note ? el("p", { class: "hint" }, note) : null,
    el("div", { class: "scroll" }, el("table", {}, el("thead", {}, head), el("tbody", {}, body))),
  );
}

/** Rows of a CSV text: [names, rows of texts, line of each row]; refuses what cannot be read. */
export function readCsv(text) {
  text = text.replace(/^\uFEFF/, "");
  const first = text.slice(0, text.search(/\r|\n|$/));
  const count = (mark) => first.split(mark).length;
  const mark = [",", ";", "\t", "|"].reduce((best, one) => (count(one) > count(best) ? one : best), ",");
  const rows = [],
    lines = [];
  let row = [],
    cell = "",
    inside = false,
    line = 1,
    begun = 1;
  const endCell = () => {
    row.push(cell);
    cell = "";
  };
  const endRow = () => {
    endCell();
    if (row.length > 1 || row[0].trim() !== "") {
      rows.push(row);
      lines.push(begun);
    }
    row = [];
    begun = line;
  };
  for (let i = 0; i < text.length; i++) {
    const sign = text[i];
    if (inside) {
      if (sign === '"' && text[i + 1] === '"') {
        cell += '"';
        i++;
      } else if (sign === '"') inside = false;
      else {
        cell += sign;
        if (sign === "\n") line++;
      }
    } else if (sign === '"' && cell === "") inside = true;
    else if (sign === mark) endCell();
    else if (sign === "\n" || sign === "\r") {
      if (sign === "\r" && text[i + 1] === "\n") i++;
      line++;
      endRow();
    } else cell += sign;
  }
  if (inside)
    throw new Error(
      `The file cannot be divided into fields: a quotation mark opens in line ${begun} and never closes.`,
    );
  if (cell !== "" || row.length) endRow();
  if (rows.length < 2)
    throw new Error(
      "The file has no rows: a first line with the names of the columns, then one line a candidate, are expected.",
    );
  const names = rows.shift().map((name) => name.trim());
  lines.shift();
  const twice = names.find((name, i) => name !== "" && names.indexOf(name) !== i);
  if (twice !== undefined) throw new Error(`The column ${twice} is there twice: which one is meant?`);
  const wrong = rows.findIndex((one) => one.length !== names.length);
  if (wrong >= 0)
    throw new Error(
      `Row ${wrong + 1} (line ${lines[wrong]} of the file) has ${rows[wrong].length} fields, the header ${names.length}.`,
    );
  return { names, rows, lines };
}

// Numbers as `lifeyears rank` reads them: thousands in groups of three, all with one mark; commas or points for decimals.
const written = (group, point) =>
  new RegExp(
    `^[+\\-−]?(?:(?:\\d+|[1-9]\\d{0,2}(?:([${group}'’ \u00a0\u202f])\\d{3})(?:\\1\\d{3})*)(?:${point}\\d*)?|${point}\\d+)(?:[eE][+-]?\\d+)?$`,
  );
const WRITTEN = { ".": written(",", "\\."), ",": written(".", ",") };
const value = (text, mark) =>
  Number(
    text
      .replace(mark === "." ? /[,'’ \u00a0\u202f]/g : /[.'’ \u00a0\u202f]/g, "")
      .replace(mark, ".")
      .replace("−", "-"),
  );
const plain = (text) =>
  text !== "" && Number.isFinite(Number(text)) && /^[+-]?[\d.]/.test(text) && !/^[+-]?0[xbo]/i.test(text);

/** Texts of one column as numbers; what is none stays a text. One decimal mark for all of them. */
export function readNumbers(texts) {
  const other = texts.filter((text) => text !== null && !plain(text));
  if (!other.length) return texts.map((text) => (text === null ? null : Number(text)));
  const known = texts.filter((text) => text !== null);
  const marks = [".", ","].filter((mark) => known.every((text) => WRITTEN[mark].test(text)));
  const unclear = marks.length > 1 && known.find((text) => value(text, ".") !== value(text, ","));
  if (unclear)
    return texts.map((text) =>
      text === null ? null : WRITTEN["."].test(text) && value(text, ".") === value(text, ",") ? value(text, ".") : text,
    );
  const mark = marks[0] || ".";
  return texts.map((text) => (text === null ? null : WRITTEN[mark].test(text) ? value(text, mark) : text));
}
