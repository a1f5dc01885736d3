// Before the page is drawn, so that it does not flash: a stored choice wins over the system's.
const stored = localStorage.getItem("theme");
if (stored === "dark" || stored === "light") document.documentElement.dataset.theme = stored;
