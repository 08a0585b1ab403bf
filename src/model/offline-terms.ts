/** A search term: the word as people see it, and a pattern that finds its kin. */
export type Term = { word: string; pattern: string }

const common = new Set(
  (
    "a about after all also an and any are as at be because been before being between both but by can could did do does doing done each either " +
    "every explain few file files find for from get give had has have having here how i if in into is it its itself just kind let like list look make " +
    "many may me might more most much must my need no not now of off on once only or other our out over own please project repository same see she " +
    "should show so some such take tell than that the their them then there these they this those through to too under until up upon us use used " +
    "using very want was way we were what when where whether which while who whom whose why will with would you your code"
  ).split(" "),
)

/** The words of a request that are worth a search, the most telling first. */
export function termsOf(request: string, most: number): Term[] {
  const quoted = [...request.matchAll(/["'`“]([^"'`”\n]{2,80})["'`”]/g)].map((match) => exact(match[1]!))
  const rest = request.replaceAll(/["'`“][^"'`”\n]{2,80}["'`”]/g, " ")
  const words = rest.match(/[\p{L}\p{N}_$][\p{L}\p{N}_$./-]*[\p{L}\p{N}_$]/gu) ?? []
  const terms = [...quoted, ...words.flatMap(term)]
  const distinct = [...new Map(terms.map((each) => [each.word, each])).values()]
  return distinct.sort((a, b) => weight(b) - weight(a)).slice(0, most)
}

const exact = (word: string): Term => ({ word, pattern: escaped(word) })

function term(word: string): Term[] {
  if (/\p{Script=Han}|\p{Script=Hiragana}|\p{Script=Katakana}|\p{Script=Hangul}/u.test(word)) return [exact(word)]
  if (looksLikeName(word)) return [exact(word)]
  const lower = word.toLowerCase()
  if (lower.length < 3 || common.has(lower)) return []
  const stem = stemOf(lower)
  return common.has(stem) ? [] : [exact(stem)]
}

/** camelCase, snake_case, kebab-case, a path or a file name: searched as it stands. */
const looksLikeName = (word: string) => /[a-z][A-Z]|_|[\p{L}\p{N}][./-][\p{L}\p{N}]/u.test(word)

/** Names and long words say more than short ones. */
const weight = ({ word }: Term) => (looksLikeName(word) ? 100 : 0) + word.length

/** Cuts the endings that keep one form of an English word from finding another. */
function stemOf(word: string): string {
  const cut = word.replace(/(ments?|ations?|ings?|ed|ers?|ies|es|s|ly)$/, "")
  return cut === word || cut.length < 3 ? word : cut.replace(/([^aeiouls])\1$/, "$1")
}

const escaped = (text: string) => text.replaceAll(/[\\^$.*+?()[\]{}|]/g, "\\$&")
