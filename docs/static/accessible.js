// What the theme leaves out for keyboards and screen readers: what scrolls can be reached, and what leads has a name.
addEventListener("DOMContentLoaded", () => {
  const scrolling = () => {
    for (const box of document.querySelectorAll("pre, .table-wrapper, math[display=block]"))
      if (box.scrollWidth > box.clientWidth || box.scrollHeight > box.clientHeight) box.tabIndex = 0;
  };
  scrolling();
  addEventListener("resize", scrolling);
  for (const caption of document.querySelectorAll("p.caption[role=heading]")) caption.ariaLevel = 2;
  document.querySelector(".sidebar-drawer")?.setAttribute("aria-label", "All pages");
  document.querySelector(".toc-drawer")?.setAttribute("aria-label", "On this page");
  for (const link of document.querySelectorAll(".sphx-glr-thumbcontainer a")) link.ariaLabel = link.textContent;
});
