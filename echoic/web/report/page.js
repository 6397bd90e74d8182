"use strict";
// Every text goes in as text: nothing here reads markup.

const PAGE = 10;
const DIFF_WORDS = 220;
const STATUS = {
  regressed: "▼", improved: "▲", unobserved: "◌", unsupported: "∅",
};

function make(name, attributes = {}, ...content) {
  const node = document.createElement(name);
  for (const [key, value] of Object.entries(attributes)) node.setAttribute(key, value);
  node.append(...content.filter((part) => part !== null));
  return node;
}

// The words that one text has and the other has not, by the longest common run of words.
function difference(before, after) {
  const a = before.match(/\s+|\S+/gu) ?? [];
  const b = after.match(/\s+|\S+/gu) ?? [];
  if (a.length > DIFF_WORDS || b.length > DIFF_WORDS) return [[before], [after]];
  const common = Array.from({ length: a.length + 1 }, () => new Uint16Array(b.length + 1));
  for (let i = a.length - 1; i >= 0; i--) {
    for (let j = b.length - 1; j >= 0; j--) {
      common[i][j] = a[i] === b[j]
        ? common[i + 1][j + 1] + 1
        : Math.max(common[i + 1][j], common[i][j + 1]);
    }
  }
  const left = [];
  const right = [];
  for (let i = 0, j = 0; i < a.length || j < b.length;) {
    if (i < a.length && j < b.length && a[i] === b[j]) {
      left.push(a[i++]);
      right.push(b[j++]);
    } else if (j === b.length || (i < a.length && common[i + 1][j] >= common[i][j + 1])) {
      left.push(make("del", {}, a[i++]));
    } else {
      right.push(make("ins", {}, b[j++]));
    }
  }
  return [left, right];
}

function armBox(name, arm, words) {
  let shown = make("i", {}, "says nothing");
  if (arm.unknown) shown = make("i", {}, "asks the model, which nobody did: its words are unknown");
  else if (words !== null) shown = make("bdi", { dir: "auto" }, ...words);
  const head = make("p", { title: arm.arm }, make("b", {}, name), ` ${arm.class}`);
  if (arm.name !== arm.class) head.append(` · ${arm.name}`);
  return make("div", { class: "arm" }, head, shown);
}

function gateTable(gates, title) {
  const rows = gates.map(([, passed, gate, test, margin]) => {
    const mark = make("td", { "aria-label": passed ? "passed" : "not passed" }, passed ? "✓" : "✗");
    const cells = [gate, test, margin].map((text) => make("td", {}, text));
    return make("tr", passed ? { class: "passed" } : {}, mark, ...cells);
  });
  const body = rows.length ? make("table", {}, make("tbody", {}, ...rows)) : make("p", {}, "No gate stood in its way.");
  return make("div", {}, make("p", { class: "quiet" }, title), body);
}

function drawFlip(flip) {
  const { a, b } = flip;
  const both = a.text !== null && b.text !== null;
  const [left, right] = both ? difference(a.text, b.text) : [a.text === null ? null : [a.text], b.text === null ? null : [b.text]];
  const light = make("span", { class: `light ${flip.status}` },
    make("span", { "aria-hidden": "true" }, STATUS[flip.status] ?? "?"), make("span", {}, flip.status));
  const head = make("div", { class: "head" }, light,
    ...[flip.where, flip.kind, flip.at].map((text) => make("span", {}, text)));
  const fact = (name, value) => make("span", {}, `${name} `, make("b", {}, value));
  const meta = make("div", { class: "meta" },
    fact("taken", `${flip.taken}, p ${flip.logged[0]}`),
    flip.taken === "B's arm" ? null : fact("B's arm", `p ${flip.logged[1]}`),
    fact("outcome", flip.outcome ?? "never observed"));
  const item = make("li", { class: "flip", tabindex: "-1" }, head,
    make("bdi", { class: "event", dir: "auto", style: "display:block" }, flip.text ?? "(no text)"),
    make("div", { class: "arms" }, armBox("A", a, left), armBox("B", b, right)), meta);
  if (a.arm === b.arm) {
    meta.append(make("span", {}, "Both hold this arm best; how likely they take it differs."));
  }
  if (flip.traces) {
    meta.append(make("a", { href: flip.traces }, "Both in Jaeger"));
  }
  if (flip.why.length) {
    const of = (whose) => flip.why.filter((gate) => gate[0] === whose);
    item.append(make("details", {}, make("summary", {}, "Why"), make("div", { class: "why" },
      gateTable(of("baseline"), "A's gates"), gateTable(of("challenger"), "B's gates"))));
  }
  return item;
}

