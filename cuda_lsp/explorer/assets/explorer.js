"use strict";
(() => {
  const host = typeof acquireVsCodeApi === "function" ? acquireVsCodeApi() : null;
  const body = document.body;
  const kernels = [...document.querySelectorAll(".kernel")];
  const index = document.getElementById("index");
  const said = document.getElementById("said");
  const scenesOf = (kernel) => [...kernel.querySelectorAll(".scene")];
  let current = null;

  const stateOf = () => (host && host.getState()) || {};

  function show(id, byUser) {
    const target = id ? document.getElementById(id) : null;
    let scene = target && target.closest(".scene");
    const kernel = target && target.closest(".kernel");
    if (!scene && kernel) scene = scenesOf(kernel)[0];
    if (!scene && !index) scene = document.querySelector(".scene");
    for (const each of document.querySelectorAll(".now")) each.classList.remove("now");
    current = scene;
    if (!scene) {
      if (index) {
        index.classList.add("now");
        if (byUser) index.querySelector("h1").focus();
      }
      said.textContent = "";
      return;
    }
    const own = scene.closest(".kernel");
    own.classList.add("now");
    scene.classList.add("now");
    const all = scenesOf(own);
    const at = all.indexOf(scene);
    for (const link of own.querySelectorAll(".steps a")) {
      if (link.getAttribute("href") === "#" + scene.id) link.setAttribute("aria-current", "step");
      else link.removeAttribute("aria-current");
    }
    for (const button of own.querySelectorAll("[data-step]")) {
      const to = at + Number(button.dataset.step);
      button.disabled = to < 0 || to >= all.length;
    }
    if (host) host.setState({ ...stateOf(), at: scene.id });
    if (byUser) {
      window.scrollTo(0, 0);
      const heading = scene.querySelector("h2");
      heading.focus({ preventScroll: true });
      said.textContent = `Finding ${at + 1} of ${all.length}: ${heading.textContent}`;
    }
  }

  function go(id) {
    // A page in an editor has no address of its own to keep.
    if (!host && location.hash !== "#" + id) history.pushState(null, "", "#" + id);
    show(id, true);
  }

  function step(by) {
    if (!current) return;
    const all = scenesOf(current.closest(".kernel"));
    const next = all[all.indexOf(current) + by];
    if (next) go(next.id);
  }

  function stepKernel(by) {
    const at = current ? kernels.indexOf(current.closest(".kernel")) : by > 0 ? -1 : kernels.length;
    const next = kernels[at + by];
    if (next) go(scenesOf(next)[0].id);
  }

  const scrolls = (element) => element && element.scrollWidth > element.clientWidth + 1;

  document.addEventListener("keydown", (event) => {
    if (event.ctrlKey || event.altKey || event.metaKey || event.defaultPrevented) return;
    const inText = event.target.closest && event.target.closest("input, textarea, select, summary");
    if (inText) return;
    const sideways = event.key === "ArrowLeft" || event.key === "ArrowRight";
    if (sideways && scrolls(event.target.closest(".lines, .scroll"))) return;
    const all = current ? scenesOf(current.closest(".kernel")) : [];
    const actions = {
      ArrowRight: () => step(1), n: () => step(1), j: () => step(1),
      ArrowLeft: () => step(-1), p: () => step(-1), k: () => step(-1),
      "]": () => stepKernel(1), "[": () => stepKernel(-1),
      Home: () => all.length && go(all[0].id), End: () => all.length && go(all[all.length - 1].id),
      Escape: () => index && go("index"),
    };
    const action = actions[event.key];
    if (action) {
      event.preventDefault();
      action();
    }
  });

  document.addEventListener("click", (event) => {
    const link = event.target.closest('a[href^="#"]');
    if (link && !link.classList.contains("skip")) {
      event.preventDefault();
      go(link.getAttribute("href").slice(1));
      return;
    }
    const stepper = event.target.closest("[data-step]");
    if (stepper) step(Number(stepper.dataset.step));
    const place = event.target.closest("button[data-line]");
    if (place && host) host.postMessage({ type: "open", uri: place.dataset.uri, line: Number(place.dataset.line) });
    const run = event.target.closest("[data-run]");
    if (run && host) host.postMessage({ type: "run", uri: body.dataset.uri, kernel: run.dataset.run });
  });

  window.addEventListener("popstate", () => show(location.hash.slice(1), true));

  if (host) {
    for (const place of document.querySelectorAll("[data-uri][data-line]")) {
      const button = document.createElement("button");
      button.type = "button";
      button.className = place.className;
      Object.assign(button.dataset, place.dataset);
      button.textContent = place.textContent;
      if (place.title) button.title = place.title;
      button.setAttribute("aria-label", "Open line " + (Number(place.dataset.line) + 1));
      place.replaceWith(button);
    }
    for (const run of document.querySelectorAll("[data-run]")) run.hidden = false;
  }
  body.classList.add("stepping");
  history.scrollRestoration = "manual";
  show(location.hash.slice(1) || stateOf().at || "", false);
  // The browser goes to the place of the address by itself, where the bar would cover the headline.
  window.addEventListener("load", () => requestAnimationFrame(() => window.scrollTo(0, 0)));
})();
