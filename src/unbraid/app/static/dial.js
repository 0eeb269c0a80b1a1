// A dial for a code that wraps around: drag its hand. The slider beside it is the way for keyboards and readers.

const SPACE = "http://www.w3.org/2000/svg";

function part(name, attributes) {
  const made = document.createElementNS(SPACE, name);
  for (const [key, value] of Object.entries(attributes)) made.setAttribute(key, value);
  return made;
}

export function dial(info, moved) {
  const face = part("svg", { viewBox: "-50 -50 100 100", class: "dial", "aria-hidden": "true" });
  const hand = part("line", { x1: 0, y1: 0, x2: 40, y2: 0 });
  const most = Math.max(...info.counts);
  info.counts.forEach((count, i) => {
    const turn = -Math.PI + (2 * Math.PI * (i + 0.5)) / info.counts.length;
    const far = 34 + (14 * count) / most;
    const [x, y] = [Math.cos(turn), -Math.sin(turn)];
    face.append(part("line", { class: "bar", x1: 34 * x, y1: 34 * y, x2: far * x, y2: far * y }));
  });
  face.append(part("circle", { r: 34 }), hand, part("circle", { r: 4, class: "hub" }));
  const follow = (event) => {
    const box = face.getBoundingClientRect();
    const x = event.clientX - box.left - box.width / 2;
    const y = event.clientY - box.top - box.height / 2;
    moved(Math.atan2(-y, x));
  };
  face.addEventListener("pointerdown", (event) => {
    face.setPointerCapture(event.pointerId);
    follow(event);
  });
  face.addEventListener("pointermove", (event) => face.hasPointerCapture(event.pointerId) && follow(event));
  return { face, point: (angle) => hand.setAttribute("transform", `rotate(${(-180 * angle) / Math.PI})`) };
}