function haystack(flip) {
  flip.found ??= [flip.text, flip.a.text, flip.b.text, flip.a.arm, flip.b.arm, flip.where, flip.kind, flip.id]
    .join("\n").toLowerCase();
  return flip.found;
}

function setUpFlips(section) {
  let flips = null;
  const state = { status: "", classes: "", words: "", page: 0 };
  const list = section.querySelector(".list");
  const count = section.querySelector(".count");
  const steps = [...section.querySelectorAll("[data-step]")];

  function fits(flip) {
    if (state.classes && flip.classes !== state.classes) return false;
    if (state.status === "unknown" ? !flip.b.unknown : state.status && flip.status !== state.status) return false;
    return !state.words || haystack(flip).includes(state.words);
  }

  function draw() {
    flips ??= JSON.parse(document.getElementById(section.dataset.flips).textContent);
    const found = flips.filter(fits);
    const last = Math.max(Math.ceil(found.length / PAGE) - 1, 0);
    state.page = Math.min(Math.max(state.page, 0), last);
    const start = state.page * PAGE;
    const shown = found.slice(start, start + PAGE);
    list.replaceChildren(...shown.map(drawFlip));
    list.start = start + 1;
    count.textContent = found.length
      ? `${start + 1} to ${start + shown.length} of ${found.length.toLocaleString("en")}`
      : "None fits.";
    steps[0].disabled = state.page === 0;
    steps[1].disabled = state.page === last;
    for (const button of section.querySelectorAll("[data-status]")) {
      button.setAttribute("aria-pressed", String(button.dataset.status === state.status));
    }
    for (const button of section.querySelectorAll("[data-classes]")) {
      button.setAttribute("aria-pressed", String(button.dataset.classes === state.classes));
    }
  }

  section.addEventListener("click", (event) => {
    const button = event.target.closest("button");
    if (!button) return;
    const { status, classes, step } = button.dataset;
    if (step) state.page += Number(step);
    else state.page = 0;
    if (status !== undefined) state.status = status;
    if (status === "") state.classes = "";
    if (classes) state.classes = state.classes === classes ? "" : classes;
    draw();
    if (step) count.scrollIntoView({ block: "start" });
  });
  section.querySelector("input").addEventListener("input", (event) => {
    state.words = event.target.value.trim().toLowerCase();
    state.page = 0;
    draw();
  });
  // Thousands of decisions are read only when somebody comes near them.
  new IntersectionObserver((seen, observer) => {
    if (!seen.some((each) => each.isIntersecting)) return;
    observer.disconnect();
    draw();
  }, { rootMargin: "1200px" }).observe(section);
  addEventListener("beforeprint", () => flips ?? draw());
}

function walk(step) {
  const items = [...document.querySelectorAll(".flip")];
  if (!items.length) return;
  const at = items.indexOf(document.activeElement?.closest(".flip"));
  const next = at < 0 ? 0 : Math.min(Math.max(at + step, 0), items.length - 1);
  items[next].focus();
}

function setUpKeys() {
  document.addEventListener("keydown", (event) => {
    if (event.target.matches("input") || event.ctrlKey || event.metaKey || event.altKey) return;
    if (event.key === "j") walk(1);
    else if (event.key === "k") walk(-1);
    else if (event.key === "/") {
      event.preventDefault();
      document.querySelector(".search input")?.focus();
    }
  });
}

function setUpTheme() {
  const root = document.documentElement;
  document.querySelector(".theme").addEventListener("click", () => {
    const dark = root.dataset.theme
      ? root.dataset.theme === "dark"
      : matchMedia("(prefers-color-scheme: dark)").matches;
    root.dataset.theme = dark ? "light" : "dark";
  });
}

function setUpCopy() {
  for (const button of document.querySelectorAll(".copy")) {
    button.addEventListener("click", async () => {
      const code = button.parentElement.querySelector("code");
      try {
        await navigator.clipboard.writeText(code.textContent);
        button.textContent = "Copied";
      } catch {
        getSelection().selectAllChildren(code);
      }
    });
  }
}

document.querySelectorAll("[data-flips]").forEach(setUpFlips);
setUpKeys();
setUpTheme();
setUpCopy();
