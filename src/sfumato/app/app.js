"use strict";
// What htmx does not do: say aloud what changed, keep a second press from sending a form twice, and draw anew what a
// form says of itself while somebody types. Everything that counts happens on the server.
(() => {
  let shown = 0;
  const announce = (text) => {
    const place = document.getElementById("announcer");
    if (place) {
      place.textContent = text;
    }
  };
  document.addEventListener("htmx:beforeRequest", (event) => {
    const form = event.target.closest("form");
    if (form) {
      form.setAttribute("aria-busy", "true");
    }
  });
  document.addEventListener("htmx:afterRequest", (event) => {
    const form = event.target.closest && event.target.closest("form");
    if (form) {
      form.removeAttribute("aria-busy");
    }
  });
  // A node of the tree that is dragged under another group: the form is sent as if it had been chosen and moved.
  const dragNodes = () => {
    const form = document.getElementById("tree-form");
    if (!form || !window.Sortable) {
      return;
    }
    for (const list of form.querySelectorAll("#tree ul")) {
      window.Sortable.create(list, {
        group: `level-${list.dataset.level}`,
        animation: 0,
        sort: false,
        onAdd: (event) => {
          const parent = event.to.closest("li");
          if (!parent) {
            return;
          }
          for (const box of form.querySelectorAll('input[name="node"]')) {
            box.checked = box.value === event.item.dataset.node;
          }
          form.querySelector("#target").value = parent.dataset.node;
          form.querySelector('button[value="move"]').click();
        },
      });
    }
  };
  document.addEventListener("DOMContentLoaded", dragNodes);
  document.addEventListener("htmx:afterSettle", (event) => {
    if (event.detail.target && event.detail.target.id === "page") {
      dragNodes();
    }
    const said = document.querySelector("#screen .message.bad, #screen [data-announce]");
    if (said && event.detail.target && event.detail.target.id === "page") {
      announce(said.textContent);
    }
    const reply = event.detail.xhr;
    if (event.detail.target && event.detail.target.id === "page") {
      shown += 1;
      document.body.dataset.shown = shown;
    }
    if (reply && reply.status < 400 && event.detail.target && event.detail.target.id === "page") {
      window.history.replaceState(window.history.state, "", reply.responseURL);
    }
    if (reply && reply.status >= 400) {
      document.getElementById("screen").focus();
      window.scrollTo(0, 0);
    }
  });
  let leaving = false;
  window.addEventListener("beforeunload", () => {
    leaving = true;
  });
  document.addEventListener("htmx:afterOnLoad", () => document.body.classList.remove("offline"));
  document.addEventListener("htmx:sendError", () => {
    if (leaving) {
      return; // a page that is left takes its questions with it
    }
    announce("The server does not answer. It may have been stopped; what was changed before is saved.");
    document.body.classList.add("offline");
  });
  document.addEventListener("submit", (event) => {
    const form = event.target;
    if (form.hasAttribute("hx-post") || form.method !== "post") {
      return;
    }
    if (form.getAttribute("aria-busy") === "true") {
      event.preventDefault();
      return;
    }
    form.setAttribute("aria-busy", "true");
  });
  window.addEventListener("pageshow", () => {
    for (const form of document.querySelectorAll('form[aria-busy="true"]')) {
      form.removeAttribute("aria-busy");
    }
  });
})();
