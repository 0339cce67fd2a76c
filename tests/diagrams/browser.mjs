// Draws diagrams in headless Chromium: one browser, and one page for each version of Mermaid.
import { fileURLToPath } from "node:url";
import puppeteer from "puppeteer-core";

const FLAGS = [
  "--headless",
  "--no-sandbox",
  "--disable-gpu",
  "--disable-quic",
  "--no-first-run",
  "--disable-background-networking",
  "--disable-component-update",
  "--disable-sync",
];

export class Browser {
  #browser;

  /** Starts Chromium; a signal to this process ends it too, and so does the pipe between them when it closes. */
  static async launch(executablePath, userDataDir) {
    const browser = new Browser();
    browser.#browser = await puppeteer.launch({ executablePath, userDataDir, pipe: true, args: FLAGS });
    return browser;
  }

  /** Opens a page with the version of Mermaid that package.json has under this alias. */
  async open(alias) {
    const page = await this.#browser.newPage();
    await page.setOfflineMode(true);
    await page.setContent("<!doctype html><title>diagrams</title><body></body>");
    await page.addScriptTag({ path: fileURLToPath(new URL(`node_modules/${alias}/dist/mermaid.min.js`, import.meta.url)) });
    await page.evaluate(() => globalThis.mermaid.initialize({ startOnLoad: false }));
    return new Page(page);
  }

  async close() {
    await this.#browser.close();
  }
}

class Page {
  #page;

  constructor(page) {
    this.#page = page;
  }

  /** Draws a diagram; returns the size of the picture in pixels, and each text that takes up space in it. */
  async draw(text) {
    const picture = await this.#page.evaluate(draw, text);
    if (picture.error) throw new Error(picture.error);
    return picture;
  }

  async close() {
    await this.#page.close();
  }
}

/** Runs in the page. */
async function draw(text) {
  try {
    const { svg } = await globalThis.mermaid.render("picture", text);
    document.body.innerHTML = svg;
  } catch (error) {
    return { error: error.message };
  }
  const size = (element) => element.getBoundingClientRect();
  const seen = (element) => size(element).width > 0 && size(element).height > 0;
  const picture = document.querySelector("body > svg");
  const texts = [...picture.querySelectorAll("foreignObject, text")]
    .filter(seen)
    .map((element) => element.textContent.replace(/\s+/g, " ").trim())
    .filter((text) => text !== "");
  return { width: size(picture).width, height: size(picture).height, texts };
}
