"use strict";
// The page of a gateway: sends statements with the token that was typed, and shows what comes back.
// The token stays in this page's memory and is gone when the page is closed. All text is set as text, never as HTML.

const part = (name) => document.getElementById(name);
let token = "";

async function call(path, content) {
  const options = { headers: { Authorization: "Bearer " + token }, cache: "no-store" };
  if (content !== undefined) {
    options.method = "POST";
    options.headers["Content-Type"] = "application/json";
    options.body = JSON.stringify(content);
  }
  let reply;
  try {
    reply = await fetch(path, options);
  } catch {
    throw new Error("The gateway cannot be reached; ask again later.");
  }
  const said = await reply.json();
  if (reply.status === 401) throw new Error("This token is not known.");
  if (!reply.ok) throw new Error(said.error);
  return said;
}

function element(name, text, kind) {
  const made = document.createElement(name);
  if (text !== undefined) made.textContent = text;
  if (kind) made.className = kind;
  return made;
}

function figures(columns, rows) {
  const table = element("table", undefined, "figures");
  const head = table.createTHead().insertRow();
  for (const name of columns) {
    const cell = element("th", name);
    cell.scope = "col";
    head.append(cell);
  }
  const body = table.createTBody();
  for (const row of rows) {
    const line = body.insertRow();
    for (const value of row) {
      const shown = value === null ? "NULL" : typeof value === "number" ? value.toLocaleString("en") : value;
      line.append(element(line.children.length ? "td" : "th", shown));
    }
  }
  return table;
}

function showAnswer(said) {
  part("answer").replaceChildren(
    said.answered ? figures(said.columns, said.rows) : element("p", "Not answered: " + said.reason + ".", "denied"));
  part("said").hidden = false;
}

async function showHistory() {
  const { entries } = await call("history");
  const shown = entries.reverse().map((one) => {
    const article = element("article");
    const again = element("button", one.sql, "plain");
    again.type = "button";
    again.addEventListener("click", () => { part("sql").value = one.sql; part("sql").focus(); });
    const when = one.time.replace("T", " ").slice(0, 16) + " UTC";
    article.append(again, element("p", when + " · " + one.outcome + (one.reason ? ": " + one.reason : ""), "note"));
    return article;
  });
  part("history").replaceChildren(...(shown.length ? shown : [element("p", "Nothing so far.", "note")]));
  part("earlier").hidden = false;
}

async function attempt(work) {
  part("trouble").textContent = "";
  try {
    await work();
  } catch (error) {
    part("trouble").textContent = error.message;
  }
}

part("enter").addEventListener("submit", (event) => {
  event.preventDefault();
  token = part("token").value.trim();
  attempt(async () => {
    const about = await call("about");
    part("about").textContent = "You are " + about.user + ". Conditions and groups are of " + about.on.join(", ") +
      "; figures of " + about.protected.join(", ") + ". For example: " + about.example;
    part("enter").hidden = true;
    part("ask").hidden = false;
    part("sql").focus();
    await showHistory();
  });
});

part("ask").addEventListener("submit", (event) => {
  event.preventDefault();
  attempt(async () => {
    part("send").disabled = true;
    try {
      showAnswer(await call("ask", { sql: part("sql").value }));
    } finally {
      part("send").disabled = false;
    }
    await showHistory();
  });
});
