"use strict";
// Renews the page in place, so that scroll, focus and the open parts stay.
(() => {
	const every = 1000 * document.documentElement.dataset.refresh, patience = Math.max(every, 10000);
	const address = location.origin + location.pathname + location.search;
	let shown = Date.now();
	// Text that somebody has selected stays for a minute.
	const reading = () => !getSelection().isCollapsed && Date.now() - shown < 60000;
	const key = e => e.getAttribute("href") || e.closest("details[id]")?.id;
	const alike = e => [...document.querySelectorAll("a, summary")].filter(other => key(other) === key(e));
	async function renew() {
		const answer = await fetch(address, {signal: AbortSignal.timeout(patience)});
		if (!answer.ok) throw answer.status;
		const next = new DOMParser().parseFromString(await answer.text(), "text/html");
		if (reading()) return;
		for (const part of next.querySelectorAll("details[id]")) {
			const before = document.getElementById(part.id);
			if (before) part.open = before.open;
		}
		const focus = document.activeElement, place = focus.matches("a, summary") ? alike(focus).indexOf(focus) : -1;
		document.title = next.title;
		for (const part of ["header", "main", "footer"]) {
			document.querySelector("body > " + part).replaceWith(next.querySelector("body > " + part));
		}
		if (place >= 0) alike(focus)[place]?.focus({preventScroll: true});
		shown = Date.now();
	}
	async function turn() {
		try {
			await renew();
			document.body.classList.remove("stale");
		} catch (why) {
			document.body.classList.add("stale");
			document.body.classList.toggle("gone", why === 404);
		}
		setTimeout(wait, every);
	}
	// A page that nobody looks at asks for nothing.
	const wait = () => document.hidden ? addEventListener("visibilitychange", turn, {once: true}) : turn();
	setTimeout(wait, every);
})();
