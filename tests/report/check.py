"""What a reader of a report sees and does, in the pages that tests/cli/report_browser.sh has made."""
import sys

from browser import Browser

SLOWEST = 20  # seconds: far more than any machine needs, unless the page hangs


def expect(what, got, wanted):
    if got != wanted:
        sys.exit(f"FAILED: {what}: {got!r} instead of {wanted!r}")


def silent(browser, page):
    said = browser.complaints()
    expect(f"the console of {page}", said, [])


def text(browser, selector):
    return browser.evaluate(f"document.querySelector({selector!r}).textContent")


def count(browser, selector):
    return browser.evaluate(f"document.querySelectorAll({selector!r}).length")


def rows(browser):
    return browser.evaluate("[...document.querySelectorAll('#table tbody tr')].map((r) => [...r.cells].slice(0, 6).map((c) => c.textContent))")


def click(browser, selector):
    browser.evaluate(f"document.querySelector({selector!r}).dispatchEvent(new MouseEvent('click', {{bubbles: true}}))")


def curves(browser):
    return browser.evaluate("[...document.querySelectorAll('#curves [data-curve]')].map((box) => box.dataset.curve)")


def notices(browser):
    return browser.evaluate("[...document.querySelectorAll('#notices p')].map((p) => p.textContent)")


# No two labels of an axis overlap.
def check_labels(browser, page):
    browser.open(page)
    on_others = browser.evaluate("""(() => {
        const found = [];
        for (const axis of document.querySelectorAll('#curves .axis')) {
            const boxes = [...axis.querySelectorAll('text')].filter((t) => t.textContent).map((t) => [t.textContent, t.getBoundingClientRect()]);
            if (boxes.length < 2) found.push(['few', axis.closest('[data-curve]').dataset.curve]);
            for (const [i, [a, p]] of boxes.entries()) for (const [b, q] of boxes.slice(i + 1))
                if (p.left < q.right && q.left < p.right && p.top < q.bottom && q.top < p.bottom) found.push([a, b]);
        }
        return found;
    })()""")
    expect(f"labels of {page} on each other", on_others, [])


def check_verdicts(browser):
    browser.open("grid.html")
    said = notices(browser)
    expect("what is said of a run that is far off", [said[0].startswith("Failed: the particles change under exact moves: "), said[1].startswith("By their discrepancy, "), len(said)], [True, True, 2])
    for page, by in (("kernel.html", "KSD relative to exact draws 2.50, limit 1.20"),
                     ("moment.html", "moment z 9.00, limit 3.00")):
        browser.open(page)
        expect(page, notices(browser), [f"Not converged: do not use these numbers. 1 of 3 nodes is farther from the posterior than exact draws would be (worst: x.2, {by})."])
    browser.open("good.html")
    expect("good.html", notices(browser), [])
    browser.open("few.html")
    expect("few.html", notices(browser), ["Fewer than 10 particles: too few to judge convergence."])
    browser.open("chain.html")
    expect("what the draws of a chain are called", ["500 draws" in text(browser, "#table-caption"), "particles" in text(browser, "body header")], [True, False])


def check_text(browser):
    browser.open("text.html")
    expect("the text of the model", "dnorm(mu" in text(browser, "#text"), True)
    expect("the observations over their replicates", text(browser, "[data-fit=y] h3").split(":")[0], "y  observed, and 5 to 95 % of replicates")
    expect("leave-one-out", "3 observations" in text(browser, "#loo"), True)
    order = browser.evaluate("[...document.querySelectorAll('main > section, main > .columns')].map((e) => e.id)")
    expect("what the page opens on", order, ["variables", "fields", "predictive", "", "data-panel", "convergence", "configuration"])
    silent(browser, "text.html")


def check_arrays(browser):
    browser.open("mixed.html")
    expect("scalars come first", rows(browser)[0][0], "tau")
    expect("intervals of an array", count(browser, "[data-forest=u] .forest-row"), 6)
    expect("classes of discrete unknowns", [count(browser, "[data-classes=z]"), count(browser, "[data-classes=z] rect") >= 12], [1, True])
    click(browser, "[data-forest=u] .forest-row")
    expect("what a click on an interval shows", text(browser, "#chosen"), "u.1")
    browser.evaluate("choose(run.names.indexOf('z.1'))")
    expect("bars of a class", [count(browser, ".marginal .bin") >= 1, count(browser, ".marginal path.curve")], [True, 0])
    expect("distributions of observations and replicates", [count(browser, "[data-check=y] .chain"), count(browser, "[data-check=y] .observed")], [20, 1])
    silent(browser, "mixed.html")


