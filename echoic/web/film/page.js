"use strict";
// Every text goes in as text: nothing here reads markup.

const reel = JSON.parse(document.getElementById("reel").textContent);
const marks = JSON.parse(document.getElementById("marks").textContent);
const byId = (id) => document.getElementById(id);
const LAYERS = ["reflex", "queue", "talker", "executor", "autonomous", "place"];
const SIGNS = { sunny: "☀", clear: "☀", cloudy: "☁", rain: "☂", storm: "⚡", snow: "❄" };
// Somebody who was told of again within so many seconds walked; after longer they stood.
const WALK_S = 300;
const WINDOW = 160;
const MANY = 16;
const MAP = byId("map");
const SLIDER = byId("time");
const state = { now: 0, playing: false, drawn: "", index: -2, shown: [] };

function make(name, attributes = {}, ...content) {
  const node = document.createElement(name);
  for (const [key, value] of Object.entries(attributes)) node.setAttribute(key, value);
  node.append(...content);
  return node;
}

// The place of the last row that begins at a time or before; -1 if none does.
function last(rows, time) {
  let low = 0, high = rows.length;
  while (low < high) {
    const middle = (low + high) >> 1;
    if (rows[middle][0] <= time) low = middle + 1;
    else high = middle;
  }
  return low - 1;
}

function during(rows, time) {
  const row = rows[last(rows, time)];
  return row && time < row[1] ? row : null;
}

const valueAt = (rows, time) => rows[last(rows, time)]?.[1] ?? "";

function clock(time, seconds = true) {
  const at = new Date(Date.parse(reel.begins) + time * 1000);
  const days = Math.floor((at - Date.parse(reel.begins.slice(0, 10) + "T00:00:00Z")) / 86_400_000);
  const text = at.toISOString().slice(11, seconds ? 19 : 16);
  return days ? `day ${days + 1}, ${text}` : text;
}

function placeOf(actor, time) {
  const index = last(actor.moves, time);
  if (index < 0) return null;
  const [since, x, y] = actor.moves[index];
  if (x === null || y === null) return null;
  const next = actor.moves[index + 1];
  if (!next || next[1] === null || next[0] - since > WALK_S) return [x, y];
  const share = (time - since) / Math.max(next[0] - since, 0.1);
  return [x + (next[1] - x) * share, y + (next[2] - y) * share];
}

// Of the map's width and height, 0 to 1; null if it is not on the map.
function onMap(place) {
  if (place === null) return null;
  const [left, top, width, height] = reel.map.box;
  const across = (place[0] - left) / width;
  const down = (place[1] - top) / height;
  if (across < 0 || across > 1 || down < 0 || down > 1) return null;
  return [across, reel.map.is_upward ? 1 - down : down];
}

function setUpMap() {
  const [left, top, width, height] = reel.map.box;
  const shape = Math.min(Math.max(width / height, 0.4), 2.5);
  MAP.style.setProperty("--shape", shape);
  for (const [name, x, y, wide, high] of reel.map.spots) {
    const node = make("div", { class: "spot" }, name);
    const from = reel.map.is_upward ? top + height - (y + high) : y;
    node.style.left = `${(x - left) / width * 100}%`;
    node.style.top = `${(from - (reel.map.is_upward ? 0 : top)) / height * 100}%`;
    node.style.width = `${wide / width * 100}%`;
    node.style.height = `${high / height * 100}%`;
    MAP.append(node);
  }
  MAP.classList.toggle("many", reel.who.length > MANY);
  for (const actor of reel.who) {
    const dot = make("div", { class: "dot" }, marks[actor.name] ?? "•");
    actor.name_ = make("b", {}, actor.name);
    actor.does = make("span", {});
    actor.bubble = make("div", { class: "bubble", hidden: "" });
    actor.node = make("div", { class: "who" }, dot,
      make("div", { class: "label" }, actor.name_, actor.does), actor.bubble);
    MAP.append(actor.node);
  }
}

function drawActor(actor, taken) {
  const deed = during(actor.deeds, state.now);
  const words = during(actor.words, state.now);
  const absent = valueAt(actor.absences, state.now);
  const place = onMap(placeOf(actor, state.now));
  actor.node.hidden = place === null;
  actor.at = null;
  actor.told = `${actor.name}: ${absent || deed?.[2] || "nothing"}`;
  if (place === null) return;
  // Several at one place stand in a ring around it.
  const key = `${Math.round(place[0] * 60)},${Math.round(place[1] * 60)}`;
  const before = taken.get(key) ?? 0;
  taken.set(key, before + 1);
  const turn = before * 2.4, off = before ? 20 + 4 * before : 0;
  const x = Math.min(Math.max(place[0] * MAP.clientWidth + Math.cos(turn) * off, 14), MAP.clientWidth - 14);
  const y = Math.min(Math.max(place[1] * MAP.clientHeight + Math.sin(turn) * off, 14), MAP.clientHeight - 46);
  actor.at = [x, y];
  actor.node.style.left = `${x}px`;
  actor.node.style.top = `${y}px`;
  actor.does.textContent = absent || deed?.[2] || "";
  actor.bubble.textContent = words?.[2] ?? "";
  actor.bubble.hidden = !words;
  const layer = deed?.[3] || "";
  actor.node.className = ["who", LAYERS.includes(layer) ? layer : "", absent ? "absent" : "",
    words ? "says" : "", x > MAP.clientWidth - 70 ? "right" : x < 70 ? "left" : "",
    x > MAP.clientWidth - 215 ? "leans" : "", y < 110 ? "top" : ""].filter(Boolean).join(" ");
}

