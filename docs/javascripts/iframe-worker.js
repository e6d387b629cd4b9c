/* A browser starts no worker from a page on the disk. There, a hidden frame does its work, so that the search answers. */
if (location.protocol === "file:") {
  window.Worker = class extends EventTarget {
    constructor(url) {
      super()
      const frame = document.createElement("iframe")
      frame.hidden = true
      this.inside = new Promise((resolve) => {
        frame.addEventListener("load", () => resolve(this.load(frame.contentWindow, url)), { once: true })
      })
      document.body.append(frame)
    }

    /* The window in which the script of the worker runs, when it does. */
    load(inside, url) {
      inside.postMessage = (data) => this.dispatchEvent(new MessageEvent("message", { data }))
      return new Promise((resolve) => {
        const script = inside.document.createElement("script")
        script.src = url
        script.addEventListener("load", () => resolve(inside))
        inside.document.body.append(script)
      })
    }

    postMessage(data) {
      this.inside.then((inside) => inside.dispatchEvent(new MessageEvent("message", { data })))
    }
  }
}
