// The script of a sfumato collector. It changes answers at random, here in the browser, and sends the changed ones.
// Nothing else leaves: no true answer, no cookie. It needs no library, and it is short so that you can read it.
"use strict";

(() => {
  // ---- Randomness: from the operating system, by way of the browser -------------------------------------------------

  const draw32 = () => crypto.getRandomValues(new Uint32Array(1))[0];
  // A number from [0, 1) with 53 random bits.
  const uniform = () => ((draw32() >>> 11) * 2 ** 32 + draw32()) * 2 ** -53;
  // A chance strictly between 0 and 1: an odd multiple of 2^-53, exact, so that 1 - u is as likely as u.
  const chance = () => ((draw32() >>> 12) * 2 ** 32 + draw32() + 0.5) * 2 ** -52;

  // ---- The normal distribution ----------------------------------------------------------------------------------------

  const normalDensity = (z) => Math.exp(-z * z / 2) / Math.sqrt(2 * Math.PI);

  // The chance that a normal number exceeds z >= 0: a power series near the middle, Laplace's continued fraction beyond.
  function upperTail(z) {
    if (z < 2) {
      let term = z, sum = z;
      for (let odd = 3; term > 1e-18 * sum; odd += 2) sum += term *= z * z / odd;
      return 0.5 - normalDensity(z) * sum;
    }
    let fraction = z;
    for (let k = 150; k >= 1; k--) fraction = z + k / fraction;
    return normalDensity(z) / fraction;
  }

  // The number that a normal one stays below with a given chance: Newton's method on the logarithm of the tail.
  function normalQuantile(u) {
    const tail = Math.min(u, 1 - u);
    let z = tail > 0.4 ? 0.1 : Math.sqrt(-2 * Math.log(2 * tail));
    for (let step = 0; step < 50; step++) {
      const reached = upperTail(z);
      const change = (Math.log(reached) - Math.log(tail)) * reached / normalDensity(z);
      z = Math.max(z + change, 0);
      if (Math.abs(change) <= 1e-15 * Math.max(z, 1)) break;
    }
    return u < 0.5 ? -z : z;
  }

  // ---- Noise: the kinds of noise.json ---------------------------------------------------------------------------------

  const spread = (noise) => noise.sigma ?? noise.half_width ?? noise.scale;
  const isNumber = (noise) => noise.domain !== undefined;
  const deviation = {
    gaussian: (noise) => noise.sigma * normalQuantile(chance()),
    uniform: (noise) => noise.half_width * (2 * chance() - 1),
    laplace: (noise) => {
      const centred = chance() - 0.5;
      return -noise.scale * Math.sign(centred) * Math.log1p(-2 * Math.abs(centred));
    },
  };

  // Reports of numbers lie on a grid that the noise alone fixes, four decimal places below the leading digit of the
  // noise or of the domain's width. Answer and noise are rounded to it before they are added: the last digits of a
  // sum of any two numbers would tell something of both.
  function decimals(noise) {
    const smaller = Math.min(spread(noise), noise.domain[1] - noise.domain[0]);
    return 4 - Number(smaller.toExponential().split("e")[1]);
  }
  const steps = (noise, number) => Math.round(number / Number(`1e${-decimals(noise)}`));
  const fromSteps = (noise, count) =>
    decimals(noise) >= 0 ? count / Number(`1e${decimals(noise)}`) : count * Number(`1e${-decimals(noise)}`);

  // What is sent in place of an answer: drawn anew at each call.
  function perturb(noise, answer) {
    switch (noise.kind) {
      case "gaussian":
      case "uniform":
      case "laplace":
        return fromSteps(noise, steps(noise, answer) + steps(noise, deviation[noise.kind](noise))) + 0;
      case "response":
        return uniform() < noise.keep ? answer : noise.values[Math.floor(uniform() * noise.values.length)];
      case "matrix": {
        const row = noise.matrix[noise.values.indexOf(answer)];
        const sums = [];
        for (const part of row) sums.push((sums.at(-1) ?? 0) + part);
        const at = uniform() * sums.at(-1);
        return noise.values[sums.findIndex((sum) => at < sum)];
      }
      case "unary":
        return noise.values.filter((value) => uniform() < (value === answer ? noise.keep : noise.add));
      case "flip":
        return noise.items.filter((item) => answer.includes(item) === (uniform() < noise.keep));
    }
    throw new Error(`this page does not know noise of the kind ${noise.kind}`);
  }

  // ---- Memory: the same answer to the same question is sent as the same report, however often it is asked -----------

  const MEMORY = "sfumato report ", PENDING = "sfumato pending";
  const held = new Map(); // where the browser lets the page remember nothing: until the page is closed
  function recall(key) {
    try { return localStorage.getItem(key) ?? held.get(key) ?? null; } catch { return held.get(key) ?? null; }
  }
  function remember(key, text) {
    try { localStorage.setItem(key, text); } catch { held.set(key, text); }
  }
  function forget(key) {
    held.delete(key);
    try { localStorage.removeItem(key); } catch { /* nothing was kept there */ }
  }
  function forgetAll() {
    held.clear();
    try {
      for (const key of Object.keys(localStorage)) if (key.startsWith("sfumato ")) localStorage.removeItem(key);
    } catch { /* nothing was kept there */ }
  }

  function permanentReport(name, noise, answer) {
    const same = isNumber(noise) ? steps(noise, answer) : answer;
    const key = MEMORY + JSON.stringify([name, noise, same]);
    const known = recall(key);
    if (known !== null) return JSON.parse(known);
    const report = perturb(noise, answer);
    remember(key, JSON.stringify(report)); // before anything is sent
    return report;
  }

  // ---- Sending --------------------------------------------------------------------------------------------------------

  const pause = (milliseconds) => new Promise((resolve) => setTimeout(resolve, milliseconds));

  function compose(reports) {
    const bytes = crypto.getRandomValues(new Uint8Array(16));
    const key = Array.from(bytes, (byte) => byte.toString(16).padStart(2, "0")).join("");
    return JSON.stringify({ format: "sfumato-answer/1", key, noise: document.body.dataset.noise, reports });
  }

  // Sends until it is acknowledged; the same text, with the same key, so that it is kept once. An error is a sentence.
  async function send(body, tries = 4) {
    remember(PENDING, body);
    for (let tried = 1; ; tried++) {
      let reply = null;
      try {
        const headers = { "Content-Type": "application/json" };
        reply = await fetch("answers", { method: "POST", headers, body, credentials: "omit", cache: "no-store" });
      } catch { /* no connection: like a collector that is busy */ }
      if (reply !== null && reply.status < 500 && reply.status !== 429) {
        forget(PENDING);
        if (reply.ok) return;
        throw new Error((await reply.json().catch(() => ({ error: "it was refused, and not said why" }))).error);
      }
      if (tried >= tries) throw new Error("the collector cannot be reached; send it again later, it is kept here until then");
      await pause(400 * 2 ** tried);
    }
  }

  // ---- How sure anyone can be of a number -------------------------------------------------------------------------------

  // The range that holds an answer 95 times in 100 for somebody who sees the report and holds all numbers of the domain
  // for equally likely: the noise, laid around the report and cut at the ends of the domain.
  function likelyRange(noise, report) {
    const [low, high] = noise.domain, count = 4000, size = (high - low) / count;
    const logDensity = {
      gaussian: (y) => -((y / noise.sigma) ** 2) / 2,
      uniform: (y) => (Math.abs(y) <= noise.half_width + size ? 0 : -Infinity),
      laplace: (y) => -Math.abs(y) / noise.scale,
    }[noise.kind];
    const logs = Array.from({ length: count }, (_, place) => logDensity(report - low - (place + 0.5) * size));
    const top = logs.reduce((a, b) => Math.max(a, b));
    let sum = 0;
    const sums = logs.map((one) => (sum += Math.exp(one - top)));
    const at = (share) => low + sums.findIndex((one) => one >= share * sum) * size;
    return [at(0.025), Math.min(at(0.975) + size, high)];
  }

  // ---- The page of questions --------------------------------------------------------------------------------------------

  const find = (selector) => document.querySelector(selector);
  const written = (value) => (Array.isArray(value) ? value.join(", ") || "(none)" : String(value));
  const rounded = (number) => Number(number.toPrecision(3)).toLocaleString("en");

  function element(name, text = "", ...children) {
    const made = document.createElement(name);
    made.textContent = text;
    made.append(...children);
    return made;
  }

  function readAnswer(fieldset, noise) {
    if (isNumber(noise)) return fieldset.querySelector("input").valueAsNumber;
    const chosen = Array.from(fieldset.querySelectorAll("input:checked"), (input) => input.value);
    if (noise.kind === "flip") return noise.items.filter((item) => chosen.includes(item));
    return chosen[0] ?? fieldset.querySelector("select").value;
  }

  function describe(fieldset, noise, answer, report) {
    const whole = element("div"), pair = element("div"), sure = element("p");
    whole.className = "drawn";
    pair.className = "pair";
    sure.className = "note";
    const yours = element("div", "", element("small", "your answer"), element("b", written(answer)));
    pair.append(yours, element("div", "", element("small", "what is sent"), element("b", written(report))));
    if (isNumber(noise)) {
      const [low, high] = likelyRange(noise, report);
      sure.textContent = `Whoever sees this alone can say that your answer is from ${rounded(low)} to ${rounded(high)}, `
        + "and is wrong 5 times in 100.";
    } else {
      sure.textContent = fieldset.dataset.sure;
    }
    if (written(answer) === written(report)) {
      sure.textContent += " That it is your answer happened by chance, and nobody else can know it.";
    }
    whole.append(element("h3", fieldset.querySelector("legend").textContent), pair, sure);
    return whole;
  }

  const say = (sentence) => { find("#trouble").textContent = sentence; };

  function show(id) {
    for (const part of ["#questions", "#preview", "#done"]) find(part).hidden = part !== id;
    const heading = find(`${id} h2`);
    heading?.focus();
    (heading ?? find("h1")).scrollIntoView();
  }

  async function begin() {
    const noise = (await (await fetch("noise.json", { credentials: "omit", cache: "no-store" })).json()).columns;
    let reports = null;

    function preview() {
      reports = {};
      find("#drawn").replaceChildren();
      for (const fieldset of document.querySelectorAll("fieldset")) {
        const name = fieldset.dataset.name, answer = readAnswer(fieldset, noise[name]);
        reports[name] = permanentReport(name, noise[name], answer);
        find("#drawn").append(describe(fieldset, noise[name], answer, reports[name]));
      }
      show("#preview");
    }

    async function deliver(body) {
      say("");
      find("#send").disabled = true;
      try {
        await send(body);
        find("#questions").reset();
        find("#drawn").replaceChildren();
        show("#done");
      } catch (error) {
        say(`It was not sent: ${error.message}`);
      } finally {
        find("#send").disabled = false;
      }
    }

    find("#questions").addEventListener("submit", (event) => { event.preventDefault(); say(""); preview(); });
    find("#change").addEventListener("click", () => { say(""); show("#questions"); find("fieldset input, select").focus(); });
    find("#send").addEventListener("click", () => {
      // what has not been acknowledged goes again as it was, unless it is something else by now
      const last = recall(PENDING);
      const same = last !== null && JSON.stringify(JSON.parse(last).reports) === JSON.stringify(reports);
      deliver(same ? last : compose(reports));
    });
    find("#forget").addEventListener("click", () => { forgetAll(); say("This browser has forgotten what it drew."); });
    find("#questions button").disabled = false;
  }

  // ---- The page of results: looks again now and then, while somebody looks at it -----------------------------------------

  async function refresh() {
    await pause(5000);
    if (!document.hidden && !find("details[open]")) {
      try {
        const reply = await fetch("results", { credentials: "omit", cache: "no-store" });
        const page = new DOMParser().parseFromString(await reply.text(), "text/html");
        if (reply.ok) find("main").replaceWith(page.querySelector("main"));
      } catch { /* the collector is away; the figures stay */ }
    }
    refresh();
  }

  if (document.body.dataset.live) refresh();
  else begin().catch(() => say("The collector cannot be reached; load this page again later."));

  // For whoever wants to try it out: what a page does, as functions.
  globalThis.sfumato = Object.freeze({ perturb, permanentReport, normalQuantile, likelyRange, compose, send, forgetAll });
})();
