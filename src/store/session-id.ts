import { StoreError } from "./store-error.ts"

const form = /^[a-z0-9][a-z0-9-]{7,63}$/

/** Ids become file names, so nothing but the plain form may pass. */
export function checkId(id: string): void {
  if (form.test(id)) return
  const what = `${JSON.stringify(id.slice(0, 80))} is not a session id`
  throw new StoreError("unknown_session", `${what}: those are 8 to 64 small letters, digits and dashes; ${howToList}`)
}

export const isId = (id: string): boolean => form.test(id)

export function unknownSession(id: string, ids: readonly string[]): StoreError {
  const near = nearest(id, ids)
  const hint = near.length > 0 ? `did you mean ${near.join(" or ")}? ` : ""
  return new StoreError("unknown_session", `there is no session ${id}; ${hint}${howToList}`)
}

const howToList = "`legwork sessions list` shows those that there are"

/** At most three ids that somebody who typed `id` may have meant, the likeliest first. */
function nearest(id: string, ids: readonly string[]): string[] {
  return ids
    .map((each) => ({ each, far: each.startsWith(id) || id.startsWith(each) ? 0 : distance(id, each) }))
    .filter(({ far }) => far <= id.length / 3)
    .sort((a, b) => a.far - b.far || (a.each < b.each ? -1 : 1))
    .slice(0, 3)
    .map(({ each }) => each)
}

/** How many letters must be put in, left out or changed to make one of the other. */
function distance(a: string, b: string): number {
  let row = Array.from({ length: b.length + 1 }, (_, i) => i)
  for (let i = 1; i <= a.length; i++) {
    const next = [i]
    for (let j = 1; j <= b.length; j++) {
      const changed = row[j - 1]! + (a[i - 1] === b[j - 1] ? 0 : 1)
      next.push(Math.min(changed, row[j]! + 1, next[j - 1]! + 1))
    }
    row = next
  }
  return row[b.length]!
}
