// Light or dark: as the system says, until the button says otherwise.

function startTheme(button) {
  const root = document.documentElement;
  const dark = () => (root.dataset.theme ? root.dataset.theme === "dark" : matchMedia("(prefers-color-scheme: dark)").matches);
  const name = () => (button.textContent = dark() ? "Light theme" : "Dark theme");
  button.addEventListener("click", () => {
    root.dataset.theme = dark() ? "light" : "dark";
    name();
  });
  name();
}
