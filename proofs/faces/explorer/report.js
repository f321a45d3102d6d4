// The report can be read without this script: it puts a player beside the text of each story.

const data = JSON.parse(document.getElementById("data").textContent);

for (const [place, story] of data.stories.entries()) {
  const stage = document.getElementById(`story-of-${place}`);
  stage.previousElementSibling.open = false; // the same calls as text
  stage.replaceWith(new Player(story, data.claims).root);
}
const theme = document.getElementById("theme");
theme.hidden = false;
startTheme(theme);
