// Which view is shown; the token, where one is needed.

import * as compare from "./compare.js";
import * as match from "./match.js";
import { by, call, say } from "./page.js";
import * as policy from "./policy.js";

const views = { match, compare, policy };
const begun = new Set();

async function open() {
  const name = location.hash.slice(1) in views ? location.hash.slice(1) : "match";
  for (const view of document.querySelectorAll(".view")) view.hidden = view.id !== name;
  for (const link of document.querySelectorAll("nav a")) {
    if (link.dataset.view === name) link.setAttribute("aria-current", "page");
    else link.removeAttribute("aria-current");
  }
  document.title = `${by(`${name}-title`).textContent} · Lifeyears`;
  if (!begun.has(name)) {
    begun.add(name);
    await views[name].begin();
  }
}

document.addEventListener("token-needed", () => {
  for (const view of document.querySelectorAll(".view")) view.hidden = view.id !== "token";
  begun.clear();
  by("token-value").focus();
});
by("token-form").addEventListener("submit", (event) => {
  event.preventDefault();
  sessionStorage.setItem("token", by("token-value").value.trim());
  open();
});
document.querySelector(".skip").addEventListener("click", (event) => {
  event.preventDefault();
  by("content").focus();
});
window.addEventListener("hashchange", open);
call("/api/health")
  .then((found) => {
    by("version").textContent = `Lifeyears ${found.version}`;
  })
  .catch((error) => say(error.message));
open();