function drawTalks() {
  MAP.querySelectorAll(".talk").forEach((node) => node.remove());
  const members = new Map();
  for (const actor of reel.who) {
    const talk = valueAt(actor.talks, state.now);
    if (talk && actor.at) members.set(talk, [...(members.get(talk) ?? []), actor]);
  }
  for (const group of members.values()) {
    for (let n = 1; n < group.length; n++) {
      const [[x, y], [to, down]] = [group[n - 1].at, group[n].at];
      const node = make("div", { class: "talk" });
      node.style.left = `${x}px`;
      node.style.top = `${y}px`;
      node.style.width = `${Math.hypot(to - x, down - y)}px`;
      node.style.transform = `rotate(${Math.atan2(down - y, to - x)}rad)`;
      MAP.append(node);
    }
  }
}

function drawSky() {
  const row = reel.hours[Math.max(last(reel.hours, state.now), 0)];
  const weather = valueAt(reel.weather, state.now);
  let light = "";
  if (row) {
    const hour = (row[1] + Math.max(state.now - row[0], 0) / 3600) % 24;
    const dark = Math.min(Math.max((Math.abs(hour - 13) - 5.5) / 2.5, 0), 1);
    MAP.style.setProperty("--dark", (dark * 0.5).toFixed(3));
    light = dark > 0.5 ? "☾ night" : "☀ day";
  }
  MAP.classList.toggle("rain", weather === "rain" || weather === "snow");
  MAP.classList.toggle("storm", weather === "storm");
  const sky = weather && `${SIGNS[weather] ?? ""} ${weather}`.trim();
  byId("sky").textContent = [light, sky, `${reel.who.length} ${reel.who.length === 1 ? "character" : "characters"}`].filter(Boolean).join(" · ");
}

function draw() {
  const taken = new Map();
  reel.who.forEach((actor) => drawActor(actor, taken));
  const beyond = reel.who.filter((actor) => !actor.at).map((actor) => actor.told);
  byId("beyond").textContent = beyond.length ? `Not on the map: ${beyond.join("; ")}` : "";
  drawTalks();
  drawSky();
  byId("clock").textContent = clock(state.now);
  SLIDER.value = state.now;
  SLIDER.setAttribute("aria-valuetext", clock(state.now));
  needle.style.left = `calc(80px + (100% - 80px) * ${state.now / Math.max(reel.ends, 1)})`;
  drawList();
}

function item(row, index) {
  const [time, who, kind, layer, what, why, id] = row;
  const words = kind === "says" ? `“${what}”` : what;
  const name = who >= 0 ? reel.who[who].name : "";
  const link = make("a", { href: `#t=${time}`, "data-index": index, ...(id ? { title: `echoic explain ${id}` } : {}) },
    make("span", { class: "when" }, clock(time)), make("b", {}, name), " ",
    make("bdi", { class: "what", dir: "auto" }, words), make("span", { class: "by" }, layer));
  if (LAYERS.includes(layer)) link.classList.add(layer);
  if (why) link.append(make("span", { class: "why" }, why));
  return make("li", {}, link);
}

function fits(row) {
  const who = byId("by-who").value, kind = byId("by-kind").value, layer = byId("by-layer").value;
  return (!who || row[1] === Number(who)) && (!kind || row[2] === kind) && (!layer || row[3] === layer);
}

function filter() {
  state.shown = reel.told.filter(fits);
  state.index = -2;
  byId("count").textContent = `${state.shown.length.toLocaleString("en")} of ${reel.told.length.toLocaleString("en")}`;
  draw();
}