def check_grid(browser):
    browser.open("grid.html")
    while not browser.evaluate("document.getElementById('more-rows').hidden"):
        click(browser, "#more-rows")
    table = open("grid.txt").read().split("\n\n")[1].splitlines()[1:]
    if rows(browser) != [line.split() for line in table]:
        sys.exit("FAILED: the table is not that of svmp summary")
    expect("nodes drawn", count(browser, "circle.node"), 100)
    expect("nodes whose KSD is not known", count(browser, "circle.node.unknown"), 0)
    expect("curves", curves(browser), ["largest |phi|", "KSD relative to exact draws", "KSD", "bandwidth", "nodes"])
    expect("points of the KSD", count(browser, "[data-curve=KSD] circle"), 3)  # at 8, 16 and 30 iterations
    click(browser, "circle[data-node='x.45']")
    expect("what a click on a node shows", text(browser, "#chosen"), "x.45")
    expect("its marginal", (text(browser, ".marginal h3")[:4], count(browser, ".marginal path.curve")), ("x.45", 1))
    expect("its neighbours", count(browser, ".pair"), 4)
    click(browser, "tr[data-variable='0']")
    expect("what a click on a row shows", text(browser, "#chosen"), "x.1")
    click(browser, "#after")
    expect("the next one", text(browser, "#chosen"), "x.2")
    browser.evaluate("document.getElementById('search').value = 'X.10'; document.getElementById('search').dispatchEvent(new Event('input'))")
    expect("what is found", [row[0] for row in rows(browser)], ["x.10", "x.100"])
    silent(browser, "grid.html")


def check_chains(browser):
    browser.open("chains.html")
    expect("curves of chains", count(browser, ".marginal path.chain"), 2)
    expect("traces of chains", count(browser, "#marginals .chain-trace"), 2)
    expect("curves", curves(browser), ["log density", "R-hat", "effective draws"])
    silent(browser, "chains.html")


def check_plane(browser):
    browser.open("plane.html")
    expect("clouds, anchors and truths", [count(browser, s) for s in (".cloud", ".anchor", "#drawing .true")], [2, 1, 2])
    click(browser, ".cloud[data-point='x.2']")
    expect("what a click on a cloud shows", text(browser, "#chosen"), "x.2.1")
    expect("its marginals", count(browser, ".marginal path.curve"), 2)
    browser.evaluate("choose(4)")
    expect("a constant", text(browser, ".marginal .caption"), "All particles are 0.5.")
    silent(browser, "plane.html")


def check_hostile(browser):
    browser.open("hostile.html")
    names = [row[0] for row in rows(browser)]
    expect("names", names, ["</script><script>broken=1</script>", "<img src=x onerror=broken=1>"])
    expect("a script in a name", browser.evaluate("typeof broken + document.images.length"), "undefined0")
    silent(browser, "hostile.html")


def check_large(browser):
    seconds = min(browser.open("large.html") for _ in range(3))
    print(f"5,000 variables: open in {seconds:.2f} s")
    if seconds > SLOWEST:
        sys.exit(f"FAILED: 5,000 variables took {seconds:.1f} s")
    expect("all of its nodes have a KSD", browser.evaluate("ksd.size"), 5000)
    browser.evaluate("document.getElementById('search').value = 'x.2500'; document.getElementById('search').dispatchEvent(new Event('input'))")
    click(browser, "#table tbody tr")
    expect("the one that was searched for", text(browser, "#chosen"), "x.2500")
    expect("its neighbours", count(browser, ".pair"), 2)
    silent(browser, "large.html")


with Browser() as desk:
    for check in (check_grid, check_verdicts, check_text, check_arrays, check_chains, check_plane, check_hostile, check_large):
        desk.events.clear()
        check(desk)
    for page in ("grid.html", "long.html", "chains.html"):
        check_labels(desk, page)
    light = desk.evaluate("getComputedStyle(document.body).backgroundColor")
with Browser(390, 844, dark=True, phone=True) as phone:
    for page in ("grid.html", "plane.html"):
        phone.open(page)
        expect(f"{page} begins at its top", phone.evaluate("window.scrollY"), 0)
        expect(f"{page} is as wide as a phone", phone.evaluate("document.documentElement.scrollWidth"), 390)
        silent(phone, page)
    check_labels(phone, "long.html")
    if phone.evaluate("getComputedStyle(document.body).backgroundColor") == light:
        sys.exit("FAILED: dark is as light as light")
