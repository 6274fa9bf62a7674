"use strict";
// Renews the page in place, so that scroll, focus and the open parts stay.
(() => {
	const every = 1000 * document.documentElement.dataset.refresh;
	const key = e => e && (e.closest("details[id]")?.id || e.getAttribute?.("href"));
	const reading = () => document.hidden || !getSelection().isCollapsed;
	async function renew() {
		const answer = await fetch(location.href);
		if (!answer.ok) throw new Error(answer.status);
		const next = new DOMParser().parseFromString(await answer.text(), "text/html");
		for (const part of next.querySelectorAll("details[id]")) {
			const before = document.getElementById(part.id);
			if (before) part.open = before.open;
		}
		const focus = key(document.activeElement);
		document.title = next.title;
		for (const part of ["header", "main", "footer"]) {
			document.querySelector("body > " + part).replaceWith(next.querySelector("body > " + part));
		}
		for (const e of document.querySelectorAll(focus ? "a, summary" : "none")) {
			if (key(e) === focus) { e.focus({preventScroll: true}); break; }
		}
	}
	async function turn() {
		try {
			if (!reading()) await renew();
			document.body.classList.remove("stale");
		} catch {
			document.body.classList.add("stale");
		}
		setTimeout(turn, every);
	}
	setTimeout(turn, every);
})();