// Only those near the time are in the page: a day has thousands.
function drawList() {
  const index = last(state.shown, state.now);
  if (index === state.index) return;
  state.index = index;
  const list = byId("list");
  const from = Math.max(0, index - WINDOW / 2);
  const key = `${from - from % 40}/${state.shown.length}`;
  if (key !== state.drawn || list.childElementCount === 0) {
    state.drawn = key;
    const first = from - from % 40;
    list.replaceChildren(...state.shown.slice(first, first + WINDOW).map((row, n) => item(row, first + n)));
    list.start = first + 1;
  }
  for (const link of list.querySelectorAll("a")) {
    const place = Number(link.dataset.index);
    link.classList.toggle("later", place > index);
    if (place === index) {
      link.setAttribute("aria-current", "true");
      list.scrollTop = link.offsetTop - list.clientHeight / 2;
    } else link.removeAttribute("aria-current");
  }
}

function go(time) {
  state.now = Math.min(Math.max(Number.isFinite(time) ? time : 0, 0), reel.ends);
  draw();
}

function step(by) {
  const index = last(state.shown, state.now);
  let next = index + by;
  // Several may happen at one time: the next is one at another.
  while (by < 0 && next >= 0 && state.shown[next][0] === state.shown[index][0]) next -= 1;
  if (state.shown[next]) go(state.shown[next][0]);
}

let before = 0;
function play(wanted) {
  state.playing = wanted;
  if (wanted && state.now >= reel.ends) state.now = 0;
  byId("play").textContent = wanted ? "Pause" : "Play";
  byId("play").setAttribute("aria-pressed", String(wanted));
  before = performance.now();
  if (wanted) requestAnimationFrame(frame);
  else history.replaceState(null, "", `#t=${Math.round(state.now * 10) / 10}`);
}

function frame(at) {
  if (!state.playing) return;
  go(state.now + Math.max(at - before, 0) / 1000 * Number(byId("speed").value));
  before = at;
  if (state.now >= reel.ends) play(false);
  else requestAnimationFrame(frame);
}

const needle = make("div", { class: "needle" });

function drawLane(canvas, actor) {
  const scale = devicePixelRatio || 1;
  const width = canvas.width = Math.max(canvas.clientWidth * scale, 1);
  const height = canvas.height = 16 * scale;
  const paint = canvas.getContext("2d");
  const style = getComputedStyle(document.documentElement);
  const probe = make("i", {});
  document.body.append(probe);
  const colours = Object.fromEntries([...LAYERS, "word"].map((name) => {
    probe.style.color = `var(--${name})`;
    return [name, getComputedStyle(probe).color];
  }));
  probe.remove();
  const at = (time) => time / Math.max(reel.ends, 1) * width;
  for (const [from, to, , layer] of actor.deeds) {
    paint.fillStyle = colours[layer] ?? style.color;
    paint.fillRect(at(from), height * 0.35, Math.max(at(to) - at(from), scale), height * 0.65);
  }
  paint.fillStyle = colours.word;
  for (const [from] of actor.words) paint.fillRect(at(from), 0, scale, height * 0.3);
}

function setUpLanes() {
  const lanes = byId("lanes");
  for (const actor of reel.who) {
    const canvas = make("canvas", { "aria-hidden": "true" });
    canvas.addEventListener("click", (event) => go(event.offsetX / canvas.clientWidth * reel.ends));
    lanes.append(make("div", { class: "lane" }, make("span", { title: actor.name }, actor.name), canvas));
    actor.canvas = canvas;
  }
  lanes.append(needle);
  redrawLanes();
}

const redrawLanes = () => reel.who.forEach((actor) => drawLane(actor.canvas, actor));

function setUpKeys() {
  document.addEventListener("keydown", (event) => {
    if (event.ctrlKey || event.metaKey || event.altKey || event.target.matches("select")) return;
    if (event.key === " " && !event.target.matches("button, a")) {
      event.preventDefault();
      play(!state.playing);
    } else if (event.key === "j" || event.key === "k") step(event.key === "j" ? 1 : -1);
  });
}

function hashed() {
  const found = /^#t=(\d+(?:\.\d+)?)$/.exec(location.hash);
  if (found) {
    go(Number(found[1]));
    play(false);
  }
}

setUpMap();
setUpLanes();
setUpKeys();
SLIDER.addEventListener("input", () => go(Number(SLIDER.value)));
byId("play").addEventListener("click", () => play(!state.playing));
document.querySelectorAll("[data-step]").forEach((button) =>
  button.addEventListener("click", () => step(Number(button.dataset.step))));
document.querySelectorAll(".filters select").forEach((select) => select.addEventListener("change", filter));
document.querySelector(".filters").addEventListener("submit", (event) => event.preventDefault());
document.querySelector(".theme").addEventListener("click", () => {
  const root = document.documentElement;
  const dark = root.dataset.theme ? root.dataset.theme === "dark" : matchMedia("(prefers-color-scheme: dark)").matches;
  root.dataset.theme = dark ? "light" : "dark";
  redrawLanes();
});
addEventListener("resize", () => { redrawLanes(); draw(); });
addEventListener("hashchange", hashed);
filter();
hashed();
