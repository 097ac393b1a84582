// Runs before the first paint: the reader's theme, and the sign that scripts run.
const root = document.documentElement;
root.dataset.script = "";
try {
  const theme = localStorage.getItem("weir-theme");
  if (theme === "light" || theme === "dark") root.dataset.theme = theme;
} catch {
  // Storage may be closed to us; the system's theme holds then.
}
