// The search of the site runs in a Worker, which browsers do not start from file://. There it runs in a hidden frame
// instead: a small stand-in for the package iframe-worker, which the theme would load from another host.
if (location.protocol === "file:") {
  window.IFrameWorker = window.Worker = class extends EventTarget {
    constructor(url) {
      super()
      const frame = document.createElement("iframe")
      frame.hidden = true
      document.body.append(frame)
      const inside = frame.contentWindow
      inside.postMessage = data => this.dispatchEvent(new MessageEvent("message", { data }))
      this.ready = new Promise((done, failed) => {
        const script = inside.document.createElement("script")
        script.src = new URL(url, location.href)
        script.onload = () => done(inside)
        script.onerror = failed
        inside.document.body.append(script)
      })
      this.terminate = () => frame.remove()
    }

    postMessage(data) {
      this.ready.then(inside => inside.dispatchEvent(new inside.MessageEvent("message", { data })))
    }
  }
}
