import assert from "node:assert/strict"
import { test } from "node:test"
import { isUrlPattern, urlFits } from "../../src/permit/url.ts"

/** A pattern, an address, whether a rule that allows means it, and whether one that denies does. */
const table: [string, string, boolean, boolean][] = [
  ["*", "https://example.com/", true, true],
  ["domain:example.com", "https://example.com/a?b", true, true],
  ["domain:example.com", "http://EXAMPLE.com:8080/", true, true],
  ["domain:example.com", "https://example.com./", true, true],
  ["domain:example.com", "https://sub.example.com/", false, true],
  ["domain:example.com", "https://notexample.com/", false, false],
  ["domain:example.com", "https://example.com.evil.net/", false, false],
  ["domain:example.com", "https://example.com@evil.net/", false, false],
  ["domain:example.com", "https://x@example.com/", false, true],
  ["domain:*.example.com", "https://a.b.example.com/", true, true],
  ["domain:*.example.com", "https://example.com/", false, true],
  ["domain:*", "https://example.com/", true, true],
  ["domain:b\u00fccher.de", "https://xn--bcher-kva.de/", true, true],
  ["domain:xn--bcher-kva.de", "https://B\u00dcCHER.de/", true, true],
  ["https://b\u00fccher.de/*", "https://b\u00fccher.de/a", true, true],
  ["domain:127.0.0.1", "http://0x7f.1/", true, true],
  ["domain:[::1]", "http://[0:0::1]:80/", true, true],
  ["https://example.com/**", "https://example.com/a/b", true, true],
  ["https://example.com/**", "http://example.com/a", false, true],
  ["https://example.com/docs/*", "https://example.com/docs/a?b=c", true, true],
  ["https://example.com/docs/*", "https://example.com/docs/../x", false, false],
  ["https://example.com/docs/*", "https://example.com/x?/docs/a", false, false],
  ["https://example.com", "https://example.com/", true, true],
  ["https://example.com", "https://example.com/a", false, true],
  ["https://example.com:8443/*", "https://example.com:8443/a", true, true],
  ["https://example.com:8443/*", "https://example.com/a", false, true],
  ["https://example.com:443/*", "https://example.com/a", true, true],
  ["*://*.example.com/*", "http://a.example.com/b", true, true],
  ["domain:example.com", "not an address", false, true],
]

test("hosts of every kind can be written in a rule", () => {
  for (const host of ["example.com", "*.example.com", "*", "b\u00fccher.de", "127.0.0.1", "[::1]"])
    assert.ok(isUrlPattern(`domain:${host}`), host)
  for (const host of ["", "a b", "a/b", "a*", "a:1", "[a/b]"]) assert.ok(!isUrlPattern(`domain:${host}`), host)
})

for (const [pattern, url, narrow, wide] of table) {
  test(`${pattern} and ${url}`, () =>
    assert.deepEqual([urlFits(pattern, url, "narrow"), urlFits(pattern, url, "wide")], [narrow, wide]))
}
