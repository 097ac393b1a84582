// Follows a workspace that wakes up, and loads it when it answers.
"use strict";
const main = document.querySelector("main[data-stream]");
const stream = new EventSource(main.dataset.stream);
let gone = false;

function load() {
  if (gone) return;
  gone = true;
  stream.close();
  location.reload();
}

stream.onmessage = (event) => {
  const told = JSON.parse(event.data);
  if (told.title) document.getElementById("title").textContent = told.title;
  if (told.says !== undefined) document.getElementById("says").textContent = told.says;
  if (told.go) load();
};

// A stream that was refused is not tried again by the browser: the page finds out why.
stream.onerror = () => {
  if (stream.readyState === EventSource.CLOSED) setTimeout(load, 3000);
};
