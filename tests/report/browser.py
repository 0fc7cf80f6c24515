"""A headless Chromium on a page, spoken to over a pipe: no more than Python's own library.

    python3 browser.py PAGE PICTURE [WIDTH [HEIGHT [dark|light]]]     makes a picture of the page
"""
import base64
import json
import os
import pathlib
import select
import shutil
import subprocess
import sys
import tempfile
import time


def find():
    return next((path for name in ("chromium", "chromium-browser", "google-chrome") if (path := shutil.which(name))), None)


class Browser:
    def __init__(self, width=1280, height=900, dark=False, phone=False):
        self.folder = tempfile.mkdtemp()
        there, theirs = os.pipe(), os.pipe()  # to the browser, and from it

        def pipes():
            os.dup2(there[0], 20), os.dup2(theirs[1], 21)  # out of the way of 3 and 4
            os.dup2(20, 3), os.dup2(21, 4)

        self.process = subprocess.Popen(
            [find(), "--headless=new", "--no-sandbox", "--disable-gpu", "--remote-debugging-pipe", "--no-first-run",
             "--disable-dev-shm-usage", "--hide-scrollbars", f"--user-data-dir={self.folder}", "about:blank"],
            preexec_fn=pipes, close_fds=False, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
        os.close(there[0]), os.close(theirs[1])
        self.to, self.of = there[1], theirs[0]
        self.bytes, self.number, self.session, self.events = b"", 0, None, []
        target = self.call("Target.createTarget", url="about:blank")["targetId"]
        self.session = self.call("Target.attachToTarget", targetId=target, flatten=True)["sessionId"]
        for domain in ("Page", "Runtime", "Log", "Network"):
            self.call(domain + ".enable")
        self.call("Emulation.setDeviceMetricsOverride", width=width, height=height, deviceScaleFactor=2 if phone else 1, mobile=phone)
        self.call("Emulation.setEmulatedMedia", features=[{"name": "prefers-color-scheme", "value": "dark" if dark else "light"}])

    def _next(self, until):
        while b"\0" not in self.bytes:
            if not select.select([self.of], [], [], max(0, until - time.monotonic()))[0]:
                raise TimeoutError("the browser says nothing")
            got = os.read(self.of, 1 << 20)
            if not got:
                raise EOFError("the browser ended")
            self.bytes += got
        message, _, self.bytes = self.bytes.partition(b"\0")
        return json.loads(message)

    def call(self, method, timeout=60, **parameters):
        self.number += 1
        message = {"id": self.number, "method": method, "params": parameters}
        if self.session:
            message["sessionId"] = self.session
        os.write(self.to, json.dumps(message).encode() + b"\0")
        until = time.monotonic() + timeout
        while True:
            answer = self._next(until)
            if answer.get("id") == self.number:
                if "error" in answer:
                    raise RuntimeError(f"{method}: {answer['error']}")
                return answer["result"]
            self.events.append(answer)

    def evaluate(self, script):
        answer = self.call("Runtime.evaluate", expression=script, returnByValue=True, awaitPromise=True)
        if "exceptionDetails" in answer:
            raise RuntimeError(f"{script}: {answer['exceptionDetails']}")
        return answer["result"].get("value")

    def open(self, page):
        """Opens the page; returns the seconds until it has drawn itself."""
        start = time.monotonic()
        self.call("Page.navigate", url=pathlib.Path(page).resolve().as_uri())
        while self.evaluate("location.protocol != 'file:' || document.readyState != 'complete'"):
            if time.monotonic() > start + 60:
                raise TimeoutError("the page does not come")
            time.sleep(0.02)
        self.evaluate("new Promise((done) => requestAnimationFrame(() => requestAnimationFrame(done)))")
        return time.monotonic() - start

    def complaints(self):
        """Errors and warnings of the console, exceptions, and network requests."""
        self.evaluate("0")
        said = []
        for event in self.events:
            about = event.get("params", {})
            if event["method"] == "Runtime.exceptionThrown":
                said.append(json.dumps(about["exceptionDetails"].get("exception", about["exceptionDetails"]))[:600])
            elif event["method"] == "Runtime.consoleAPICalled" and about["type"] in ("error", "warning", "assert"):
                said.append(json.dumps(about["args"])[:300])
            elif event["method"] == "Log.entryAdded" and about["entry"]["level"] in ("error", "warning"):
                said.append(about["entry"]["text"])
            elif event["method"] == "Network.requestWillBeSent" and not about["request"]["url"].startswith(("file:", "data:")):
                said.append("asked for " + about["request"]["url"][:200])
        return said

    def picture(self, path, whole=True):
        data = self.call("Page.captureScreenshot", captureBeyondViewport=whole,
                         **({"clip": dict(self.call("Page.getLayoutMetrics")["cssContentSize"], scale=1)} if whole else {}))
        pathlib.Path(path).write_bytes(base64.b64decode(data["data"]))

    def paper(self, path):
        data = self.call("Page.printToPDF", printBackground=False, preferCSSPageSize=True)
        pathlib.Path(path).write_bytes(base64.b64decode(data["data"]))

    def close(self):
        try:
            session, self.session = self.session, None
            self.call("Browser.close", timeout=10)
        except (OSError, EOFError, TimeoutError):
            self.process.kill()
        try:
            self.process.wait(10)
        except subprocess.TimeoutExpired:
            self.process.kill()
        os.close(self.to), os.close(self.of)
        shutil.rmtree(self.folder, ignore_errors=True)

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.close()


if __name__ == "__main__":
    page, picture, *rest = sys.argv[1:]
    width, height = int(rest[0]) if rest else 1280, int(rest[1]) if rest[1:] else 900
    with Browser(width, height, dark="dark" in rest, phone=width < 600) as browser:
        print(f"{browser.open(page):.2f} s", *browser.complaints())
        browser.picture(picture, whole="view" not in rest)
