"use strict";
// Cards with a game: a board, buttons with data-step, elements with data-to that lead to a position, and elements with
// data-at that are shown at one position only. The drawings stand in the element "positions", a list for each card.
const games = JSON.parse(document.getElementById("positions").textContent);
const cards = [...document.querySelectorAll(".game")];
for (const card of cards) {
  const drawings = games[Number(card.dataset.game)];
  const board = card.querySelector(".board"), count = card.querySelector("output");
  const places = [...card.querySelectorAll("[data-to]")], notes = [...card.querySelectorAll("[data-at]")];
  let at = drawings.length - 1;
  const show = (to) => {
    at = Math.max(0, Math.min(drawings.length - 1, to));
    board.innerHTML = drawings[at];
    count.textContent = at + " / " + (drawings.length - 1);
    for (const place of places) place.classList.toggle("now", Number(place.dataset.to) === at);
    for (const note of notes) note.hidden = Number(note.dataset.at) !== at;
  };
  const steps = { first: () => 0, previous: () => at - 1, next: () => at + 1, last: () => drawings.length - 1 };
  card.addEventListener("click", (event) => {
    const target = event.target.closest("[data-step], [data-to]");
    if (target) show(target.dataset.step ? steps[target.dataset.step]() : Number(target.dataset.to));
  });
  card.tabIndex = 0;
  // A game that is alone on its page hears the keys wherever they are pressed.
  (cards.length === 1 ? document : card).addEventListener("keydown", (event) => {
    if (event.key === "ArrowLeft") { show(at - 1); event.preventDefault(); }
    if (event.key === "ArrowRight") { show(at + 1); event.preventDefault(); }
  });
  show(at);
}
